package porttest

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/domain/plan"
	"github.com/habeas-data/habeas/ports"
)

// sharedByPath are the tables in which one row belongs to several people through several relations. The table
// "remarks" is not included, because a condition selects one relation for each of its rows.
var sharedByPath = []string{"gifts", "wraps", "follows"}

// sharedShop opens a shop in which zoe and other customers share rows. Some orders have the number of a person as their
// id, so that a store that confuses orders with people fails.
func (h StoreHarness) sharedShop(t testing.TB) shopUnderTest {
	t.Helper()
	s := shopUnderTest{h.open(t)}
	ann, stranger, bob := others[0], others[1], others[2]
	for _, c := range []customer{zoe, ann, bob, stranger} {
		s.Insert(t, "people", c.person())
	}
	s.Insert(t, "orders", ann.row(zoe.number, Row{"note": "note"}))
	s.Insert(t, "orders", zoe.row(ann.number, Row{"note": "note"}))
	s.Insert(t, "orders", bob.row(bob.number, Row{"note": "note"}))
	absent := customer{tenant: zoe.tenant}
	number := func(c customer) any {
		if c == absent {
			return nil
		}
		return c.number
	}
	for i, pair := range [][2]customer{
		{zoe, ann}, {ann, zoe}, {zoe, zoe}, {ann, bob}, {zoe, absent}, {absent, zoe}, {stranger, stranger}, {bob, zoe},
	} {
		id, from, to := int64(i+1), number(pair[0]), number(pair[1])
		tenant := pair[0].tenant
		s.Insert(t, "gifts", Row{
			"id": id, "tenant": tenant, "giver": from, "receiver": to, "wish": "wish", "thanks": "thanks", "motto": "motto",
			"paid": true, "price": "price", "sent_at": issued,
		})
		for line := range int64(2) {
			s.Insert(t, "wraps", Row{"gift_id": id, "line": line, "color": "color", "knot": "knot"})
		}
		s.Insert(t, "follows", Row{"id": id, "tenant": tenant, "follower": from, "followed": to, "remark": "remark"})
	}
	for i, remark := range []struct {
		kind   any
		tenant string
		target int64
	}{
		{"person", zoe.tenant, zoe.number},
		{"person", ann.tenant, ann.number},
		{"person", stranger.tenant, stranger.number},
		{"order", zoe.tenant, zoe.number},
		{"order", zoe.tenant, ann.number},
		{"order", zoe.tenant, bob.number},
		{"Person", zoe.tenant, zoe.number},
		{"person ", zoe.tenant, zoe.number},
		{nil, zoe.tenant, zoe.number},
		{"it's ?1 $1", zoe.tenant, zoe.number},
	} {
		s.Insert(t, "remarks", Row{
			"id": int64(i + 1), "target_type": remark.kind, "tenant": remark.tenant, "target": remark.target, "body": "body",
		})
	}
	return s
}

// pathsTo returns the names of the paths that connect a row to the customer.
func (c content) pathsTo(table string, row Row, to customer) (vias []string) {
	add := func(via string, leads bool) {
		if leads {
			vias = append(vias, via)
		}
	}
	in := row["tenant"] == to.tenant
	switch table {
	case "gifts":
		add("Giver", in && row["giver"] == to.number)
		add("Receiver", in && row["receiver"] == to.number)
	case "wraps":
		for _, gift := range c["gifts"] {
			if gift["id"] == row["gift_id"] {
				vias = c.pathsTo("gifts", gift, to)
			}
		}
	case "follows":
		add("Follower", in && row["follower"] == to.number)
		add("Followed", in && row["followed"] == to.number)
	case "remarks":
		add("Person", row["target_type"] == "person" && in && row["target"] == to.number)
		add("Order", row["target_type"] == "order" && slices.ContainsFunc(c["orders"], func(order Row) bool {
			return order["id"] == row["target"] && to.has("orders", order)
		}))
	}
	return vias
}

// belongs reports whether the data map assigns the column to one of the given paths. A path is a chain of relations
// from the table to people, and is identified by its name.
func belongs(table, column string, vias []string) bool {
	described, _ := DataMap().Table(table)
	c, _ := described.Column(column)
	return slices.ContainsFunc(vias, func(via string) bool {
		path, ok := DataMap().PathVia(table, via)
		return ok && path.Has(c)
	})
}

func subjectSharedRowsAreExportedInParts(t testing.TB, h StoreHarness) {
	s := h.sharedShop(t)
	s.expectParts(t, sharedByPath)
}

