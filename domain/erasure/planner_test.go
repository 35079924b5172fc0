package erasure_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/domain/erasure"
	"github.com/habeas-data/habeas/internal/tests/fixture"
)

const (
	wipe = domain.StrategyErase
	null = domain.StrategyNull
	del  = domain.StrategyDelete
	anon = domain.StrategyAnonymize
	keep = domain.StrategyRetain
)

// plain returns a column without personal data.
func plain(name string) datamap.Column { return datamap.Column{Name: name, Type: datamap.TypeText} }

// personal returns an annotated column.
func personal(name string, strategy domain.Strategy) datamap.Column {
	annotation := &datamap.Annotation{Category: domain.CategoryContact, Strategy: strategy}
	if strategy == keep {
		annotation.Reason = "§147 AO"
	}
	return datamap.Column{Name: name, Type: datamap.TypeText, Personal: annotation}
}

// users returns the subject's table with a primary key and the given columns.
func users(columns ...datamap.Column) datamap.Table {
	return datamap.Table{
		Name: "users", PrimaryKey: []string{"id"}, SubjectKey: []string{"id"},
		Columns: append([]datamap.Column{plain("id")}, columns...),
	}
}

// child returns a table with a primary key, a foreign key to the table parent, and the given columns.
func child(name, parent string, columns ...datamap.Column) datamap.Table {
	return datamap.Table{
		Name: name, PrimaryKey: []string{"id"},
		Columns: append([]datamap.Column{plain("id"), plain(parent + "_id")}, columns...),
		Relations: []datamap.Relation{
			{Columns: []string{parent + "_id"}, References: parent, ReferencedColumns: []string{"id"}},
		},
	}
}

func owned(table datamap.Table) datamap.Table {
	table.Owned = true
	return table
}

// change returns a table with an alteration.
func change(table datamap.Table, alter func(*datamap.Table)) datamap.Table {
	alter(&table)
	return table
}

// printed prints steps as "table:strategy(columns)".
func printed(steps []datamap.Step) string {
	var list []string
	for _, step := range steps {
		text := step.Target + ":" + string(step.Strategy)
		if len(step.Columns) > 0 {
			text += "(" + strings.Join(step.Columns, ",") + ")"
		}
		if step.External {
			text = "external " + text
		}
		list = append(list, text)
	}
	return strings.Join(list, " ")
}

func TestAPlanFollowsTheAnnotations(t *testing.T) {
	link := child("memberships", "users")
	link.PrimaryKey = []string{"users_id", "groups_id"}
	link.Columns = []datamap.Column{plain("users_id"), plain("groups_id")}
	orders := func(columns ...datamap.Column) datamap.Table { return child("orders", "users", columns...) }
	for name, c := range map[string]struct {
		table datamap.Table // in addition to users, which has a column to anonymize
		want  string
	}{
		"nothing annotated": {orders(plain("note")), ""},
		"all annotated, and all says delete": {
			orders(personal("note", del), personal("name", del)), "orders:delete",
		},
		"all annotated, and says delete or erase": {
			orders(personal("note", del), personal("name", wipe)), "orders:delete",
		},
		"no strategy means erase":     {orders(personal("note", "")), "orders:delete"},
		"one column is not annotated": {orders(personal("note", wipe), plain("total")), "orders:anonymize(note)"},
		"one column says anonymize": {
			orders(personal("note", wipe), personal("name", anon)), "orders:anonymize(note,name)",
		},
		"one column says null": {orders(personal("note", wipe), personal("name", null)), "orders:anonymize(note,name)"},
		"one column says retain": {
			orders(personal("note", wipe), personal("vat", keep)), "orders:anonymize(note) orders:retain(vat)",
		},
		"every strategy, in mixed order": {
			orders(personal("vat", keep), personal("b", wipe), personal("iban", keep), personal("c", null),
				personal("a", anon)),
			"orders:anonymize(b,c,a) orders:retain(vat,iban)",
		},
		"only retained":                 {orders(personal("vat", keep), plain("total")), "orders:retain(vat)"},
		"owned, with a plain column":    {owned(orders(personal("note", del), plain("total"))), "orders:delete"},
		"owned, with nothing annotated": {owned(orders(plain("total"))), "orders:delete"},
		"owned, but one is anonymized":  {owned(orders(personal("note", anon), plain("total"))), "orders:anonymize(note)"},
		"owned, but one is retained": {
			owned(orders(personal("vat", keep), personal("note", wipe))), "orders:anonymize(note) orders:retain(vat)",
		},
		"a link table":        {link, ""},
		"an owned link table": {owned(link), "memberships:delete"},
		"keys annotated, too, in deleted rows": {
			change(orders(), func(o *datamap.Table) {
				o.Columns[0], o.Columns[1] = personal("id", del), personal("users_id", del)
			}), "orders:delete",
		},
		"a foreign key out of the map": {
			change(orders(personal("note", del), plain("country")), func(o *datamap.Table) {
				o.Relations = append(o.Relations, datamap.Relation{
					Columns: []string{"country"}, References: "countries", ReferencedColumns: []string{"code"},
				})
			}), "orders:delete",
		},
		"a self-reference": {
			change(orders(personal("note", del), plain("replaces")), func(o *datamap.Table) {
				o.Relations = append(o.Relations, datamap.Relation{
					Columns: []string{"replaces"}, References: "orders", ReferencedColumns: []string{"id"},
				})
			}), "orders:delete",
		},
		"a retained key": {
			change(orders(), func(o *datamap.Table) { o.Columns[0] = personal("id", keep) }), "orders:retain(id)",
		},
	} {
		want := strings.TrimSpace(c.want + " users:anonymize(email)")
		plan, err := planFor(t, nil, users(personal("email", anon)), c.table)
		if got := printed(plan.Steps); err != nil || got != want {
			t.Errorf("%s: got %q, %v, want %q", name, got, err, want)
		}
	}
}

