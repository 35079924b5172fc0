package scaffold_test

import (
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/habeas-data/habeas/adapters/persistence/memory"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/domain/erasure"
	"github.com/habeas-data/habeas/tool/scaffold"
)

// knownOf returns the tables of the schema with their columns.
func knownOf(catalog datamap.Catalog) map[string][]string {
	known := map[string][]string{}
	for _, table := range catalog.Tables {
		known[table.Name] = []string{}
		for _, c := range table.Columns {
			known[table.Name] = append(known[table.Name], c.Name)
		}
	}
	return known
}

func plan(m datamap.DataMap) (datamap.Plan, error) { return erasure.Planner{}.Plan(m, nil) }

func update(
	t *testing.T, catalog datamap.Catalog, tables []datamap.Table, known map[string][]string, include ...string,
) proposed {
	t.Helper()
	m, err := datamap.NewDataMap(tables...)
	if err != nil {
		t.Fatal(err)
	}
	former := scaffold.Former{DataMap: m, Known: known, Plan: plan}
	p, err := scaffold.Update(t.Context(), memory.NewSchema(catalog), former, scaffold.Options{Include: include})
	if err != nil {
		t.Fatal(err)
	}
	m, err = datamap.NewDataMap(p.Tables...)
	if err != nil {
		t.Fatal(err)
	}
	planned, err := plan(m)
	if err != nil {
		t.Fatal(err)
	}
	return proposed{p, m, planned}
}

const former = users + `
	posts: id*, user_id>users, board_id>boards, body
	boards: id*, name
	sessions: id*, user_id>users, token
	flags: id*, user_id>users, color`

func TestAnUpdateAddsWhatIsNew(t *testing.T) {
	first := propose(t, schema(former))
	catalog := schema(`
		users: id*, email, phone, theme
		posts: id*, user_id>users, board_id>boards, body, note, rank:integer
		boards: id*, name
		sessions: id*, user_id>users, token, ip
		flags: id*, user_id>users, color
		teams: id*, owner_id>users, name
		follows: id*, follower_id>users, followee_id>users`)
	p := update(t, catalog, first.Tables, knownOf(schema(former)))
	wantLines(t, p.steps(), `
		delete flags
		delete follows via Follower
		delete follows via Followee
		anonymize posts body note
		delete sessions
		anonymize users email phone
	`)
	if table, _ := p.dataMap.Table("sessions"); table.Columns[3].Name != "ip" || table.Columns[3].Personal == nil {
		t.Errorf("sessions are %+v", table.Columns)
	}
	if !slices.Equal(p.asked(), []string{"follows", "teams"}) {
		t.Errorf("asked about %v", p.asked())
	}
}

func TestAnUpdateLeavesOutWhatAPersonHasLeftOut(t *testing.T) {
	first := propose(t, schema(former))
	tables := slices.DeleteFunc(first.Tables, func(table datamap.Table) bool { return table.Name == "flags" })
	p := update(t, schema(former), tables, knownOf(schema(former)))
	if _, ok := p.dataMap.Table("flags"); ok || len(p.Decisions) > 1 {
		t.Errorf("the steps are %v, the decisions %v", p.steps(), p.Decisions)
	}
	for _, include := range [][]string{nil, {"flags"}} { // nothing is known, or the person has changed her mind
		known := knownOf(schema(former))
		if include == nil {
			known = nil
		}
		if p = update(t, schema(former), tables, known, include...); !slices.Contains(p.steps(), "delete flags") {
			t.Errorf("include %v: the steps are %v", include, p.steps())
		}
	}
}

func TestAnUpdateDoesNotChangeOtherErasures(t *testing.T) {
	table := datamap.Table{
		Name: "visits", PrimaryKey: []string{"id"}, Columns: []datamap.Column{
			{Name: "id", Type: datamap.TypeBigInt},
			{Name: "user_id", Type: datamap.TypeBigInt},
			{Name: "ip", Type: datamap.TypeText, Personal: &datamap.Annotation{Category: domain.CategoryTechnical}},
		},
		Relations: []datamap.Relation{{Columns: []string{"user_id"}, References: "users", ReferencedColumns: []string{"id"}}},
	}
	catalog := schema(users + `visits: id*, user_id>users, ip, color`)
	tables := append(propose(t, schema(users)).Tables, table)
	p := update(t, catalog, tables, nil) // with a column that is not annotated, the rows would stay
	wantLines(t, p.steps(), `
		delete visits
		anonymize users email
	`)
	if !slices.Equal(p.asked(), []string{"visits.color"}) {
		t.Errorf("asked about %v", p.asked())
	}
}