// expectParts checks, for each customer, the cells that an export of these tables contains.
func (s shopUnderTest) expectParts(t testing.TB, tables []string) {
	t.Helper()
	all := s.content(t)
	for _, who := range []customer{zoe, others[0], others[1], others[2]} {
		var want []string
		for _, table := range DataMap().Tables() {
			for _, row := range all[table.Name] {
				for _, column := range table.Exported() {
					if belongs(table.Name, column.Name, all.pathsTo(table.Name, row, who)) {
						want = append(want, cellName(domain.ExportRecord{
							Source: table.Name, Field: column.Name, Row: nameOf(table, row),
						}))
					}
				}
			}
		}
		of := func(records []domain.ExportRecord) []domain.ExportRecord {
			return slices.DeleteFunc(records, func(r domain.ExportRecord) bool { return !slices.Contains(tables, r.Source) })
		}
		got := cells(of(s.export(t, who)))
		want = slices.DeleteFunc(want, func(name string) bool {
			return !slices.ContainsFunc(tables, func(table string) bool { return strings.HasPrefix(name, table+".") })
		})
		assert(t, slices.Equal(got, want), "the export of customer %d is\n%q\nwant\n%q", who.ids, got, want)
	}
}

// sharedPlan returns the steps of the plan for the tables in which one row can belong to several people.
func sharedPlan(t testing.TB) []datamap.Step {
	t.Helper()
	return slices.DeleteFunc(wholePlan(t), func(step datamap.Step) bool { return step.Via == "" })
}

// erasedParts returns the rows of these tables as an erasure of zoe must leave them, with "erased" in place of each
// surrogate. If over is true, no retention period prevents the erasure of a cell.
func (c content) erasedParts(tables []string, over bool) content {
	erased := content{}
	for _, name := range tables {
		erased[name] = nil
		for _, row := range c[name] {
			vias := c.pathsTo(name, row, zoe)
			if name == "follows" && len(vias) > 0 || slices.Contains(vias, "Person") {
				continue
			}
			left := Row{}
			for column, value := range row {
				switch {
				case column == "receiver" && slices.Contains(vias, "Receiver"),
					column == "target" && slices.Contains(vias, "Order"):
					value = nil
				case belongs(name, column, vias) && (column != "price" || over):
					value = "erased"
				}
				left[column] = value
			}
			erased[name] = append(erased[name], left)
		}
	}
	return erased
}

// expectErasedParts checks that the rows of these tables equal the wanted rows. A wanted cell "erased" matches any
// surrogate.
func (s shopUnderTest) expectErasedParts(t testing.TB, want content) {
	t.Helper()
	for name, rows := range want {
		table, _ := DataMap().Table(name)
		got := s.Rows(t, name)
		if len(got) != len(rows) {
			t.Errorf("%d rows of %s are left, want %d", len(got), name, len(rows))
			continue
		}
		for i, row := range got {
			for _, column := range table.Columns {
				value := row[column.Name]
				if anonymous(value) {
					value = "erased"
				}
				if !same(value, rows[i][column.Name]) {
					t.Errorf("%s.%s has an unexpected value in row %q", name, column.Name, nameOf(table, row))
				}
			}
		}
	}
}

func anonymous(value any) bool {
	if value == false {
		return true
	}
	text, isText := value.(string)
	return isText && (strings.HasPrefix(text, "anon-") || len(text) == 16 && cutText.MatchString(text))
}

func subjectSharedRowsAreErasedInParts(t testing.TB, h StoreHarness) {
	s := h.sharedShop(t)
	before := s.content(t)
	steps := slices.DeleteFunc(sharedPlan(t), func(step datamap.Step) bool { return step.Target == "remarks" })
	rows := s.apply(t, zoe, steps...)
	for i, step := range steps {
		want := map[string]int64{
			"gifts Giver": 3, "gifts Receiver": 4, "wraps Giver": 6, "wraps Receiver": 8, "follows Follower": 3,
			"follows Followed": 3, // counts a row that the step of the other path has deleted
		}[step.Target+" "+step.Via]
		if rows[i] != want {
			t.Errorf("%s %s via %s: %d rows, want %d", step.Strategy, step.Target, step.Via, rows[i], want)
		}
	}
	want := before.erasedParts(sharedByPath, false)
	s.expectErasedParts(t, want)
	s.apply(t, zoe, steps...)
	s.expectErasedParts(t, want)
	s.expectParts(t, sharedByPath)

	other := h.sharedShop(t)
	for _, step := range steps { // each step in a separate session
		other.apply(t, zoe, step)
	}
	other.expectErasedParts(t, want)
}

