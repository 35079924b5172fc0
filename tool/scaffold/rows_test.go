package scaffold_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/habeas-data/habeas/adapters/persistence/memory"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/tool/scaffold"
)

func TestOnlyRowsThatTheSchemaGivesToAPersonComeIn(t *testing.T) {
	for name, test := range map[string]struct{ tables, want string }{
		"a cascade that is not NULL":  {"logins: id*, user_id>users=cascade, ip", "logins"},
		"a key that is the reference": {"settings: user_id*>users, theme", "settings"},
		"their children": {
			"logins: id*, user_id>users=cascade\nsteps: id*, login_id>logins=cascade, x", "logins steps",
		},
		"a cascade that can be NULL":    {"logins: id*, user_id?>users=cascade, ip", ""},
		"a reference without an action": {"logins: id*, user_id>users, ip", ""},
		"no foreign key":                {"logins: id*, user_id, ip", ""},
		"no key":                        {"logins: user_id>users=cascade, ip", ""},
		"a second person":               {"logins: id*, user_id>users=cascade, admin_id?>users=set_null", ""},
		"another possible key":          {"logins: id*, user_id>users=cascade, notifiable_id", ""},
		"bookkeeping":                   {"invoices: id*, user_id>users=cascade, note", ""},
		"a key of another system":       {"logins: id*, user_id>users=cascade, external_id:text", ""},
		"replies":                       {"notes: id*, user_id>users=cascade, note_id?>notes", ""},
		"rows with members": {
			"clubs: id*, user_id>users=cascade, title\nmembers: id*, club_id>clubs=cascade, user_id>users=cascade", "",
		},
		"members of a part": {
			"clubs: id*, user_id>users=cascade\nrooms: id*, club_id>clubs=cascade\n" +
				"seats: id*, room_id>rooms=cascade, user_id>users", "",
		},
		"children that stay": {"logins: id*, user_id>users=cascade\nsteps: id*, login_id?>logins=set_null, x", ""},
		"people who refer to it": {
			"logins: id*, user_id>users=cascade\ntokens: id*, login_id>logins=cascade, owner_id", "",
		},
	} {
		p := propose(t, schema("users: id*, email\n"+test.tables))
		var tables []string
		for _, m := range p.Tables[1:] {
			tables = append(tables, m.Name)
			if !m.RowsDeleted() || len(m.Columns) != len(m.Personal())+len(m.PrimaryKey)+1 &&
				!strings.Contains(name, "key that") {
				t.Errorf("%s: %+v", name, m)
			}
		}
		if strings.Join(tables, " ") != test.want {
			t.Errorf("%s: the data map has %v, want %s", name, tables, test.want)
		}
	}
}

func TestAQuestionOffersEachPathAndNamesTheHarm(t *testing.T) {
	for _, test := range []struct {
		tables, options string // of the first table
		says, saysNot   []string
	}{
		{
			"calls: id*, user_id, note", "overwrite delete keep",
			[]string{"lead to people by user_id", "personal: note"},
			[]string{"other people", "several people"},
		},
		{"calls: id*, user_id?, at:time", "without delete", nil, []string{"other people"}},
		{"bills: id*, user_id>users, note", "keep overwrite delete", []string{"The word bill"}, []string{"other people"}},
		{
			"calls: id*, sender_id>users, recipient_id?>users, note",
			"overwrite:sender_id overwrite:recipient_id without:recipient_id delete:sender_id delete:recipient_id " +
				"keep:sender_id keep:recipient_id several",
			[]string{"several people (sender_id, recipient_id)"},
			nil,
		},
		{
			"calls: id*, user_id, size:bigint, note",
			"overwrite overwrite:size delete delete:size keep keep:size",
			[]string{"the type of a key, too: size"},
			[]string{"other people"},
		},
		{
			"calls: id*, size:bigint, thing_id?, note",
			"overwrite overwrite:size without delete delete:size keep keep:size", nil, nil,
		},
		{"calls: id*, thing_id, note", "overwrite delete keep", []string{"If thing_id holds other keys"}, nil},
		{"calls: id*, members:array, note", "", []string{"Are its rows about people?"}, []string{"other people"}},
		{
			"calls: id*, project_id, note\nprojects: id*, owner_id, title\nmembers: id*, project_id, user_id",
			"overwrite delete keep",
			[]string{"project_id (through projects)", "People share rows of projects (members.user_id)"},
			nil,
		},
		{
			"calls: id*, user_id, note\nparts: id*, call_id, author_id", "overwrite delete keep",
			[]string{"Rows of other people refer to its rows (parts.author_id)"},
			nil,
		},
		{
			"calls: id*, owner_type, owner_id, note", "overwrite delete keep", []string{"where owner_type is User"}, nil,
		},
		{"customers: id*, email", "", []string{"--name customers"}, nil},
		{"calls: user_id, note", "", []string{"has no key"}, []string{"other people"}},
	} {
		p := propose(t, schema("users: id*, email\n"+test.tables), scaffold.Options{SubjectTable: "users"})
		name, _, _ := strings.Cut(test.tables, ":")
		decision := p.question(t, name)
		var options []string
		for _, option := range decision.Options {
			options = append(options, option.Name)
		}
		if got := strings.Join(options, " "); got != strings.TrimSpace(test.options+" elsewhere not-about-people") {
			t.Errorf("%s: the options are %s", test.tables, got)
		}
		for _, says := range test.says {
			if !strings.Contains(decision.Question, says) {
				t.Errorf("%s: %q is not in %q", test.tables, says, decision.Question)
			}
		}
		for _, says := range test.saysNot {
			if strings.Contains(decision.Question, says) {
				t.Errorf("%s: %q is in %q", test.tables, says, decision.Question)
			}
		}
	}
}