// planFor builds the data map, which must be valid, and plans its erasure.
func planFor(tb testing.TB, resolverNames []string, tables ...datamap.Table) (datamap.Plan, error) {
	tb.Helper()
	m := fixture.MustMap(tb, tables...)
	return erasure.Planner{}.Plan(m, resolverNames)
}

func TestTheSubjectsOwnRowFollowsTheSameRules(t *testing.T) {
	for want, subject := range map[string]datamap.Table{
		"":                       users(plain("theme")),
		"users:delete":           users(personal("email", del)),
		"users:anonymize(email)": users(personal("email", wipe), plain("theme")),
		"users:retain(vat)":      users(personal("vat", keep)),
	} {
		plan, err := planFor(t, nil, subject)
		if got := printed(plan.Steps); err != nil || got != want {
			t.Errorf("got %q, %v, want %q", got, err, want)
		}
	}
	plan, err := planFor(t, nil, owned(users(plain("theme"))))
	if got := printed(plan.Steps); err != nil || got != "users:delete" {
		t.Errorf("got %q, %v", got, err)
	}
}

func TestChildrenComeFirstTheSubjectLastAndThenTheResolvers(t *testing.T) {
	plan, err := planFor(t, []string{"mail", "desk"},
		users(personal("email", anon)),
		child("orders", "users", personal("vat", keep), personal("note", wipe)),
		child("apples", "users", personal("kind", del)),
		child("items", "orders", personal("text", del)))
	want := "apples:delete items:delete orders:anonymize(note) orders:retain(vat) users:anonymize(email) " +
		"external mail:delete external desk:delete"
	if got := printed(plan.Steps); err != nil || got != want {
		t.Errorf("\n got %q, %v\nwant %q", got, err, want)
	}
}

func TestASurvivorBelowDeletedRowsIsRefused(t *testing.T) {
	gone := users(personal("email", del))
	for name, c := range map[string]struct {
		tables []datamap.Table
		code   domain.Code
		named  []string
	}{
		"a retained column": {
			[]datamap.Table{gone, child("orders", "users", personal("vat", keep))},
			domain.ErrRetention,
			[]string{"orders.vat", "users"},
		},
		"a retained column among others": {
			[]datamap.Table{gone, child("orders", "users", personal("note", wipe), personal("vat", keep), plain("total"))},
			domain.ErrRetention,
			[]string{"orders.vat", "users"},
		},
		"an anonymized column": {
			[]datamap.Table{gone, child("orders", "users", personal("note", anon))},
			domain.ErrManifest,
			[]string{"orders", "users"},
		},
		"a plain column": {
			[]datamap.Table{gone, child("orders", "users", personal("note", wipe), plain("total"))},
			domain.ErrManifest,
			[]string{"orders", "users"},
		},
		"nothing annotated": {
			[]datamap.Table{gone, child("orders", "users")},
			domain.ErrManifest,
			[]string{"orders", "users"},
		},
		"deleted rows halfway": {
			[]datamap.Table{
				users(personal("email", anon)),
				child("orders", "users", personal("note", del)), child("items", "orders", personal("vat", keep)),
			},
			domain.ErrRetention,
			[]string{"items.vat", "orders"},
		},
		"deleted rows two hops away": {
			[]datamap.Table{
				owned(users()),
				child("orders", "users", personal("vat", keep)), child("items", "orders", personal("vat", keep)),
			},
			domain.ErrRetention,
			[]string{"items.vat", "users"},
		},
	} {
		plan, err := planFor(t, nil, c.tables...)
		wantRefusal(t, name, plan, err, c.code, c.named...)
	}
}

// wantRefusal fails the test unless err has only the given code and its text contains the given names.
func wantRefusal(tb testing.TB, name string, plan datamap.Plan, err error, code domain.Code, named ...string) {
	tb.Helper()
	var coded *domain.Error
	if !errors.As(err, &coded) || coded.Code != code || len(plan.Steps) > 0 {
		tb.Errorf("%s: got %q, %v, want the code %q", name, printed(plan.Steps), err, code)
		return
	}
	for _, what := range named {
		if !strings.Contains(err.Error(), what) {
			tb.Errorf("%s: %q does not name %s", name, err, what)
		}
	}
}

