package scaffold_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/habeas-data/habeas/adapters/persistence/memory"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/tool/scaffold"
)

const before = `
	users: id*, email, status
	notes: id*, user_id, body
	tags: id*, title
	logins: id*, user_id>users=cascade, ip`

// answered returns the data map of the schema before, in which a person has answered the questions about tables.
func answered(t *testing.T, answers map[string]string) datamap.DataMap {
	t.Helper()
	p := propose(t, schema(before))
	tables := p.Tables
	for i, d := range p.Decisions {
		if answer := answers[d.Object]; answer != "" && len(d.Columns) == 0 {
			var err error
			tables, err = d.Apply(tables, answer)
			must(t, err)
			p.Decisions[i].Answer, p.Decisions[i].Because = answer, "as told"
		}
	}
	m, err := datamap.NewDataMap(tables...)
	must(t, err)
	return m.WithDecisions(p.Decisions...)
}

func update(t *testing.T, former datamap.DataMap, text string) proposed {
	t.Helper()
	p, err := scaffold.Update(t.Context(), memory.NewSchema(schema(text)), former, scaffold.Options{})
	must(t, err)
	m, err := p.DataMap()
	must(t, err)
	return proposed{Proposal: p, dataMap: m, plan: plan(t, "update", p.Tables)}
}

func TestAnUpdateKeepsTheAnswersAndAsksWhatIsNew(t *testing.T) {
	former := answered(t, map[string]string{"users": "keep", "notes": "overwrite", "tags": "not-about-people"})
	p := update(t, former, before)
	if got := len(p.Tables); got != 3 || p.question(t, "notes").Answer != "overwrite" ||
		p.question(t, "tags").Because != "as told" || p.question(t, "users").Answer != "keep" {
		t.Errorf("without a change, the answers are %+v", p.Decisions)
	}
	p = update(t, former, `
		users: id*, email, status, phone, mood
		notes: id*, user_id, body, mood
		tags: id*, title, maker_id
		logins: id*, user_id>users=cascade, ip
		visits: id*, user_id>users=cascade, place
		pins: id*, user_id, label`)
	var open []string
	for _, d := range p.Decisions {
		if d.IsOpen() {
			open = append(open, strings.TrimSuffix(d.Object+"."+strings.Join(d.Columns, "+"), "."))
		}
	}
	slices.Sort(open)
	if got := strings.Join(open, " "); got != "notes.mood pins tags users.mood users.status" {
		t.Errorf("the open questions are %s", got)
	}
	phone, _ := p.dataMap.SubjectTable().Column("phone")
	if _, ok := p.dataMap.Table("visits"); !ok || phone.Personal == nil {
		t.Errorf("what the schema gives to the person is new: %+v", phone)
	}
	if tags := p.question(t, "tags"); !strings.Contains(tags.Question, "new: maker_id") || tags.Because != "as told" {
		t.Errorf("the question is %q", tags.Question)
	}
}

func TestAnUpdateOfADataMapWithoutDecisionsAsksAboutTheOtherTables(t *testing.T) {
	m, err := datamap.NewDataMap(datamap.Table{
		Name: "users", PrimaryKey: []string{"id"}, SubjectKey: []string{"id"},
		Columns: []datamap.Column{{Name: "id", Type: datamap.TypeBigInt}, {Name: "email", Type: datamap.TypeText}},
	})
	must(t, err)
	p := update(t, m, before)
	if len(p.Tables) != 2 || p.question(t, "notes").Answer != "" {
		t.Errorf("the questions are %v", p.questions())
	}
}

func TestAnUpdateOffersToOverwriteANewColumn(t *testing.T) {
	former := answered(t, map[string]string{"users": "keep", "notes": "overwrite", "tags": "elsewhere"})
	p := update(t, former, strings.Replace(before, "body", "body, extra", 1))
	for _, d := range p.Decisions {
		if d.Object == "notes" && len(d.Columns) == 1 {
			tables, err := d.Apply(p.Tables, "overwrite")
			must(t, err)
			m, err := datamap.NewDataMap(tables...)
			must(t, err)
			notes, _ := m.Table("notes")
			if c, _ := notes.Column("extra"); c.Personal == nil {
				t.Errorf("got %+v", c)
			}
			return
		}
	}
	t.Errorf("nobody asks about the column: %v", p.questions())
}