func TestAnOptionIsTheEditThatItsNameSays(t *testing.T) {
	p := propose(t, schema(`
		users: id*, email
		calls: id*, user_id>users, approved_by:bigint?>users, token, note, at:time
		parts: id*, call_id>calls=cascade, body`))
	for option, want := range map[string]string{
		"overwrite:user_id":   "anonymize calls token note",
		"without:approved_by": "anonymize calls",
		"delete:user_id":      "delete calls",
		"keep:user_id":        "retain calls token note",
		"several":             "anonymize calls via user_id token note",
	} {
		tables, err := p.question(t, "calls").Apply(p.Tables, option)
		must(t, err)
		planned := proposed{plan: plan(t, option, tables)}
		if steps := planned.steps(); steps[0] != want {
			t.Errorf("%s: the plan is %v", option, steps)
		}
	}
	tables, err := p.question(t, "parts").Apply(p.Tables, "overwrite")
	must(t, err)
	m, err := datamap.NewDataMap(tables...)
	must(t, err)
	if calls, _ := m.Table("calls"); len(calls.Personal()) != 0 || len(calls.Columns) != 2 {
		t.Errorf("a table on the path has its keys only: %+v", calls)
	}
	tables, err = p.question(t, "calls").Apply(p.Tables, "delete:user_id")
	must(t, err)
	for _, column := range tables[1].Columns {
		isHidden := column.Personal != nil && column.Personal.Export == datamap.ExportNo
		if isHidden != (column.Name == "token") {
			t.Errorf("an export shows %s: %+v", column.Name, column.Personal)
		}
	}
}

// The row without the person has none of her addresses, but what she wrote. If it may be about several people, nobody
// knows whose address it has.
func TestARowWithoutThePersonKeepsWhatSheWrote(t *testing.T) {
	p := propose(t, schema(`
		users: id*, email
		papers: id*, author_id?>users=set_null, email?, note
		memos: id*, author_id?>users=set_null, reader_id>users, email?, note
		replies: id*, paper_id?>papers=set_null, email?`))
	for option, want := range map[string]string{
		"papers without": "anonymize papers email", "memos without:author_id": "anonymize memos",
		"replies without": "anonymize replies",
	} {
		table, option, _ := strings.Cut(option, " ")
		tables, err := p.question(t, table).Apply(p.Tables, option)
		must(t, err)
		if steps := (proposed{plan: plan(t, option, tables)}).steps(); steps[0] != want {
			t.Errorf("%s: the plan is %v", table, steps)
		}
	}
}

func TestWhatRefersToADeletedRowOfItsOwnTableIsCleared(t *testing.T) {
	p := propose(t, schema("users: id*, email\nnotes: id*, user_id>users, note_id?>notes, body"))
	tables, err := p.question(t, "notes").Apply(p.Tables, "delete")
	must(t, err)
	if steps := plan(t, "delete", tables).Steps; len(steps) != 3 || !steps[0].Self {
		t.Errorf("the plan is %+v", steps)
	}
}