// The price of a gift belongs to the giver and is retained for ten years. The receiver's part of the gift is not
// retained.
func subjectSharedRowsAreRetainedInParts(t testing.TB, h StoreHarness) {
	over := issued.AddDate(10, 0, 2)
	gifts := datamap.Plan{Steps: sharedPlan(t)}
	gifts.Steps = slices.DeleteFunc(gifts.Steps, func(step datamap.Step) bool { return step.Target != "gifts" })
	for _, at := range []time.Time{over.AddDate(0, 0, -3), over} {
		s := h.sharedShop(t)
		want := s.content(t).erasedParts([]string{"gifts"}, !at.Before(over))
		s.apply(t, zoe, plan.LocalAt(gifts, at)...)
		s.expectErasedParts(t, want)
	}
}

func subjectSharedRowsAreRectifiedInParts(t testing.TB, h StoreHarness) {
	for _, c := range []struct {
		table, via, column string
		rows               int64
	}{
		{"gifts", "Giver", "wish", 3},
		{"gifts", "Giver", "price", 3},
		{"gifts", "Receiver", "motto", 4},
		{"wraps", "Giver", "color", 6},
		{"wraps", "Receiver", "knot", 8},
	} {
		s := h.sharedShop(t)
		want := s.content(t)
		for _, row := range want[c.table] {
			if slices.Contains(want.pathsTo(c.table, row, zoe), c.via) {
				row[c.column] = "right"
			}
		}
		step := rectifies(c.table, c.column, "right")
		step.Via = c.via
		rows := s.rectify(t, zoe, step)
		assert(t, rows == c.rows, "%s via %s: %d rows, want %d", c.table, c.via, rows, c.rows)
		expectUnchanged(t, "but for the column", s.content(t), want)
	}
}

func subjectConditionsPickRows(t testing.TB, h StoreHarness) {
	s := h.sharedShop(t)
	tables := []string{"remarks"}
	s.expectParts(t, tables)
	before := s.content(t)
	steps := slices.DeleteFunc(sharedPlan(t), func(step datamap.Step) bool { return step.Target != "remarks" })
	rows := s.apply(t, zoe, steps...)
	assert(t, slices.Equal(rows, []int64{1, 1}), "the steps were about %v remarks, want one each", rows)
	s.expectErasedParts(t, before.erasedParts(tables, false))
}

func subjectStepsNameTheirPath(t testing.TB, h StoreHarness) {
	s := h.sharedShop(t)
	before := s.content(t)
	const overwrite = domain.StrategyAnonymize
	for what, step := range map[string]datamap.Step{
		"no path":                   {Target: "gifts", Strategy: overwrite, Columns: []string{"wish"}},
		"an unknown path":           {Target: "gifts", Strategy: overwrite, Via: "Gi", Columns: []string{"wish"}},
		"a path where there is one": {Target: "orders", Strategy: overwrite, Via: "Giver", Columns: []string{"note"}},
		"a column of another path":  {Target: "gifts", Strategy: overwrite, Via: "Receiver", Columns: []string{"wish"}},
		"a reference that stays":    {Target: "gifts", Strategy: overwrite, Via: "Giver", ClearedColumns: []string{"giver"}},
		"a key": {
			Target: "gifts", Strategy: overwrite, Via: "Receiver", ClearedColumns: []string{"tenant"},
		},
		"an undeclared reference": {
			Target: "messages", Strategy: overwrite, ClearedColumns: []string{"reply_to"}, Self: true,
		},
	} {
		err := s.try(t, func(ctx context.Context, subjects ports.SubjectStore) error {
			return errOf(subjects.Apply(ctx, zoe.id(t), []datamap.Step{step}))
		})
		isError(t, what, err, domain.ErrManifest)
	}
	for what, via := range map[string]string{"no path": "", "a path of other columns": "Receiver"} {
		step := rectifies("gifts", "wish", "right")
		step.Via = via
		err := s.try(t, func(ctx context.Context, subjects ports.SubjectStore) error {
			return errOf(subjects.Rectify(ctx, zoe.id(t), step))
		})
		isError(t, "to rectify along "+what, err, domain.ErrManifest)
	}
	expectUnchanged(t, "after steps that were refused", s.content(t), before)
}
