package check_test

import (
	"errors"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/golang/mock/gomock"
	"github.com/uptrace/bun"

	"github.com/habeas-data/habeas/adapters/persistence/memory"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/domain/erasure"
	"github.com/habeas-data/habeas/internal/tests/databases"
	"github.com/habeas-data/habeas/ports/mocks"
	"github.com/habeas-data/habeas/tool/check"
)

// cases are test cases by name. Each case changes a world (a data map and a database that match), and lists the
// findings that result. The text of a finding is its code, its table and column, and the name of its constraint or
// trigger. A name such as "row-security not ..." is a case that the rule row-security must not report.
type cases map[string]struct {
	change func(w *world)
	want   []string
}

var all = []cases{
	tableCases, columnCases, surrogateCases, constraintCases, deletionCases, copyCases, accessCases, exposureCases,
	lifeCases, acceptanceCases, refCases, judgedCases, reversedCases, linkCases, triggerCases,
	decisionCases, undecidedCases, pathCases, accountCases,
	factCases,
}

func TestADataMapThatFitsHasNoFindings(t *testing.T) {
	for _, leave := range []bool{false, true} {
		w := newWorld()
		if leave {
			w.deleteUsers()
		}
		if found := w.findings(t); found == nil || len(found) > 0 {
			t.Errorf("found %v", found)
		}
	}
}

var triggerHash = regexp.MustCompile(`#[0-9a-f]{8}$`)

func TestRulesReportTheirCases(t *testing.T) {
	db := sync.OnceValue(func() *bun.DB { return databases.PostgreSQL(t) })
	for _, group := range all {
		for name, test := range group {
			t.Run(name, func(t *testing.T) {
				w := newWorld()
				w.db = db
				test.change(w)
				var got []string
				for _, f := range w.findings(t) {
					object := triggerHash.ReplaceAllString(f.Object, "#fired")
					got = append(got, strings.TrimSuffix(f.Code+" "+f.Where()+" "+object, " "))
					if !strings.HasSuffix(f.Reason, ".") || !strings.HasSuffix(f.Remedy, ".") || f.Table == "" {
						t.Errorf("the finding has no table, or a text that is not a sentence: %s", f)
					}
				}
				slices.Sort(got)
				slices.Sort(test.want)
				if !slices.Equal(got, test.want) {
					t.Errorf("got  %q\nwant %q", got, test.want)
				}
			})
		}
	}
}

// Each rule needs a case that it reports, and a similar case that it does not report. The name of the second case
// begins with the code of the rule and "not".
func TestEachRuleHasItsCases(t *testing.T) {
	severities := []datamap.Severity{datamap.SeverityError, datamap.SeverityWarning, datamap.SeverityNotice}
	seen := map[string]bool{}
	for _, rule := range check.Rules() {
		if seen[rule.Code] || rule.Title == "" || strings.HasSuffix(rule.Title, ".") ||
			!slices.Contains(severities, rule.Severity) {
			t.Errorf("invalid rule: %+v", rule)
		}
		seen[rule.Code] = true
		fires, silent := false, false
		for _, group := range all {
			for name, test := range group {
				this := slices.ContainsFunc(test.want, func(want string) bool { return strings.HasPrefix(want, rule.Code+" ") })
				fires = fires || this
				silent = silent || !this && strings.HasPrefix(name, rule.Code+" not ")
			}
		}
		if !fires || !silent {
			t.Errorf("%s: a case in which it fires: %t, in which it is silent: %t", rule.Code, fires, silent)
		}
	}
	rules := check.Rules()
	rules[0].Code = "changed"
	if check.Rules()[0].Code == "changed" {
		t.Error("the list of rules can be changed")
	}
}

func TestFindingsAreInTheOrderOfTheDataMap(t *testing.T) {
	w := newWorld()
	w.tables[0], w.tables[1] = w.tables[1], w.tables[0] // orders, users, sessions
	w.drop("orders", "issued_at")
	w.drop("orders", "user_id")
	w.drop("users", "theme")
	w.drop("users", "email")
	w.live("users").RowSecurity = true
	w.add("users", "phone", datamap.TypeText)
	w.add("users", "birthday", datamap.TypeText)
	w.drop("sessions", "agent")
	w.addTable("zebras")
	w.refer("zebras", "owner_id", datamap.ActionNone)
	w.addTable("apes", "first_name", "last_name")
	w.undecided = true
	var got []string
	for _, f := range w.findings(t) {
		got = append(got, f.Where())
	}
	const want = "orders.user_id orders.issued_at users users.email users.theme users.birthday users.phone " +
		"sessions.agent apes zebras"
	if strings.Join(got, " ") != want {
		t.Errorf("got  %s\nwant %s", strings.Join(got, " "), want)
	}
}