func TestAUniqueColumnGetsADifferentSurrogateInEachRow(t *testing.T) {
	p := propose(t, schema("users: id*, email!, username:text(20)!, phone:text(5)!, fax:text(5)?!, city"))
	for column, want := range map[string]string{
		"email": "anonymize {}@erased.invalid", "username": "anonymize ", "phone": "", "fax": "null ", "city": "anonymize ''",
	} {
		c, got := p.column(t, "users."+column), ""
		if c.Personal != nil {
			got = string(c.Personal.Strategy) + " " + c.Surrogate
		}
		if got != want {
			t.Errorf("%s: %q, want %q", column, got, want)
		}
	}
}

func TestOnlyAQuestionWithoutHarmCanBeIncluded(t *testing.T) {
	const tables = `
		users: id*, email
		projects: id*, owner_id, title
		members: id*, project_id, user_id
		notifications: id*, project_id, notification:json
		notes: id*, user_id, body
		tags: id*, title
		rates: id*, x:number
		logins: id*, user_id>users=cascade, ip`
	p := propose(t, schema(tables), scaffold.Options{Include: []string{"notes", "logins"}})
	notes, ok := p.dataMap.Table("notes")
	if !ok || len(notes.Personal()) != 1 || p.question(t, "notes").Answer != "overwrite" {
		t.Errorf("notes is not in the data map: %+v", notes)
	}
	for table, says := range map[string]string{
		"notifications": "overwrite, delete, keep", "members": "delete:user_id", "tags": "not-about-people",
		"rates": "not in question", "unknown": "is not a table",
	} {
		options := scaffold.Options{Include: []string{table}}
		_, err := scaffold.Propose(t.Context(), memory.NewSchema(schema(tables)), options)
		if !errors.Is(err, domain.ErrInvalid) || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: got %v", table, err)
		}
	}
}

func TestThePersonsRowIsAskedAbout(t *testing.T) {
	p := propose(t, schema(`
		users: id*, email!, password, remember_token?, prefs:json, role:enum(admin|deleted), is_admin:boolean,
		active:boolean, banned_at:time?, level:bigint, hint, parent_id?>users
		logins: id*, user_id>users=cascade, ip
		posts: id*, user_id>users, body`))
	wantLines(t, p.questions()[:8], `
		users keep delete
		users.password overwrite not-personal
		users.remember_token+prefs overwrite not-personal
		users.is_admin always:false not-personal
		users.role always:deleted always:admin not-personal
		users.active always:false not-personal
		users.banned_at always:1970-01-01 not-personal
		users.hint overwrite not-personal`)
	row := p.question(t, "users")
	for _, says := range []string{"logins.user_id", "posts.user_id", "refuses"} {
		if !strings.Contains(row.Question, says) {
			t.Errorf("%q is not in %q", says, row.Question)
		}
	}
	tables, err := row.Apply(p.Tables, "delete")
	must(t, err)
	steps := (proposed{plan: plan(t, "delete", tables)}).steps()
	if !strings.HasPrefix(steps[len(steps)-1], "delete users") {
		t.Errorf("the plan is %v", steps)
	}
	for _, d := range p.Decisions {
		if len(d.Columns) == 1 && d.Columns[0] == "banned_at" {
			tables, err := d.Apply(p.Tables, "always:1970-01-01")
			must(t, err)
			if c, _ := tables[0].Column("banned_at"); !c.Always || c.Surrogate != "1970-01-01" {
				t.Errorf("got %+v", c)
			}
		}
	}
}

func TestARoleFallsBackToWhatEverybodyHas(t *testing.T) {
	catalog := schema("users: id*, email, role")
	catalog.Tables[0].Columns[2].Initial = "reader"
	if got := propose(t, catalog).questions(); got[1] != "users.role always:reader not-personal" {
		t.Errorf("got %v", got)
	}
}

func TestAnotherSchemaIsOneQuestion(t *testing.T) {
	catalog := schema("users: id*, email\nlegacy.a: id*, user_id, name\nlegacy.b: id*, name")
	for i := range 2 {
		catalog.Tables[1+i].Schema = "legacy"
	}
	p := propose(t, catalog)
	if got := p.questions(); got[len(got)-1] != "legacy.* elsewhere not-about-people" || len(got) != 2 {
		t.Errorf("got %v", got)
	}
}
