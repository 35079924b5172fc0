package porttest

import (
	"context"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/domain/plan"
	"github.com/habeas-data/habeas/ports"
)

// calendarMap is CustomerMap with retention periods that count from the end of the calendar year in Berlin.
func calendarMap(t testing.TB) datamap.DataMap {
	t.Helper()
	tables := CustomerMap().Declared()
	for i, table := range tables {
		tables[i].Columns = slices.Clone(table.Columns)
		for j, column := range table.Columns {
			if column.Personal != nil && column.Personal.Since != "" {
				duty := *column.Personal
				duty.From = datamap.FromYearEnd
				tables[i].Columns[j].Personal = &duty
			}
		}
	}
	m, err := datamap.NewDataMap(tables...)
	must(t, err == nil, "the data map is refused: %v", err)
	m, err = m.WithZone("Europe/Berlin")
	must(t, err == nil, "the zone is not known: %v", err)
	return m
}

// The year ends at 23:00 UTC in Berlin, so that an invoice of that hour belongs to the next year.
func mapCountsCalendarYearsInItsZone(t testing.TB, h MapsHarness) {
	maps := h.open(t)
	s := h.sideOf(t, maps, calendarMap(t), "")
	newYear := func(year int) time.Time { return time.Date(year-1, time.December, 31, 23, 0, 0, 0, time.UTC) }
	never := time.Time{}
	s.Insert(t, "customers", Row{"id": int64(1), "email": "a@example.org", "phone": "1"})
	ends := map[int64]time.Time{}
	for id, invoice := range []struct {
		issued any
		end    time.Time
	}{
		{newYear(2016).Add(-time.Microsecond), newYear(2026)},
		{newYear(2016), newYear(2027)},
		{newYear(2017).Add(-time.Microsecond), newYear(2027)},
		{newYear(2017), newYear(2028)},
		{nil, never},
	} {
		ends[int64(id)] = invoice.end
		s.Insert(t, "invoices", Row{
			"id": int64(id), "customer": int64(1), "address": "a street", "issued_at": invoice.issued,
		})
	}
	s.expectEnds(t, ends)
	for _, at := range []time.Time{
		newYear(2026).Add(-time.Microsecond), newYear(2026), newYear(2027).Add(-time.Microsecond), newYear(2027),
		newYear(2028),
	} {
		do(t, s.Store, func(ctx context.Context, session ports.Session) error {
			if _, err := session.Subjects().Lock(ctx, subjectOf(t, present), at); err != nil {
				return err
			}
			return errOf(session.Subjects().Apply(ctx, subjectOf(t, present), plan.LocalAt(s.plan, at)))
		})
		for _, row := range s.Rows(t, "invoices") {
			id, _ := row["id"].(int64)
			isOver := ends[id] != never && !ends[id].After(at)
			assert(t, (row["address"] != "a street") == isOver,
				"an erasure at %v: invoice %d has the address %v", at, id, row["address"])
		}
	}
}

// expectEnds checks the ends of the duties in an export, by invoice. The zero time is no end.
func (s side) expectEnds(t testing.TB, want map[int64]time.Time) {
	t.Helper()
	do(t, s.Store, func(ctx context.Context, session ports.Session) error {
		return session.Subjects().Export(ctx, subjectOf(t, present), func(r domain.ExportRecord) error {
			id, err := strconv.ParseInt(r.Row, 10, 64)
			if r.Source != "invoices" || err != nil {
				return nil //nolint:nilerr // another record
			}
			got := time.Time{}
			if r.ExpiresAt != nil {
				got = *r.ExpiresAt
			}
			assert(t, got.Equal(want[id]), "the duty of invoice %d ends at %v, want %v", id, got, want[id])
			return nil
		})
	})
}