func TestKeysOfSurvivingRowsAreNeverOverwritten(t *testing.T) {
	survivor := func(alter func(*datamap.Table)) datamap.Table {
		return change(child("orders", "users", plain("number"), plain("total")), alter)
	}
	subject := users(personal("email", anon))
	for name, c := range map[string]struct {
		tables []datamap.Table
		named  string
	}{
		"a primary key": {[]datamap.Table{subject, survivor(func(o *datamap.Table) {
			o.Columns[0] = personal("id", wipe)
		})}, "orders.id"},
		"a foreign key": {[]datamap.Table{subject, survivor(func(o *datamap.Table) {
			o.Columns[1] = personal("users_id", anon)
		})}, "orders.users_id"},
		"a part of a composite primary key": {[]datamap.Table{subject, survivor(func(o *datamap.Table) {
			o.PrimaryKey = []string{"id", "number"}
			o.Columns[2] = personal("number", anon)
		})}, "orders.number"},
		"a foreign key out of the map": {[]datamap.Table{subject, survivor(func(o *datamap.Table) {
			o.Columns[2] = personal("number", null)
			o.Relations = append(o.Relations, datamap.Relation{
				Columns: []string{"number"}, References: "numbers", ReferencedColumns: []string{"number"},
			})
		})}, "orders.number"},
		"a separate subject key": {[]datamap.Table{change(users(personal("login", anon)), func(u *datamap.Table) {
			u.SubjectKey = []string{"login"}
		})}, "users.login"},
		"a column that another table refers to": {[]datamap.Table{
			users(personal("login", anon)),
			change(child("orders", "users"), func(o *datamap.Table) { o.Relations[0].ReferencedColumns = []string{"login"} }),
		}, "users.login"},
	} {
		plan, err := planFor(t, nil, c.tables...)
		wantRefusal(t, name, plan, err, domain.ErrManifest, c.named)
	}
}

func TestAPlanSharesNoMemory(t *testing.T) {
	m := fixture.MustMap(t, users(personal("email", anon)))
	names := []string{"desk"}
	plan, err := erasure.Planner{}.Plan(m, names)
	if err != nil {
		t.Fatal(err)
	}
	names[0], plan.Steps[0].Columns[0] = "changed", "changed"
	again, err := erasure.Planner{}.Plan(m, []string{"desk"})
	if err != nil || plan.Steps[1].Target != "desk" || !slices.Equal(again.Steps[0].Columns, []string{"email"}) {
		t.Errorf("got %q, and then %q, %v", printed(plan.Steps), printed(again.Steps), err)
	}
}

func TestAnEmptyPlanHasAnEmptyList(t *testing.T) {
	plan, err := planFor(t, nil, users(plain("theme")))
	if err != nil || plan.Steps == nil {
		t.Errorf("got %#v, %v", plan.Steps, err)
	}
}

func TestRetainedRowsThatReferToDeletedRowsOffThePathAreRefused(t *testing.T) {
	orders := change(child("orders", "users", personal("vat", keep), plain("session_id")), func(o *datamap.Table) {
		o.Relations[0].Path = true
		o.Relations = append(o.Relations, datamap.Relation{
			Columns: []string{"session_id"}, References: "sessions", ReferencedColumns: []string{"id"},
		})
	})
	plan, err := planFor(t, nil, users(personal("email", anon)), child("sessions", "users", personal("agent", del)),
		orders)
	wantRefusal(t, "a foreign key off the path", plan, err, domain.ErrRetention, "orders.vat", "sessions")
}

func TestTheDatabaseMustNotClearAColumnThatStays(t *testing.T) {
	with := func(adjust func(o *datamap.Table)) datamap.Table {
		return change(child("orders", "users", personal("vat", keep), plain("session_id")), func(o *datamap.Table) {
			o.Relations[0].Path = true
			o.Relations = append(o.Relations, datamap.Relation{
				Columns: []string{"session_id"}, References: "sessions", ReferencedColumns: []string{"id"}, SetsNull: true,
			})
			adjust(o)
		})
	}
	sessions := child("sessions", "users", personal("agent", del))
	for name, test := range map[string]struct {
		orders datamap.Table
		code   domain.Code // empty if it is accepted
	}{
		"a column of no meaning": {with(func(*datamap.Table) {}), ""},
		"a retained column": {with(func(o *datamap.Table) {
			o.Relations[1].Columns = []string{"vat"}
		}), domain.ErrRetention},
		"a column of the primary key": {with(func(o *datamap.Table) {
			o.PrimaryKey = append(o.PrimaryKey, "session_id")
		}), domain.ErrManifest},
		"a column of the path": {with(func(o *datamap.Table) {
			o.Relations[1].Columns = o.Relations[0].Columns
		}), domain.ErrManifest},
	} {
		t.Run(name, func(t *testing.T) {
			plan, err := planFor(t, nil, users(personal("email", anon)), sessions, test.orders)
			if test.code != "" {
				wantRefusal(t, name, plan, err, test.code, "orders", "sessions")
			} else if err != nil {
				t.Error(err)
			}
		})
	}
}
