package porttest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports"
)

func outboxEntriesComeWithTheCommit(t testing.TB, h StoreHarness) {
	b := h.box(t)
	seen := make(chan int64, 1)
	look, looked := concurrently(func() { // may wait until the commit, and then finds the entry
		var pending int64
		defer func() { seen <- pending }()
		pending = b.counts(t)[domain.OutboxPending]
	})
	defer looked()
	do(t, b.Store, func(ctx context.Context, s ports.Session) error {
		if err := s.Outbox().Enqueue(ctx, numbered(t, 1)...); err != nil {
			return err
		}
		if _, err := s.OutboxAdmin().Counts(ctx); err != nil { // makes the store send its buffered appends
			return err
		}
		look()
		if pending, ok := receiveWithin(seen, moment); ok && pending > 0 {
			t.Errorf("another session sees an entry before the commit")
		}
		return nil
	})
	b.expectCount(t, "after the commit", domain.OutboxPending, 1)
}

func outboxEntriesGoWithARollback(t testing.TB, h StoreHarness) {
	b := h.box(t)
	undo(t, b.Store, func(ctx context.Context, s ports.Session) error {
		if err := s.Outbox().Enqueue(ctx, numbered(t, 2)...); err != nil {
			return err
		}
		counts, err := s.OutboxAdmin().Counts(ctx)
		n := counts[domain.OutboxPending]
		assert(t, err != nil || n == 2, "the session itself counts %d pending entries, want 2", n)
		return err
	})
	b.expectCount(t, "after a rollback", domain.OutboxPending, 0)
}

func outboxEntryIDsAreUnique(t testing.TB, h StoreHarness) {
	b := h.box(t)
	first := numbered(t, 3)
	again := toRectify(t, first[1].EntryID, subjectOf(t, "umbrella", "7"), time.Hour)
	b.enqueue(t, first...)
	for name, entries := range map[string][]domain.OutboxEntry{
		"one that is there":          {again},
		"an existing and a new one":  {toErase(t, "new", again.SubjectID, 0), again},
		"an entry twice in one call": {toErase(t, "twice", again.SubjectID, 0), toErase(t, "twice", again.SubjectID, 0)},
	} {
		err := b.try(t, func(ctx context.Context, outbox ports.Outbox) error { return outbox.Enqueue(ctx, entries...) })
		assert(t, errors.Is(err, domain.ErrConflict), "%s: want ErrConflict from Enqueue, got %v", name, err)
	}
	claimed := b.claim(t, 10, noon)
	assert(t, slices.Equal(entryIDs(claimed), entryIDs(first)) && claimed[1].Operation == domain.OperationErase,
		"left are %v, want %v as they were", entryIDs(claimed), entryIDs(first))
}

func outboxEntriesComeBackAsEnqueued(t testing.TB, h StoreHarness) {
	b := h.box(t)
	elsewhere := time.FixedZone("", 2*60*60)
	full := toRectify(t, "c", subjectOf(t, `o'neil`, "x\x1fy", `back\slash`, "Zoë 🙂 100%"), 2*time.Second)
	full.OperationID = `the "first" operation, Zoë's`
	full.Ref.Value = `"quoted" 'n' ?1 $1 \u0041 Zoë 🙂`
	full.Ref.Extra = map[string]string{"region": "eu", "a.b": "", "Ключ": "значение"}
	full.Ref.Keys = []string{`a/"b".jpg`, "Zoë 🙂", "?1 $1"}
	full.Corrections = domain.Corrections{
		domain.CategoryIdentity: `Zoë "Z" 🙂`, domain.CategorySpecial: true, domain.CategoryTechnical: false,
		domain.CategoryBehavioral: int64(-12), domain.CategoryFinancial: 0.25, domain.CategoryCommunication: "",
		domain.CategoryLocation: domain.JSON(`{"at": [1, null, {"x": "y"}], "no": false}`),
		domain.CategoryContact:  domain.Number("12.50"),
	}
	bare := toErase(t, "b", subjectOf(t, "single"), time.Second)
	bare.Ref.Extra, bare.EnqueuedAt, bare.RequestedAt = nil, bare.EnqueuedAt.In(elsewhere), time.Time{}
	other := toErase(t, "d", subjectOf(t, "acme", "7"), 3*time.Second)
	other.Resolver, other.Ref.Kind = "mail, Zoë's", "mail, Zoë's"
	want := []domain.OutboxEntry{toErase(t, "a", subjectOf(t, "acme", "7"), tick), bare, full, other}
	b.enqueue(t, want...)
	expectAll(t, "claimed", b.claim(t, 10, noon), want, func(e *domain.OutboxEntry) { makeInFlight(e, noon, 1) })
}

