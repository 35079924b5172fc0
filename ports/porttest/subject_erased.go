package porttest

import (
	"context"
	"slices"
	"testing"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports"
)

// The export of zoe after her erasure contains the retained cells and marks the others as erased. An order that was
// added later is exported.
func subjectExportOmitsSurrogates(t testing.TB, h StoreHarness) {
	s := h.shop(t)
	before := exported(others[1], s.content(t))
	s.apply(t, zoe, erasurePlan(t)...)
	if overwritten := s.marked(t, zoe); overwritten > 0 {
		t.Errorf("%d cells of a subject that was not erased are marked as erased", overwritten)
	}
	s.do(t, func(ctx context.Context, subjects ports.SubjectStore) error {
		if err := subjects.Lock(ctx, zoe.id(t), noon); err != nil {
			return err
		}
		_, err := subjects.Apply(ctx, zoe.id(t), erasurePlan(t))
		return err
	})
	s.Insert(t, "orders", zoe.own(1999, Row{"note": "a new note", "status": "paid"}))
	for _, record := range s.export(t, zoe) {
		table, _ := DataMap().Table(record.Source)
		column, _ := table.Column(record.Field)
		goes := column.Personal.Strategy != domain.StrategyRetain && record.Row != "1999"
		if record.Erased != goes || goes && record.Value != nil {
			t.Errorf("%s.%s is marked as erased: %v, want %v", record.Source, record.Field, record.Erased, goes)
		}
	}
	if n := s.marked(t, others[1]); n > 0 {
		t.Errorf("%d cells of another subject are marked as erased", n)
	}
	assert(t, len(s.export(t, others[1])) == len(before), "the export of another subject has changed")
}

// marked counts the cells of an export that are marked as erased.
func (s shopUnderTest) marked(t testing.TB, who customer) (n int) {
	t.Helper()
	for _, record := range s.export(t, who) {
		if record.Erased {
			n++
		}
	}
	return n
}

// Zoe's cells of shared rows are overwritten even if the rows also belong to others. All personal columns of wraps are
// erased, so that only the second path keeps its rows.
func subjectExportOmitsSurrogatesOfSharedRows(t testing.TB, h StoreHarness) {
	s := h.sharedShop(t)
	s.do(t, func(ctx context.Context, subjects ports.SubjectStore) error {
		if err := subjects.Lock(ctx, zoe.id(t), noon); err != nil {
			return err
		}
		return errOf(subjects.Apply(ctx, zoe.id(t), sharedPlan(t)))
	})
	seen := 0
	for _, record := range s.export(t, zoe) {
		if !slices.Contains(parted, record.Source) {
			continue
		}
		seen++
		goes := record.Field != "price" // the price is retained
		if record.Erased != goes || goes && record.Value != nil {
			t.Errorf("%s.%s is marked as erased: %v, want %v", record.Source, record.Field, record.Erased, goes)
		}
	}
	assert(t, seen > 0, "no part of a shared row is exported")
	if n := s.marked(t, others[0]); n > 0 {
		t.Errorf("%d cells of another subject are marked as erased", n)
	}
}
