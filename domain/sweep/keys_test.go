package sweep_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/habeas-data/habeas/adapters/persistence/memory"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/domain/erasure"
	"github.com/habeas-data/habeas/internal/tests/fixture"
	"github.com/habeas-data/habeas/ports"
)

// media is an external system that erases by key.
type media struct{ ports.KeyResolver }

func (media) Name() string { return "media" }

// newArchive returns a world in which the column "scan" of the table "invoices" has keys of files. One user is erased.
func newArchive(t *testing.T) *world {
	t.Helper()
	invoices := fixture.Child("invoices", "users")
	invoices.Columns = append(invoices.Columns,
		datamap.Column{Name: "scan", Type: datamap.TypeText, Personal: &datamap.Annotation{
			Category: domain.CategoryFinancial, Strategy: domain.StrategyRetain, Reason: "tax law", Ref: "media",
			Retain: datamap.Period{Years: 1}, Since: "issued_at",
		}}, fixture.Column("issued_at", datamap.TypeTime))
	w := &world{clock: fixture.NewClock(noon), ids: &fixture.IDs{}, dataMap: fixture.MustMap(t, fixture.Users(), invoices)}
	var err error
	w.Store, err = memory.New(w.dataMap, memory.Options{})
	must(t, err)
	eraser, err := erasure.NewEraser(erasure.Config{
		Clock: w.clock, IDs: w.ids, DataMap: w.dataMap, Resolvers: []ports.Resolver{media{}},
	})
	must(t, err)
	w.plan = eraser.Plan()
	must(t, w.Insert("users", memory.Row{"id": int64(1), "email": "mail@example.org"}))
	for i, key := range []string{"scans/1.pdf", "scans/2.pdf"} {
		must(t, w.Insert("invoices", memory.Row{"id": int64(i), "users_id": int64(1), "scan": key, "issued_at": noon}))
	}
	must(t, w.Do(t.Context(), func(ctx context.Context, s ports.Session) error {
		_, err := eraser.Erase(ctx, s, domain.Subject{ID: idOf(t, 1)})
		return err
	}))
	return w
}

// outbox returns the entries of the outbox.
func (w *world) outbox(t *testing.T) (entries []domain.OutboxEntry) {
	t.Helper()
	until := w.clock.Now().AddDate(0, 0, 1)
	must(t, w.Do(t.Context(), func(ctx context.Context, s ports.Session) (err error) {
		entries, err = s.Outbox().Claim(ctx, domain.ClaimQuery{
			Now: w.clock.Now(), LeaseUntil: until, LeaseToken: "token",
			Takes: []domain.Take{{Resolver: "media", Operation: domain.OperationErase, Fresh: 10, Retries: 10}},
		})
		return err
	}))
	return entries
}

func TestASweepErasesTheKeysThatItOverwrites(t *testing.T) {
	w := newArchive(t)
	if entries := w.outbox(t); len(entries) > 0 {
		t.Fatalf("the erasure enqueued retained keys: %d entries", len(entries))
	}
	w.clock.Set(noon.AddDate(1, 0, 1))
	w.ids.Made.Store(100)
	_, err := w.sweeper(t, 0).Rehearse(t.Context(), nil)
	must(t, err)
	if entries := w.outbox(t); len(entries) > 0 {
		t.Fatalf("a rehearsal left %d entries", len(entries))
	}
	w.ids.Made.Store(100)
	_, err = w.sweeper(t, 0).RunAll(t.Context(), nil)
	must(t, err)
	entries := w.outbox(t)
	if len(entries) != 1 || entries[0].Resolver != "media" || entries[0].Operation != domain.OperationErase ||
		entries[0].SubjectID != idOf(t, 1) || entries[0].OperationID != "id-101" ||
		!slices.Equal(entries[0].Ref.Keys, []string{"scans/1.pdf", "scans/2.pdf"}) {
		t.Errorf("the outbox has %+v", entries)
	}
	want := []string{
		"retention_swept map[operation_id:id-101 rows:2 target:invoices]",
		"retention_swept map[external:true keys:2 operation_id:id-101 target:media]",
	}
	if got := w.trail(t, 1); !slices.Equal(got, want) {
		t.Errorf("the trail is %s", fmt.Sprint(got))
	}
	_, err = w.sweeper(t, 0).RunAll(t.Context(), nil)
	if entries := w.outbox(t); err != nil || len(entries) > 0 {
		t.Errorf("a second sweep enqueued %d entries: %v", len(entries), err)
	}
}

func TestASweepThatFailsEnqueuesNoKeys(t *testing.T) {
	for name, test := range map[string]struct {
		keys  bool
		event string
	}{
		"in the step":         {false, "retention_sweep_failed map[error:left_over operation_id:"},
		"when it reads a key": {true, "retention_sweep_failed map[error:left_over external:true operation_id:"},
	} {
		w := newArchive(t)
		w.clock.Set(noon.AddDate(1, 0, 1))
		broken := failing{world: w, id: "1", err: &domain.Error{Code: domain.ErrLeftOver, Op: "sweep"}, keys: test.keys}
		if _, err := w.sweeper(t, 0, broken).RunAll(t.Context(), nil); err == nil {
			t.Errorf("%s: the sweep did not fail", name)
		}
		if entries := w.outbox(t); len(entries) > 0 {
			t.Errorf("%s: the outbox has %d entries", name, len(entries))
		}
		if trail := w.trail(t, 1); len(trail) != 1 || !strings.HasPrefix(trail[0], test.event) {
			t.Errorf("%s: the trail is %v", name, trail)
		}
	}
}