func TestErrorsComeBeforeWarningsAtAPlace(t *testing.T) {
	w := newWorld()
	w.live("users").Checks = []datamap.CatalogCheck{
		{Name: "a", Columns: []string{"email"}, Text: "is_email(email)"},
		{Name: "b", Columns: []string{"email"}, Text: "email LIKE '%@%'"},
	}
	found := w.findings(t)
	if len(found) != 2 || found[0].Severity != datamap.SeverityError || found[1].Severity != datamap.SeverityWarning {
		t.Errorf("found %v", found)
	}
}

func TestACheckNeedsItsParameters(t *testing.T) {
	reader := mocks.NewMockCatalogReader(gomock.NewController(t)) // a call fails the test
	dataMap, err := datamap.NewDataMap(newWorld().tables...)
	must(t, err)
	plan := datamap.Plan{Steps: []datamap.Step{}}
	for says, run := range map[string]func() (check.Result, error){
		"the catalog reader is missing": func() (check.Result, error) {
			return check.Run(t.Context(), nil, dataMap, plan, check.Options{})
		},
		"the data map is missing": func() (check.Result, error) {
			return check.Run(t.Context(), reader, datamap.DataMap{}, plan, check.Options{})
		},
		"the plan is missing": func() (check.Result, error) {
			return check.Run(t.Context(), reader, dataMap, datamap.Plan{}, check.Options{})
		},
	} {
		result, err := run()
		if !errors.Is(err, domain.ErrConfiguration) || !strings.Contains(err.Error(), says) || result.Findings != nil {
			t.Errorf("got %v, want %q", err, says)
		}
	}
	plan.Steps = []datamap.Step{{Target: "elsewhere", Strategy: domain.StrategyDelete}}
	if _, err = check.Run(t.Context(), reader, dataMap, plan, check.Options{}); !errors.Is(err, domain.ErrManifest) {
		t.Errorf("the plan of another data map: %v", err)
	}
}

func TestACatalogThatCannotBeReadIsAnError(t *testing.T) {
	reader := mocks.NewMockCatalogReader(gomock.NewController(t))
	reader.EXPECT().Catalog(gomock.Any()).Return(datamap.Catalog{}, domain.ErrUnavailable)
	dataMap, err := datamap.NewDataMap(newWorld().tables...)
	must(t, err)
	result, err := check.Run(t.Context(), reader, dataMap, datamap.Plan{Steps: []datamap.Step{}}, check.Options{})
	if !errors.Is(err, domain.ErrUnavailable) || result.Findings != nil {
		t.Errorf("got %v, %v", result, err)
	}
}

// Without a database, nothing decides whether a surrogate satisfies a constraint.
func TestWithoutADatabaseNoConstraintIsDecided(t *testing.T) {
	w := newWorld()
	constrain("CHECK ((length(email) <= 40))", "email")(w)
	dataMap, err := datamap.NewDataMap(w.tables...)
	must(t, err)
	plan, err := erasure.Planner{}.Plan(dataMap, nil)
	must(t, err)
	result, err := check.Run(t.Context(), memory.NewSchema(w.catalog), dataMap, plan, check.Options{})
	if must(t, err); len(result.Findings) != 1 || result.Findings[0].Code != "check-undecided" {
		t.Errorf("found %v", result.Findings)
	}
	reader := mocks.NewMockCatalogReader(gomock.NewController(t))
	reader.EXPECT().Catalog(gomock.Any()).Return(w.catalog, nil)
	reader.EXPECT().Satisfies(gomock.Any(), "users", w.live("users").Checks[0], gomock.Len(4)).
		Return(nil, domain.ErrUnavailable)
	result, err = check.Run(t.Context(), reader, dataMap, plan, check.Options{})
	if !errors.Is(err, domain.ErrUnavailable) || result.Findings != nil {
		t.Errorf("with a database that cannot be reached: got %v, %v", result, err)
	}
}
