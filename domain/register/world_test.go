package register_test

import (
	"context"
	"errors"
	"testing"
	"time"
	_ "time/tzdata"

	"github.com/habeas-data/habeas/adapters/persistence/memory"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/domain/erasure"
	"github.com/habeas-data/habeas/domain/export"
	"github.com/habeas-data/habeas/domain/register"
	"github.com/habeas-data/habeas/domain/request"
	"github.com/habeas-data/habeas/domain/restriction"
	"github.com/habeas-data/habeas/domain/saga"
	"github.com/habeas-data/habeas/internal/system"
	"github.com/habeas-data/habeas/internal/tests/fixture"
	"github.com/habeas-data/habeas/ports"
)

var users = datamap.Table{
	Name: "users", PrimaryKey: []string{"id"}, SubjectKey: []string{"id"},
	Columns: []datamap.Column{
		{Name: "id", Type: datamap.TypeBigInt},
		{Name: "email", Type: datamap.TypeText, Personal: &datamap.Annotation{
			Category: domain.CategoryContact, Strategy: domain.StrategyAnonymize,
		}},
	},
}

// invoices are kept for ten years.
var invoices = datamap.Table{
	Name: "invoices", PrimaryKey: []string{"id"},
	Columns: []datamap.Column{
		{Name: "id", Type: datamap.TypeBigInt},
		{Name: "user_id", Type: datamap.TypeBigInt},
		{Name: "total", Type: datamap.TypeText, Personal: &datamap.Annotation{
			Category: domain.CategoryFinancial, Strategy: domain.StrategyRetain, Reason: "tax law",
		}},
	},
	Relations: []datamap.Relation{{Columns: []string{"user_id"}, References: "users", ReferencedColumns: []string{"id"}}},
}

// world has the register and the services that record in it, on a store in memory.
type world struct {
	*register.Register

	store       *memory.Store
	clock       *fixture.Clock
	eraser      *erasure.Eraser
	exporter    *export.Exporter
	restriction *restriction.Ledger
	runner      *saga.Runner
	desk        *desk
	zoe         domain.Subject
}

// desk is an external system.
type desk struct{ down bool }

func (d *desk) Name() string { return "desk" }

func (d *desk) CoveredSurface() domain.CoveredSurface { return domain.CoveredSurface{} }

func (d *desk) ExportSubject(context.Context, domain.SubjectRef) ([]domain.ExportRecord, error) {
	if d.down {
		return nil, domain.ErrUnavailable
	}
	return nil, nil
}

func (d *desk) EraseSubject(context.Context, domain.SubjectRef, domain.ErasureCall) (bool, error) {
	if d.down {
		return false, &domain.ResolverError{Resolver: "desk", Message: "refuses"}
	}
	return false, nil
}

var noon = time.Date(2026, time.March, 5, 12, 0, 0, 0, time.UTC)

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{clock: fixture.NewClock(noon), desk: &desk{}}
	ids := &fixture.IDs{}
	dataMap := fixture.MustMap(t, users, invoices)
	w.store = must(memory.New(dataMap, memory.Options{}))(t)
	for _, id := range []int{42, 43} {
		check(t, w.store.Insert("users", memory.Row{"id": id, "email": "zoe@example.org"}))
	}
	berlin := must(time.LoadLocation("Europe/Berlin"))(t)
	purposes := must(domain.NewPurposes(domain.Purpose{Name: "news"}))(t)
	w.Register = must(register.New(register.Config{
		Clock: w.clock, IDs: ids, Secrets: system.Secrets{}, Rules: request.Rules{Zone: berlin}, Purposes: purposes,
		Controller: domain.Controller{Authority: domain.Authority{Name: "Authority"}},
	}))(t)
	resolvers := []ports.Resolver{w.desk}
	w.eraser = must(erasure.NewEraser(erasure.Config{
		Clock: w.clock, IDs: ids, DataMap: dataMap, Resolvers: resolvers, Register: w.Erasing,
	}))(t)
	w.exporter = must(export.NewExporter(export.Config{
		Clock: w.clock, IDs: ids, DataMap: dataMap, Resolvers: resolvers, Recorded: w.Exported,
	}))(t)
	w.restriction = restriction.NewLedger(w.clock, ids).WithRecorded(w.Restricted)
	w.runner = must(saga.NewRunner(saga.Config{
		Clock: w.clock, IDs: ids, Sessions: w.store, Resolvers: resolvers, Completed: w.Settled,
		Options: saga.Options{MaxAttempts: 1},
	}))(t)
	w.zoe = fixture.MustSubject(t, "42")
	return w
}

func must[T any](value T, err error) func(*testing.T) T {
	return func(t *testing.T) T {
		t.Helper()
		check(t, err)
		return value
	}
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// do runs fn in a session.
func (w *world) do(t *testing.T, fn func(ctx context.Context, s ports.Session) error) {
	t.Helper()
	check(t, w.store.Do(t.Context(), fn))
}

// open opens a request of zoe herself.
func (w *world) open(t *testing.T, kind request.Kind) (opened request.Request, isNew bool) {
	t.Helper()
	w.do(t, func(ctx context.Context, s ports.Session) (err error) {
		opened, isNew, err = w.Open(ctx, s, register.Opening{
			SubjectID: w.zoe.ID, Kind: kind, Channel: request.SelfService,
		})
		return err
	})
	return opened, isNew
}

// apply applies a decision of the operator ada.
func (w *world) apply(t *testing.T, number request.Number, e request.Event) (of request.Request, err error) {
	t.Helper()
	ctx := must(domain.WithOperator(t.Context(), "ada"))(t)
	err = w.store.Do(ctx, func(ctx context.Context, s ports.Session) (err error) {
		of, err = w.Apply(ctx, s, number, e)
		return err
	})
	return of, err
}

// erase erases zoe as a route does: the context has the number of a new request.
func (w *world) erase(t *testing.T) (result domain.ErasureResult, err error) {
	t.Helper()
	err = w.store.Do(t.Context(), func(ctx context.Context, s ports.Session) (err error) {
		result, err = w.eraser.Erase(w.Begin(ctx), s, w.zoe)
		return err
	})
	return result, err
}

// export exports zoe's data as a route does.
func (w *world) export(t *testing.T) (bundle domain.ExportBundle) {
	t.Helper()
	w.do(t, func(ctx context.Context, s ports.Session) (err error) {
		bundle, err = w.exporter.Export(w.Begin(ctx), s, w.zoe)
		return err
	})
	return bundle
}

// find returns a request as it is stored.
func (w *world) find(t *testing.T, number request.Number) (of request.Request) {
	t.Helper()
	w.do(t, func(ctx context.Context, s ports.Session) (err error) {
		of, err = w.Find(ctx, s, number)
		return err
	})
	return of
}

// events returns the types of the events with the number as their operation, in order.
func (w *world) events(t *testing.T, subject domain.SubjectID, number request.Number) (types []domain.EventType) {
	t.Helper()
	w.do(t, func(ctx context.Context, s ports.Session) error {
		types = nil
		trail, err := s.Audit().Trail(ctx, subject)
		for _, event := range trail {
			if event.Payload[domain.PayloadOperationID] == string(number) {
				types = append(types, event.EventType)
			}
		}
		return err
	})
	return types
}

func wants(t *testing.T, err error, code domain.Code) {
	t.Helper()
	if !errors.Is(err, code) {
		t.Errorf("the error is %v, want %s", err, code)
	}
}