// TestAnUpdateKeepsEachDecision draws a draft, changes it as a person might, changes the schema, and updates the draft.
func TestAnUpdateKeepsEachDecision(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		former := catalogs().Draw(t, "catalog")
		draft, err := scaffold.Propose(t.Context(), memory.NewSchema(former), scaffold.Options{SubjectTable: "users"})
		if err != nil {
			t.Skip()
		}
		m := decide(t, draft)
		mine := scaffold.Former{DataMap: m, Known: knownOf(former), Plan: plan}
		same, err := scaffold.Update(t.Context(), memory.NewSchema(former), mine, scaffold.Options{})
		if err != nil || !reflect.DeepEqual(same.Tables, m.Declared()) {
			t.Fatalf("an update of the same schema changes the data map: %v", err)
		}
		latter := catalogs().Draw(t, "changed catalog")
		updated, err := scaffold.Update(t.Context(), memory.NewSchema(latter), mine, scaffold.Options{})
		if err != nil {
			return // the table of the subject is gone
		}
		latterMap, err := datamap.NewDataMap(updated.Tables...)
		if err != nil {
			t.Fatal(err)
		}
		for i, table := range m.Declared() {
			is := updated.Tables[i]
			is.Columns = is.Columns[:min(len(table.Columns), len(is.Columns))]
			if !reflect.DeepEqual(is, table) {
				t.Fatalf("the table changes from\n%+v to\n%+v", table, is)
			}
			for _, path := range m.Paths(table.Name) {
				if m.RowsDeleted(table, path) != latterMap.RowsDeleted(updated.Tables[i], path) {
					t.Fatalf("the fate of the rows of %s changes", table.Name)
				}
			}
		}
	})
}

// decide changes the proposed data map as a person might, and returns it if it is still valid.
func decide(t *rapid.T, draft scaffold.Proposal) datamap.DataMap {
	original, err := datamap.NewDataMap(draft.Tables...)
	if err != nil {
		t.Fatal(err)
	}
	var tables []datamap.Table
	for i, table := range draft.Tables {
		if i > 0 && rapid.IntRange(0, 4).Draw(t, "leave the table out") == 0 {
			continue
		}
		table.Columns = slices.Clone(table.Columns)
		table.Note = rapid.SampledFrom([]string{table.Note, "", "decided"}).Draw(t, "note")
		if table.Owned && rapid.Bool().Draw(t, "keep the rows") {
			table.Owned = false
		}
		for j, c := range table.Columns {
			if rapid.IntRange(0, 3).Draw(t, "not personal") == 0 {
				c.Personal, c.Surrogate, c.NotPersonal = nil, "", true
			}
			table.Columns[j] = c
		}
		tables = append(tables, table)
	}
	m, err := datamap.NewDataMap(tables...)
	if err != nil {
		return original
	}
	if _, err := plan(m); err != nil {
		return original
	}
	return m
}

func TestAnUpdateRefusesAnIncludedTableThatDoesNotFit(t *testing.T) {
	catalog := schema(users + `
		projects: id*, owner_id>users, name
		members: id*, project_id>projects, email`)
	m, err := datamap.NewDataMap(propose(t, catalog, scaffold.Options{SubjectTable: "users"}).Tables...)
	if err != nil {
		t.Fatal(err)
	}
	former, options := scaffold.Former{DataMap: m, Known: knownOf(catalog), Plan: plan}, scaffold.Options{
		Include: []string{"members"},
	}
	_, err = scaffold.Update(t.Context(), memory.NewSchema(catalog), former, options)
	if !errors.Is(err, domain.ErrInvalid) || !strings.Contains(err.Error(), "members") {
		t.Errorf("got %v", err)
	}
}

func TestANewColumnInATableThatIsLeftOutIsAsked(t *testing.T) {
	before := users + `
		sessions: id*, user_id>users=cascade, token
		boards: id*, title, created_by?:bigint>users=set_null
		labels: id*, color
		schema_migrations: id*, version`
	after := users + `
		sessions: id*, user_id>users=cascade, token
		boards: id*, title, created_by?:bigint>users=set_null, guest_email?, guest_phone?
		labels: id*, color, watchers:array?
		schema_migrations: id*, version, dirty`
	for _, composite := range []bool{false, true} {
		if composite {
			change := strings.NewReplacer(">users", ">users/tenant_id", "id*,", "id*, tenant_id,", "users: id*", "users: id*")
			before, after = change.Replace(before), change.Replace(after)
		}
		first := propose(t, schema(before))
		p := update(t, schema(after), first.Tables, knownOf(schema(before)))
		for table, columns := range map[string]string{"boards": "(guest_email, guest_phone)", "labels": "(watchers)"} {
			if asked := p.questionsAbout(table, columns); len(asked) != 1 {
				t.Errorf("composite: %t: asked about %s: %v", composite, table, p.Decisions)
			}
		}
		if len(p.Decisions) != 2 {
			t.Errorf("asked %v", p.Decisions)
		}
		if again := update(t, schema(after), p.Tables, knownOf(schema(after))); len(again.Decisions) != 0 {
			t.Errorf("asked again: %v", again.Decisions)
		}
	}
}
