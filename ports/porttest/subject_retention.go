package porttest

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports"
)

// at is a step that judges duties at an instant.
func at(step domain.Step, instant time.Time) domain.Step {
	step.At = instant
	return step
}

// The address of an invoice is retained for ten years; its phone is not retained.
func subjectRetentionThatIsOverIsNoReason(t testing.TB, h StoreHarness) {
	after := issued.AddDate(10, 0, 1) // of a day that the year has not
	for name, test := range map[string]struct {
		at       time.Time
		columns  []string // of the anonymize step, besides the address
		changed  []string
		rows     int64 // that were anonymized
		retained int64
	}{
		"the duty goes on":           {after.AddDate(0, 0, -2), []string{"phone"}, []string{"phone"}, 3, 3},
		"the duty is over":           {after.AddDate(0, 0, 1), []string{"phone"}, []string{"phone", "address"}, 3, 0},
		"nothing else, it goes on":   {after.AddDate(0, 0, -2), nil, nil, 0, 3},
		"nothing else, it is over":   {after.AddDate(0, 0, 1), nil, []string{"address"}, 3, 0},
		"no instant to judge it by":  {time.Time{}, []string{"phone"}, []string{"phone"}, 3, 3},
		"it is over for a long time": {after.AddDate(90, 0, 0), []string{"phone"}, []string{"phone", "address"}, 3, 0},
	} {
		s := h.shop(t)
		s.Insert(t, "invoices", zoe.own(zoe.ids+50, Row{"address": "a street", "phone": "1", "issued_at": nil}))
		before := s.content(t)
		anonymize := domain.Step{
			Target: "invoices", Strategy: domain.StrategyAnonymize, Columns: test.columns, Expired: []string{"address"}, At: test.at,
		}
		rows := s.apply(t, zoe, anonymize, at(retains(t, "invoices"), test.at))
		all := int64(0) // a row without an instant is retained for ever, but is anonymized like the others
		if test.columns != nil {
			all = 1
		}
		if rows[0] != test.rows+all || rows[1] != test.retained+1 {
			t.Errorf("%s: %d rows were anonymized and %d retained, want %d and %d", name, rows[0], rows[1], test.rows+all, test.retained+1)
		}
		was := before.of(zoe)["invoices"]
		for i, row := range s.content(t).of(zoe)["invoices"] {
			for _, column := range []string{"address", "phone", "issued_at"} {
				want := row["issued_at"] != nil && slices.Contains(test.changed, column) || column == "phone" && test.columns != nil
				got := !same(row[column], was[i][column])
				assert(t, got == want, "%s: invoices.%s was overwritten: %v, want %v", name, column, got, want)
			}
		}
	}
}

// Two steps that meet in one row come to different ends, whichever is carried out first.
func subjectStepsOnOneRowAreRefused(t testing.TB, h StoreHarness) {
	s := h.shop(t)
	before := s.content(t)
	people := anonymizes(t, "people")
	for what, steps := range map[string][]domain.Step{
		"two that anonymize a table":  {at(people, noon), {Target: "people", Strategy: domain.StrategyAnonymize, Columns: []string{"email"}}},
		"one that anonymizes deleted": {deletes(t, "addresses"), {Target: "addresses", Strategy: domain.StrategyAnonymize, Columns: []string{"street"}}},
		"one that deletes retained":   {retains(t, "invoices"), {Target: "invoices", Strategy: domain.StrategyDelete}},
		"one that retains deleted":    {deletes(t, "messages"), {Target: "messages", Strategy: domain.StrategyRetain, Columns: []string{"body"}}},
		"no column":                   {{Target: "people", Strategy: domain.StrategyAnonymize}},
		"an unknown column":           {{Target: "people", Strategy: domain.StrategyAnonymize, Columns: []string{"shoe_size"}}},
		"a column that is kept":       {{Target: "people", Strategy: domain.StrategyAnonymize, Expired: []string{"email"}}},
	} {
		err := s.try(t, func(ctx context.Context, subjects ports.SubjectStore) error {
			return errOf(subjects.Apply(ctx, zoe.id(t), steps))
		})
		isError(t, what, err, domain.ErrManifest)
	}
	unchanged(t, "after steps that were refused", s.content(t), before)
}

// A caller that swallows the error must not commit what came before the step.
func subjectRefusedStepsCannotBeCommitted(t testing.TB, h StoreHarness) {
	s := h.shop(t)
	before := s.content(t)
	err := s.try(t, func(ctx context.Context, subjects ports.SubjectStore) error {
		if _, err := subjects.Apply(ctx, zoe.id(t), []domain.Step{deletes(t, "addresses")}); err != nil {
			return err
		}
		_, _ = subjects.Apply(ctx, zoe.id(t), []domain.Step{{Target: "desk", Strategy: domain.StrategyDelete, External: true}})
		return nil
	})
	isError(t, "a session whose steps were refused", err, domain.ErrManifest)
	unchanged(t, "after a session whose steps were refused", s.content(t), before)
}