func outboxSessionClaimsItsOwnEntries(t testing.TB, h StoreHarness) {
	b := h.box(t)
	b.do(t, func(ctx context.Context, outbox ports.Outbox) error {
		if err := outbox.Enqueue(ctx, numbered(t, 2)...); err != nil {
			return err
		}
		claimed, err := outbox.Claim(ctx, query(noon, upTo(10)...))
		assert(t, slices.Equal(entryIDs(claimed), []string{"e000", "e001"}), "the session claims %v", entryIDs(claimed))
		return err
	})
}

// expectAll checks that got has the entries of want, in order. Before the comparison, fn changes a copy of each wanted
// entry.
func expectAll(t testing.TB, what string, got, want []domain.OutboxEntry, fn func(*domain.OutboxEntry)) {
	t.Helper()
	if !slices.Equal(entryIDs(got), entryIDs(want)) {
		t.Errorf("%s are %v, want %v", what, entryIDs(got), entryIDs(want))
		return
	}
	for i, entry := range got {
		expect(t, entry, want[i], fn)
	}
}

// expect changes a copy of want with fn, and checks that got equals this copy. It compares corrections by their JSON.
func expect(t testing.TB, got, want domain.OutboxEntry, fn func(*domain.OutboxEntry)) {
	t.Helper()
	fn(&want)
	want.EnqueuedAt = want.EnqueuedAt.UTC()
	if want.RequestedAt.IsZero() {
		want.RequestedAt = want.EnqueuedAt
	}
	assert(t, len(got.Corrections)+len(want.Corrections) <= 0 || sameJSON(t, got.Corrections, want.Corrections),
		"%s has other corrections than expected", want.EntryID)
	got.Corrections, want.Corrections = nil, nil
	if len(got.Ref.Extra) == 0 {
		got.Ref.Extra = want.Ref.Extra // nil and empty are equal
		assert(t, len(want.Ref.Extra) == 0, "%s has lost the Extra of its ref", want.EntryID)
	}
	given, wanted := reflect.ValueOf(got), reflect.ValueOf(want)
	for i := range given.NumField() {
		if g, w := given.Field(i).Interface(), wanted.Field(i).Interface(); !reflect.DeepEqual(g, w) {
			t.Errorf("%s has %s %s, want %s", want.EntryID, given.Type().Field(i).Name, showValue(g), showValue(w))
		}
	}
}

func showValue(value any) string {
	if v := reflect.ValueOf(value); v.Kind() == reflect.Pointer && !v.IsNil() {
		value = v.Elem().Interface()
	}
	return fmt.Sprintf("%v", value)
}

func sameJSON(t testing.TB, a, b any) bool {
	t.Helper()
	return reflect.DeepEqual(asJSON(t, a), asJSON(t, b))
}

func asJSON(t testing.TB, value any) (decoded any) {
	t.Helper()
	text, err := json.Marshal(value)
	if err == nil {
		err = json.Unmarshal(text, &decoded)
	}
	assert(t, err == nil, "a %T cannot be encoded as JSON: %v", value, err)
	return decoded
}
