package porttest

import (
	"context"
	"slices"
	"testing"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports"
)

// After zoe's erasure, her export contains the retained cells and marks the other cells as erased. A row that was added
// after the erasure is exported unchanged, and so is each row of a person who registers later.
func subjectExportOmitsSurrogates(t testing.TB, h StoreHarness) {
	s := h.shop(t)
	before := exported(others[1], s.content(t))
	s.apply(t, zoe, erasurePlan(t)...)
	if overwritten := s.countErased(t, zoe); overwritten > 0 {
		t.Errorf("%d cells of a subject that was not erased are marked as erased", overwritten)
	}
	s.do(t, func(ctx context.Context, subjects ports.SubjectStore) error {
		if _, err := subjects.Lock(ctx, zoe.id(t), noon); err != nil {
			return err
		}
		_, err := subjects.Apply(ctx, zoe.id(t), erasurePlan(t))
		return err
	})
	s.Insert(t, "orders", zoe.row(1999, Row{"note": "a new note", "status": "paid"}))
	for _, record := range s.export(t, zoe) {
		table, _ := DataMap().Table(record.Source)
		column, _ := table.Column(record.Field)
		wantErased := column.Personal.Strategy != domain.StrategyRetain && record.Row != "1999"
		if record.Erased != wantErased || wantErased && record.Value != nil {
			t.Errorf("%s.%s is marked as erased: %v, want %v", record.Source, record.Field, record.Erased, wantErased)
		}
	}
	if n := s.countErased(t, others[1]); n > 0 {
		t.Errorf("%d cells of another subject are marked as erased", n)
	}
	assert(t, len(s.export(t, others[1])) == len(before), "the export of another subject has changed")
	s.do(t, func(ctx context.Context, subjects ports.SubjectStore) error {
		return subjects.Register(ctx, zoe.id(t), noon)
	})
	n := s.countErased(t, zoe)
	assert(t, n == 0, "%d cells of a person who was registered after the erasure are marked as erased", n)
}

// countErased returns the number of exported cells that are marked as erased.
func (s shopUnderTest) countErased(t testing.TB, who customer) (n int) {
	t.Helper()
	for _, record := range s.export(t, who) {
		if record.Erased {
			n++
		}
	}
	return n
}

// An erasure overwrites zoe's cells of a row even if the row also belongs to another person. In the table "wraps", all
// personal columns have the strategy erase. An erasure nevertheless overwrites the rows instead of deleting them,
// because two paths connect them to people.
func subjectExportOmitsSurrogatesOfSharedRows(t testing.TB, h StoreHarness) {
	s := h.sharedShop(t)
	s.do(t, func(ctx context.Context, subjects ports.SubjectStore) error {
		if _, err := subjects.Lock(ctx, zoe.id(t), noon); err != nil {
			return err
		}
		return errOf(subjects.Apply(ctx, zoe.id(t), sharedPlan(t)))
	})
	seen := 0
	for _, record := range s.export(t, zoe) {
		if !slices.Contains(sharedByPath, record.Source) {
			continue
		}
		seen++
		wantErased := record.Field != "price" // the price is retained
		if record.Erased != wantErased || wantErased && record.Value != nil {
			t.Errorf("%s.%s is marked as erased: %v, want %v", record.Source, record.Field, record.Erased, wantErased)
		}
	}
	assert(t, seen > 0, "no part of a shared row is exported")
	s.expectSharedErased(t, others[0], "1.motto", "1.paid", "2.motto", "2.paid")
	s.expectSharedErased(t, others[2], "8.motto", "8.paid")
	s.expectSharedErased(t, others[1])
}

// expectSharedErased checks the cells of gifts, each with the number of its row, that the export marks as erased. The
// customer was not erased, and the cells belong to zoe, too, who was erased.
func (s shopUnderTest) expectSharedErased(t testing.TB, who customer, want ...string) {
	t.Helper()
	var got []string
	for _, record := range s.export(t, who) {
		if record.Erased {
			got = append(got, record.Row+"."+record.Field)
			assert(t, record.Value == nil, "%s is marked as erased, but has a value", record.Field)
		}
	}
	slices.Sort(got)
	assert(t, slices.Equal(got, want), "the cells of customer %d that another erasure has overwritten are %q, want %q",
		who.ids, got, want)
}
