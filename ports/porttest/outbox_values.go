package porttest

import (
	"context"
	"encoding/json"
	"math/big"
	"reflect"
	"testing"
	"time"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports"
)

func outboxInstantsAreInUTCAndMicroseconds(t testing.TB, h StoreHarness) {
	b := h.box(t)
	given := noon.Add(789 * time.Nanosecond).In(time.FixedZone("", 2*60*60))
	entry := toErase(t, "a", subjectOf(t, "acme", "7"), 0)
	entry.EnqueuedAt = given
	b.enqueue(t, entry)
	claimed := b.claim(t, 1, given)
	must(t, len(claimed) == 1 && claimed[0].LastAttemptAt != nil && claimed[0].NextAttemptAt != nil,
		"%d entries were claimed, want 1 with its instants", len(claimed))
	for what, instant := range map[string]struct{ got, want time.Time }{
		"EnqueuedAt": {claimed[0].EnqueuedAt, noon}, "LastAttemptAt": {*claimed[0].LastAttemptAt, noon},
		"NextAttemptAt": {*claimed[0].NextAttemptAt, noon.Add(lease)},
	} {
		assert(t, same(instant.got, instant.want), "%s is %v, want %v", what, instant.got, instant.want)
	}
}

func outboxCorrectionsComeBackAsJSON(t testing.TB, h StoreHarness) {
	b := h.box(t)
	entry := toRectify(t, "a", subjectOf(t, "acme", "7"), 0)
	entry.Corrections = domain.Corrections{
		domain.CategorySpecial: noon, domain.CategoryIdentity: []byte{0, 0xff}, domain.CategoryFinancial: int64(maxExact + 1),
		domain.CategoryBehavioral: domain.Number("18446744073709551615.50"), domain.CategoryLocation: 1e-7,
		domain.CategoryTechnical: domain.JSON(`{"a": [9007199254740993, null]}`),
	}
	want := domain.Corrections{
		domain.CategorySpecial: noon.Format(time.RFC3339Nano), domain.CategoryIdentity: "AP8=",
		domain.CategoryFinancial: json.Number("9007199254740993"), domain.CategoryLocation: json.Number("0.0000001"),
		domain.CategoryBehavioral: json.Number("18446744073709551615.50"),
		domain.CategoryTechnical:  map[string]any{"a": []any{json.Number("9007199254740993"), nil}},
	}
	got := b.enqueueAndClaim(t, entry)[0].Corrections
	for category, value := range want {
		if !isCorrection(got[category], value) {
			t.Errorf("a %T comes back as the %T %v, want %v", entry.Corrections[category], got[category], got[category], value)
		}
	}
}

// maxExact is the limit up to which a float64 represents each integer exactly.
const maxExact = 1 << 53

// isCorrection reports whether a correction equals the wanted value. Numbers are compared by their value, so 1.0 equals
// 1.
func isCorrection(got, want any) bool {
	text, isNumber := got.(json.Number)
	wanted, wantsNumber := want.(json.Number)
	if !isNumber || !wantsNumber {
		return reflect.DeepEqual(got, want)
	}
	g, ok := new(big.Rat).SetString(text.String())
	w, _ := new(big.Rat).SetString(wanted.String())
	return ok && g.Cmp(w) == 0
}

func outboxKeepsCopies(t testing.TB, h StoreHarness) {
	b := h.box(t)
	change := func(e domain.OutboxEntry) {
		for key := range e.Ref.Extra {
			e.Ref.Extra[key] = "changed"
		}
		for category := range e.Corrections {
			e.Corrections[category] = "changed"
		}
	}
	b.do(t, func(ctx context.Context, outbox ports.Outbox) error {
		entry := toRectify(t, "a", subjectOf(t, "acme", "7"), 0)
		defer change(entry)
		return outbox.Enqueue(ctx, entry)
	})
	for range 2 { // the second round runs after the returned values were changed
		for _, entry := range b.due(t, noon) {
			must(t, entry.Ref.Extra["region"] != "changed" && entry.Corrections[domain.CategoryContact] != "changed",
				"an entry changed with the one that was given or returned")
			change(entry)
		}
	}
	claimed := b.claim(t, 1, noon)
	must(t, len(claimed) == 1, "%d entries were claimed, want 1", len(claimed))
	b.do(t, func(ctx context.Context, outbox ports.Outbox) error {
		settlement := fails(claimed[0], noon.Add(time.Hour))
		_, err := outbox.Settle(ctx, []domain.Settlement{settlement})
		*settlement.NextAttemptAt = noon
		return err
	})
	assert(t, len(b.due(t, noon)) == 0, "the next attempt changed with the settlement that was given")
}
