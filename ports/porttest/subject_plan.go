package porttest

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports"
)

// rowsPerStep is the number of zoe's rows that each step affects.
var rowsPerStep = map[string]int64{
	"delete addresses": 3, "delete messages": 3, "anonymize order_lines": 6, "anonymize orders": 3,
	"anonymize invoices": 3, "retain invoices": 3, "anonymize people": 1,
}

func expectPlanned(t testing.TB, rows []int64, deleted int64) {
	t.Helper()
	for i, step := range erasurePlan(t) {
		name := string(step.Strategy) + " " + step.Target
		want := rowsPerStep[name]
		if step.Strategy == domain.StrategyDelete {
			want *= deleted
		}
		assert(t, rows[i] == want, "%s: %d rows, want %d", name, rows[i], want)
	}
}

// expectErased checks that zoe has only retained data, and that the data of all other customers is unchanged.
func expectErased(t testing.TB, after, before content) {
	t.Helper()
	expectUnchanged(t, "what is not the subject's", after.without(zoe), before.without(zoe))
	for _, step := range erasurePlan(t) {
		rows, was := after.of(zoe)[step.Target], before.of(zoe)[step.Target]
		if step.Strategy == domain.StrategyDelete {
			assert(t, len(rows) == 0, "%d rows of %s are left", len(rows), step.Target)
			continue
		}
		if len(rows) != len(was) {
			t.Errorf("%d rows of %s are left, want all %d", len(rows), step.Target, len(was))
			continue
		}
		table, _ := DataMap().Table(step.Target)
		for _, column := range table.Columns {
			goes := column.Personal != nil && column.Personal.Strategy != domain.StrategyRetain
			for i := range rows {
				if stays := same(rows[i][column.Name], was[i][column.Name]); stays == goes {
					t.Errorf("%s.%s has stayed: %v, want %v", table.Name, column.Name, stays, !goes)
					break
				}
			}
		}
	}
}

func subjectPlanErasesAll(t testing.TB, h StoreHarness) {
	s := h.shop(t)
	before := s.content(t)
	expectPlanned(t, s.apply(t, zoe, erasurePlan(t)...), 1)
	expectErased(t, s.content(t), before)
}

func subjectPlanCanBeAppliedAgain(t testing.TB, h StoreHarness) {
	s := h.shop(t)
	before := s.content(t)
	s.apply(t, zoe, erasurePlan(t)...)
	expectPlanned(t, s.apply(t, zoe, erasurePlan(t)...), 0)
	expectErased(t, s.content(t), before)
}

func subjectPlanCanBeRolledBack(t testing.TB, h StoreHarness) {
	s := h.shop(t)
	before := s.content(t)
	undo(t, s.Store, func(ctx context.Context, session ports.Session) error {
		return errors.Join(errOf(session.Subjects().Lock(ctx, zoe.id(t), noon)),
			errOf(session.Subjects().Apply(ctx, zoe.id(t), erasurePlan(t))))
	})
	expectUnchanged(t, "after a rollback", s.content(t), before)
}

// The case applies each step alone, so that a failure names the table in which the store selects too many rows.
func subjectStepsLeaveOtherSubjectsAlone(t testing.TB, h StoreHarness) {
	s := h.shop(t)
	before := s.content(t)
	for _, step := range erasurePlan(t) {
		s.apply(t, zoe, step)
		expectUnchanged(t, string(step.Strategy)+" "+step.Target+", in rows of others",
			s.content(t).without(zoe), before.without(zoe))
	}
}

// customersWithSpecialTenants returns customers whose tenants contain characters with a special meaning, for example in
// SQL.
func customersWithSpecialTenants() []customer {
	tenants := []string{
		"o'neil", "o''neil", `say "hi"`, "100%", "100 and more", "a_b", "axb", `back\slash`, `back\\slash`, "x\x1fy", `x\uy`,
		"7", "?", "$1", "--", "NULL", "Zoë 🙂", "zoë 🙂", "Zoe\u0308 🙂", "tab\tand\nline", " ",
	}
	customers := make([]customer, len(tenants))
	for i, tenant := range tenants {
		customers[i] = customer{tenant, 7, int64(i+1) * 1000}
	}
	return customers
}

func subjectIDsAreMatchedWhole(t testing.TB, h StoreHarness) {
	s := shopUnderTest{h.open(t)}
	for _, c := range customersWithSpecialTenants() {
		s.seed(t, c, 1)
	}
	for _, c := range customersWithSpecialTenants() {
		before := s.content(t)
		for i, rows := range s.apply(t, c, erasurePlan(t)...) {
			assert(t, rows != 0, "%q: step %d found no row", c.tenant, i)
		}
		after := s.content(t)
		expectUnchanged(t, "what is not of the tenant "+c.tenant, after.without(c), before.without(c))
		left := len(after.of(c)["addresses"]) + len(after.of(c)["messages"])
		assert(t, left <= 0, "%q: %d rows are left", c.tenant, left)
	}
}

func subjectWithoutRowsIsAccepted(t testing.TB, h StoreHarness) {
	s := h.shop(t)
	before := s.content(t)
	stranger := customer{"nobody", 7, 900_000}
	rows := s.apply(t, stranger, erasurePlan(t)...)
	assert(t, !slices.ContainsFunc(rows, func(n int64) bool { return n != 0 }),
		"the steps counted %v rows of a subject without rows", rows)
	records := s.export(t, stranger)
	assert(t, len(records) == 0, "%d records are exported for a subject without rows", len(records))
	expectUnchanged(t, "after an erasure without rows", s.content(t), before)
}
