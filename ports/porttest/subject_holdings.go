package porttest

import (
	"context"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/ports"
)

func (s shopUnderTest) holdings(t testing.TB, who customer) []domain.Holding {
	t.Helper()
	return read(t, s.Store, func(ctx context.Context, session ports.Session) ([]domain.Holding, error) {
		return session.Subjects().Holdings(ctx, who.id(t))
	})
}

// held returns a holding without its columns.
func held(table, via string, rows int, fate domain.Strategy) domain.Holding {
	return domain.Holding{Source: table, Via: via, Rows: rows, Fate: fate}
}

// expectHoldings compares holdings without their columns.
func expectHoldings(t testing.TB, what string, got []domain.Holding, want ...domain.Holding) {
	t.Helper()
	got = slices.Clone(got)
	for i := range got {
		got[i].Kept = nil
	}
	assert(t, reflect.DeepEqual(got, want) || len(got)+len(want) == 0, "%s: got %+v, want %+v", what, got, want)
}

func subjectHoldingsAreCounted(t testing.TB, h StoreHarness) {
	s := h.shop(t)
	for who, n := range map[customer]int{zoe: 3, others[0]: 1} {
		got := s.holdings(t, who)
		expectHoldings(t, "the holdings", got,
			held("people", "", 1, domain.StrategyAnonymize), held("addresses", "", n, domain.StrategyDelete),
			held("messages", "", n, domain.StrategyDelete), held("orders", "", n, domain.StrategyAnonymize),
			held("order_lines", "", 2*n, domain.StrategyAnonymize), held("invoices", "", n, domain.StrategyRetain))
		want := []domain.RetainedField{{
			Source: "invoices", Field: "address", Category: domain.CategoryFinancial, Reason: "tax law",
			Until: domain.Until{After: "10y", Since: "issued_at", Latest: time.Date(2034, 3, 1, 0, 0, 0, 0, time.UTC)},
		}}
		kept := got[len(got)-1].Kept
		assert(t, reflect.DeepEqual(kept, want), "the retained columns are %+v, want %+v", kept, want)
	}
}

func subjectHoldingsOfSharedRows(t testing.TB, h StoreHarness) {
	s := h.sharedShop(t)
	all := s.content(t)
	for _, who := range []customer{zoe, others[0], others[2]} {
		var want []domain.Holding
		for _, path := range []domain.Holding{
			held("gifts", "Giver", 0, domain.StrategyRetain), held("gifts", "Receiver", 0, domain.StrategyAnonymize),
			held("wraps", "Giver", 0, domain.StrategyAnonymize), held("wraps", "Receiver", 0, domain.StrategyAnonymize),
			held("follows", "Follower", 0, domain.StrategyDelete), held("follows", "Followed", 0, domain.StrategyDelete),
		} {
			for _, row := range all[path.Source] {
				if slices.Contains(all.pathsTo(path.Source, row, who), path.Via) {
					path.Rows++
				}
			}
			if path.Rows > 0 {
				want = append(want, path)
			}
		}
		shared := slices.DeleteFunc(s.holdings(t, who), func(h domain.Holding) bool {
			return !slices.Contains(sharedByPath, h.Source)
		})
		expectHoldings(t, "the holdings on each path", shared, want...)
	}
}

func subjectHoldingsSeeTheirSession(t testing.TB, h StoreHarness) {
	s := h.shop(t)
	left := []domain.Holding{
		held("people", "", 1, domain.StrategyAnonymize), held("orders", "", 3, domain.StrategyAnonymize),
		held("order_lines", "", 6, domain.StrategyAnonymize), held("invoices", "", 3, domain.StrategyRetain),
	}
	s.do(t, func(ctx context.Context, subjects ports.SubjectStore) error {
		if _, err := subjects.Lock(ctx, zoe.id(t), noon); err != nil {
			return err
		}
		if _, err := subjects.Apply(ctx, zoe.id(t), erasurePlan(t)); err != nil {
			return err
		}
		got, err := subjects.Holdings(ctx, zoe.id(t))
		expectHoldings(t, "in the session of an erasure", got, left...)
		return err
	})
	expectHoldings(t, "of an erased person", s.holdings(t, zoe), left...)
	expectHoldings(t, "of a person without rows", s.holdings(t, customer{tenant: "nobody", number: 1}))
}

// expectEnd checks the end of the retention of zoe's addresses in invoices: in her holdings, and in the result of an
// erasure at noon, which keeps rows if retained is true.
func (s shopUnderTest) expectEnd(t testing.TB, what string, want time.Time, retained bool) {
	t.Helper()
	holdings := s.holdings(t, zoe)
	invoices := holdings[len(holdings)-1]
	assert(t, invoices.Source == "invoices" && len(invoices.Kept) == 1 && invoices.Kept[0].Until.Latest.Equal(want),
		"%s: the holdings are %+v, want the end %v", what, invoices, want)
	step := retainStep(t, "invoices")
	step.At = noon
	applied := read(t, s.Store, func(ctx context.Context, session ports.Session) (domain.Applied, error) {
		return session.Subjects().Apply(ctx, zoe.id(t), []datamap.Step{step})
	})
	if !retained {
		want = time.Time{}
	}
	got := applied.Latest[0]["address"]
	assert(t, got.Equal(want), "%s: an erasure keeps the addresses until %v, want %v", what, got, want)
}

func subjectRetentionHasItsLatestEnd(t testing.TB, h StoreHarness) {
	s := shopUnderTest{h.open(t)}
	s.Insert(t, "people", zoe.person())
	day := func(year int) time.Time { return time.Date(year, 5, 6, 7, 8, 9, 123456000, time.UTC) }
	add := func(id int64, issued any) {
		s.Insert(t, "invoices", zoe.row(id, Row{"address": "address", "issued_at": issued}))
	}
	add(1, day(2010))
	s.expectEnd(t, "after the end", day(2020), false)
	add(2, day(2022))
	add(3, day(2019))
	s.expectEnd(t, "before the end of two duties", day(2032), true)
	s.Insert(t, "people", others[0].person())
	s.Insert(t, "invoices", others[0].row(4, Row{"address": "address", "issued_at": day(2023)}))
	s.expectEnd(t, "with an invoice of another person", day(2032), true)
	add(5, nil)
	s.expectEnd(t, "with a duty that has no known end", time.Time{}, true)
}

func subjectHoldingsAreBounded(t testing.TB, h StoreHarness) {
	s := shopUnderTest{h.open(t)}
	s.Insert(t, "people", zoe.person())
	for id := range int64(domain.MaxRowsHeld + 1) {
		if more := id - domain.MaxRowsHeld; more >= -1 { // 1000 rows, and one row more
			end := map[bool]time.Time{true: time.Date(2034, 3, 1, 0, 0, 0, 0, time.UTC)}[more < 0]
			expectHoldings(t, "of many rows", s.holdings(t, zoe), held("people", "", 1, domain.StrategyAnonymize),
				held("invoices", "", int(id), domain.StrategyRetain))
			s.expectEnd(t, "many rows", end, true)
		}
		s.Insert(t, "invoices", zoe.row(id, Row{"issued_at": issued}))
	}
	expectHoldings(t, "of more rows", s.holdings(t, zoe), held("people", "", 1, domain.StrategyAnonymize),
		held("invoices", "", domain.MaxRowsHeld, domain.StrategyRetain))
}
