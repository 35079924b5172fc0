package sweep_test

import (
	"context"
	"fmt"
	"strconv"
	"testing"
	"time"

	"github.com/habeas-data/habeas/adapters/persistence/memory"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/domain/erasure"
	"github.com/habeas-data/habeas/domain/plan"
	"github.com/habeas-data/habeas/domain/sweep"
	"github.com/habeas-data/habeas/internal/tests/fixture"
	"github.com/habeas-data/habeas/ports"
)

var noon = time.Date(2024, 3, 1, 12, 0, 0, 0, time.UTC)

// world is a store with customers whose invoices are retained for a year.
type world struct {
	*memory.Store
	clock   *fixture.Clock
	ids     *fixture.IDs
	dataMap datamap.DataMap
	plan    datamap.Plan
}

func newWorld(t *testing.T) *world {
	t.Helper()
	retained := func(name string) datamap.Column {
		return datamap.Column{Name: name, Type: datamap.TypeText, Personal: &datamap.Annotation{
			Category: domain.CategoryFinancial, Strategy: domain.StrategyRetain, Reason: "tax law",
			Retain: datamap.Period{Years: 1}, Since: "issued_at",
		}}
	}
	invoices, letters := fixture.Child("invoices", "users"), fixture.Child("letters", "users")
	invoices.Columns = append(invoices.Columns, retained("address"), fixture.Column("issued_at", datamap.TypeTime))
	letters.Columns = append(letters.Columns, retained("body"), fixture.Column("issued_at", datamap.TypeTime))
	dataMap := fixture.MustMap(t, fixture.Users(), invoices, letters)
	w := &world{clock: fixture.NewClock(noon), ids: &fixture.IDs{}, dataMap: dataMap}
	var err error
	w.Store, err = memory.New(w.dataMap, memory.Options{})
	must(t, err)
	w.plan, err = erasure.Planner{}.Plan(w.dataMap, nil)
	must(t, err)
	return w
}

// erased adds the customers 1 to n, each with two invoices and a letter, and erases them.
func (w *world) erased(t *testing.T, n int64) {
	t.Helper()
	w.erasedFrom(t, 1, n)
}

// erasedFrom adds the customers with the ids from first to last, each with two invoices and a letter, and erases them.
func (w *world) erasedFrom(t *testing.T, first, last int64) {
	t.Helper()
	eraser, err := erasure.NewEraser(erasure.Config{Clock: w.clock, IDs: w.ids, DataMap: w.dataMap})
	must(t, err)
	for id := first; id <= last; id++ {
		must(t, w.Insert("users", memory.Row{"id": id, "email": "mail@example.org"}))
		for i := range int64(2) {
			must(t, w.Insert("invoices", memory.Row{
				"id": id*10 + i, "users_id": id, "address": "Main Street", "issued_at": noon,
			}))
		}
		must(t, w.Insert("letters", memory.Row{"id": id, "users_id": id, "body": "Dear Jane", "issued_at": noon}))
		must(t, w.Do(t.Context(), func(ctx context.Context, s ports.Session) error {
			_, err := eraser.Erase(ctx, s, domain.Subject{ID: idOf(t, id)})
			return err
		}))
	}
}

// sweeper makes a sweeper. It uses the store of the world unless the test gives other sessions.
func (w *world) sweeper(t *testing.T, batch int, sessions ...ports.SessionFactory) *sweep.Sweeper {
	t.Helper()
	sweeper, err := sweep.NewSweeper(sweep.Config{
		Sessions: append(sessions, w)[0], Clock: w.clock, IDs: w.ids, DataMap: w.dataMap, Plan: w.plan, Batch: batch,
	})
	must(t, err)
	return sweeper
}

// left counts the values that are still retained.
func (w *world) left(t *testing.T) (n int) {
	t.Helper()
	for table, column := range map[string]string{"invoices": "address", "letters": "body"} {
		rows, err := w.Rows(table)
		must(t, err)
		for _, row := range rows {
			if row[column] == "Main Street" || row[column] == "Dear Jane" {
				n++
			}
		}
	}
	return n
}

// trail returns the events of the sweeps of a customer.
func (w *world) trail(t *testing.T, id int64) (events []string) {
	t.Helper()
	for _, event := range fixture.Trail(t, w, idOf(t, id)) {
		if event.EventType == domain.EventRetentionSwept || event.EventType == domain.EventRetentionSweepFailed {
			events = append(events, fmt.Sprint(event.EventType, " ", event.Payload))
		}
	}
	return events
}

func idOf(t *testing.T, id int64) domain.SubjectID {
	t.Helper()
	return fixture.MustID(t, strconv.FormatInt(id, 10))
}

// failing is a store that fails the sweeps of one customer.
type failing struct {
	*world
	id  string
	err error

	keys bool // SweptKeys fails instead of Sweep
}

func (f failing) Do(ctx context.Context, fn func(context.Context, ports.Session) error) error {
	return f.world.Do(ctx, func(ctx context.Context, s ports.Session) error { return fn(ctx, failingSession{s, f}) })
}

type failingSession struct {
	ports.Session
	f failing
}

func (s failingSession) Erased() ports.ErasedStore { return failingStore{s.Session.Erased(), s.f} }

type failingStore struct {
	ports.ErasedStore
	f failing
}

func (s failingStore) SweptKeys(ctx context.Context, id domain.SubjectID, query plan.KeyQuery) ([]string, error) {
	if id.String() == s.f.id && s.f.keys {
		return nil, s.f.err
	}
	return s.ErasedStore.SweptKeys(ctx, id, query)
}

func (s failingStore) Sweep(ctx context.Context, id domain.SubjectID, steps []datamap.Step) ([]int64, error) {
	if id.String() == s.f.id && !s.f.keys {
		return make([]int64, 1), s.f.err
	}
	return s.ErasedStore.Sweep(ctx, id, steps)
}

var must = fixture.Must
