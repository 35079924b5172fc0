package scaffold_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/ports"
	"github.com/habeas-data/habeas/tool/scaffold"
)

// checkOffers fails the test if a person cannot choose an option of a decision.
func checkOffers(
	t interface{ Fatalf(string, ...any) }, propose func(scaffold.Options) (scaffold.Proposal, error),
	options scaffold.Options,
) {
	p, err := propose(options)
	if err != nil {
		return
	}
	for _, d := range p.Decisions {
		for _, option := range d.Options {
			words := strings.Split(option, " --include ")
			if len(words) == 1 {
				continue
			}
			changed, err := propose(scaffold.Options{
				SubjectTable: options.SubjectTable, Include: slices.Concat(options.Include, words[1:]),
			})
			if err != nil {
				t.Fatalf("%s: %q: %v", d.Table, option, err)
			}
			for _, name := range words[1:] {
				if !slices.ContainsFunc(changed.Tables, func(table datamap.Table) bool { return table.Name == name }) {
					t.Fatalf("%s: %q does not take in %s", d.Table, option, name)
				}
			}
		}
	}
}

func proposer(
	t interface{ Context() (ctx context.Context) }, r ports.CatalogReader,
) func(scaffold.Options) (scaffold.Proposal, error) {
	return func(o scaffold.Options) (scaffold.Proposal, error) { return scaffold.Propose(t.Context(), r, o) }
}

func TestEachOptionOfADecisionCanBeChosen(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := reader{catalogs().Draw(t, "catalog")}
		checkOffers(t, proposer(t, r), scaffold.Options{
			SubjectTable: "users",
			Include:      rapid.SliceOfNDistinct(rapid.SampledFrom(tableNames), 0, 2, rapid.ID[string]).Draw(t, "include"),
		})
	})
}

func TestTablesThatReferToEachOtherAreTakenInTogether(t *testing.T) {
	lines := users + `
		cycles: id*, user_id>users=cascade, alert_id>alerts=cascade
		out_msgs: id*, user_id?>users=cascade, cycle_id?>cycles=cascade, contact_id?>contacts=cascade,
			alert_id>alerts, sent:time
		contacts: id*, user_id>users=cascade, team_id>teams, dest:json
		alerts: id*, summary
		teams: id*, name`
	catalog := schema(lines)
	checkOffers(t, proposer(t, reader{catalog}), scaffold.Options{})
	for _, include := range [][]string{
		{"cycles", "out_msgs", "contacts"}, {"contacts", "out_msgs", "cycles"}, {"out_msgs", "contacts", "cycles"},
	} {
		p := propose(t, catalog, scaffold.Options{Include: include})
		wantLines(t, p.steps(), `
			delete out_msgs
			delete contacts
			delete cycles
			anonymize users email
		`)
	}
	if p := propose(t, catalog); len(p.questionsAbout("cycles", "by user_id")) != 1 {
		t.Errorf("asked %v", p.Decisions)
	}
}

// No column of the table looks personal, and its rows stay.
func TestWhatCannotBeTakenInIsNotOffered(t *testing.T) {
	lines := users + `
		cases: id*, resolver_id>users, kind:enum(a|b), summary
		case_parts: case_id>cases, seq:integer
		changes: id*, user_id>users=cascade, note, size:integer
		change_comments: id*, change_id>changes, author_id>users, body
		ways: id*, change_id?>changes, redaction_id?>redactions, seen:time
		way_parts: way_id>ways, seq:integer
		redactions: id*, user_id>users, title`
	p := propose(t, schema(lines))
	checkOffers(t, proposer(t, reader{schema(lines)}), scaffold.Options{})
	asked := p.questionsAbout("cases", "resolver_id")
	if len(asked) != 1 || strings.Contains(asked[0].Options[1], "--include") {
		t.Errorf("asked %v", p.Decisions)
	}
	if asked := p.questionsAbout("ways", ""); len(asked) != 0 {
		t.Errorf("asked %v", asked)
	}
	p = propose(t, schema(strings.ReplaceAll(lines, ", summary", "")))
	if asked := p.questionsAbout("cases", ""); len(asked) != 1 || asked[0].Options[1] != "yes: erase them in the hook "+
		"BeforeErasure" {
		t.Errorf("nothing can be annotated: asked %v", asked)
	}
}
