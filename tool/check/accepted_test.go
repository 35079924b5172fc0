package check_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/golang/mock/gomock"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/domain/erasure"
	"github.com/habeas-data/habeas/ports/mocks"
	"github.com/habeas-data/habeas/tool/check"
)

// phoneAccepted accepts the finding personal-unannotated users.phone until the last day that today shows.
var phoneAccepted = datamap.Acceptance{
	Rule: "personal-unannotated", Table: "users", Column: "phone", Reason: "of the shop", Until: "2026-03-31",
}

// accepting returns a change of a world with the findings personal-unannotated users.phone and users.birthday. The
// world has one acceptance of the first finding, which the function adapt changes.
func accepting(adapt func(*datamap.Acceptance)) func(w *world) {
	return func(w *world) {
		w.addToBoth("users", datamap.Column{Name: "phone", Type: datamap.TypeText})
		w.addToBoth("users", datamap.Column{Name: "birthday", Type: datamap.TypeText})
		acceptance := phoneAccepted
		adapt(&acceptance)
		w.accepted = []datamap.Acceptance{acceptance}
	}
}

const phone, birthday = "personal-unannotated users.phone", "personal-unannotated users.birthday"

// twoTriggers adds two triggers to "sessions", each with a finding trigger-fires. An acceptance has the given object.
func twoTriggers(object string) func(w *world) {
	return func(w *world) {
		for i, name := range []string{"keep", "count"} {
			trigger("sessions", "DELETE")(w)
			w.live("sessions").Triggers[i].Unread, w.live("sessions").Triggers[i].Name = true, name
		}
		w.accepted = []datamap.Acceptance{{
			Rule: "trigger-fires", Table: "sessions", Object: object, Reason: "counts visits", Until: "2026-12-31",
		}}
	}
}

var acceptanceCases = cases{
	"an accepted finding ends, and only this one": {accepting(func(*datamap.Acceptance) {}), []string{birthday}},
	"acceptance-expired": {
		accepting(func(a *datamap.Acceptance) { a.Until = "2026-03-30" }),
		[]string{phone, birthday, "acceptance-expired users.phone personal-unannotated"},
	},
	"acceptance-expired without a finding": {
		accepting(func(a *datamap.Acceptance) { a.Until, a.Column = "2026-03-30", "fax" }),
		[]string{phone, birthday, "acceptance-expired users.fax personal-unannotated"},
	},
	"acceptance-expired not on its last day": {accepting(func(*datamap.Acceptance) {}), []string{birthday}},
	"acceptance-unused because of the rule": {
		accepting(func(a *datamap.Acceptance) { a.Rule = "personal-key" }),
		[]string{phone, birthday, "acceptance-unused users.phone personal-key"},
	},
	"acceptance-unused because of an unknown rule": {
		accepting(func(a *datamap.Acceptance) { a.Rule = "personal-*" }),
		[]string{phone, birthday, "acceptance-unused users.phone personal-*"},
	},
	"acceptance-unused because of the table": {
		accepting(func(a *datamap.Acceptance) { a.Table = "orders" }),
		[]string{phone, birthday, "acceptance-unused orders.phone personal-unannotated"},
	},
	"acceptance-unused because a column is missing": {
		accepting(func(a *datamap.Acceptance) { a.Column = "" }),
		[]string{phone, birthday, "acceptance-unused users personal-unannotated"},
	},
	"acceptance-unused because of a wildcard": {
		accepting(func(a *datamap.Acceptance) { a.Column = "*" }),
		[]string{phone, birthday, "acceptance-unused users.* personal-unannotated"},
	},
	"acceptance-unused because of the object": {
		accepting(func(a *datamap.Acceptance) { a.Object = "keep" }),
		[]string{phone, birthday, "acceptance-unused users.phone personal-unannotated"},
	},
	"acceptance-unused not if it is used": {accepting(func(*datamap.Acceptance) {}), []string{birthday}},
	"acceptance-ambiguous": {
		twoTriggers(""), []string{
			"trigger-fires sessions count#fired", "trigger-fires sessions keep#fired",
			"acceptance-ambiguous sessions trigger-fires",
		},
	},
	"acceptance-ambiguous not with the object": {
		twoTriggers("keep#0f0c6cdd"), []string{"trigger-fires sessions count#fired"},
	},
}

func TestAnAcceptanceThatMissesSaysWhichPart(t *testing.T) {
	for says, adapt := range map[string]func(*datamap.Acceptance){
		"no rule has this code":                              func(a *datamap.Acceptance) { a.Rule = "personal-*" },
		"nothing breaks its rule now":                        func(a *datamap.Acceptance) { a.Rule = "personal-key" },
		"no finding of its rule is about its table":          func(a *datamap.Acceptance) { a.Table = "orders" },
		"findings of its rule and table have another column": func(a *datamap.Acceptance) { a.Column = "fax" },
		"rule, table and column has another object":          func(a *datamap.Acceptance) { a.Object = "keep" },
	} {
		w := newWorld()
		accepting(adapt)(w)
		result, err := w.check(t.Context(), t)
		must(t, err)
		last := result.Findings[slices.IndexFunc(result.Findings, func(f datamap.Finding) bool {
			return f.Code == "acceptance-unused"
		})]
		if !strings.Contains(last.Reason, says) {
			t.Errorf("%s, want %s", last.Reason, says)
		}
	}
}

func TestAnAcceptedFindingIsReturnedWithItsAcceptance(t *testing.T) {
	w := newWorld()
	accepting(func(*datamap.Acceptance) {})(w)
	result, err := w.check(t.Context(), t)
	must(t, err)
	if len(result.Findings) != 1 || len(result.Accepted) != 1 || result.Accepted[0].Code != "personal-unannotated" ||
		result.Accepted[0].Column != "phone" || result.Accepted[0].Acceptance != phoneAccepted {
		t.Errorf("got %+v", result)
	}
	w.accepted = nil
	result, err = w.check(t.Context(), t)
	if err != nil || len(result.Findings) != 2 || result.Accepted == nil || len(result.Accepted) > 0 {
		t.Errorf("without an acceptance: %+v, %v", result, err)
	}
}

// An accepted error is no reason not to start. The end of an acceptance is.
func TestErrorsLeaveAcceptedFindingsOut(t *testing.T) {
	for until, refused := range map[string]bool{"2026-03-31": false, "2026-03-30": true} {
		w := newWorld()
		w.drop("users", "email")
		w.accepted = []datamap.Acceptance{
			{Rule: "column-missing", Table: "users", Column: "email", Reason: "dropped", Until: until},
		}
		if err := check.Errors(w.findings(t)); (err != nil) != refused {
			t.Errorf("until %s: %v", until, err)
		}
	}
}

func TestTheSameFindingIsNotAcceptedTwice(t *testing.T) {
	w := newWorld()
	w.accepted = []datamap.Acceptance{phoneAccepted, phoneAccepted}
	dataMap, err := datamap.NewDataMap(w.tables...)
	must(t, err)
	reader := mocks.NewMockCatalogReader(gomock.NewController(t)) // a call fails the test
	plan := datamap.Plan{Steps: []datamap.Step{}}
	_, err = check.Run(t.Context(), reader, dataMap.WithAccepted(w.accepted...), plan, check.Options{})
	if !errors.Is(err, domain.ErrConfiguration) {
		t.Errorf("got %v", err)
	}
}

// The clock of the machine is after the year 2000, and before the year 9999.
func TestTheClockOfTheMachineIsTheDefault(t *testing.T) {
	for until, codes := range map[string]string{
		"9999-12-31": "", "2000-01-01": "acceptance-expired personal-unannotated",
	} {
		w := newWorld()
		w.addToBoth("users", datamap.Column{Name: "phone", Type: datamap.TypeText})
		accepted := phoneAccepted
		accepted.Until = until
		dataMap, err := datamap.NewDataMap(w.tables...)
		must(t, err)
		plan, err := erasure.Planner{}.Plan(dataMap, nil)
		must(t, err)
		reader := mocks.NewMockCatalogReader(gomock.NewController(t))
		reader.EXPECT().Catalog(gomock.Any()).Return(w.catalog, nil)
		result, err := check.Run(t.Context(), reader, dataMap.WithAccepted(accepted), plan, check.Options{})
		must(t, err)
		var got []string
		for _, finding := range result.Findings {
			got = append(got, finding.Code)
		}
		slices.Sort(got)
		if strings.Join(got, " ") != codes {
			t.Errorf("until %s: %q", until, got)
		}
	}
}

func TestAnAcceptanceNeedsAReasonAndAnEnd(t *testing.T) {
	for name, change := range map[string]func(*datamap.Acceptance){
		"no rule":   func(a *datamap.Acceptance) { a.Rule = "" },
		"no table":  func(a *datamap.Acceptance) { a.Table = "" },
		"no reason": func(a *datamap.Acceptance) { a.Reason = " " },
		"no end":    func(a *datamap.Acceptance) { a.Until = "" },
		"no day":    func(a *datamap.Acceptance) { a.Until = "2026-02-30" },
		"a time":    func(a *datamap.Acceptance) { a.Until = "2026-03-31T00:00:00Z" },
	} {
		acceptance, other := phoneAccepted, phoneAccepted
		change(&acceptance)
		other.Column = "fax"
		problems := datamap.CheckAcceptances([]datamap.Acceptance{other, acceptance})
		if len(problems) != 1 || !strings.HasPrefix(problems[0].Message, "accepted[1]: ") {
			t.Errorf("%s: got %v", name, problems)
		}
	}
	if problems := datamap.CheckAcceptances([]datamap.Acceptance{phoneAccepted}); len(problems) > 0 {
		t.Errorf("got %v", problems)
	}
}

// Every finding of every case can be accepted, also beside other findings of the same rule and place.
func TestAnAcceptanceEndsEachFinding(t *testing.T) {
	for _, group := range all {
		for name, test := range group {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				w := newWorld()
				test.change(w)
				w.accepted = nil
				for _, f := range w.findings(t) {
					if !strings.HasPrefix(f.Code, "acceptance-") {
						w.accepted = append(w.accepted, datamap.Acceptance{
							Rule: f.Code, Table: f.Table, Column: f.Column, Object: f.Object, Reason: "known", Until: "2026-12-31",
						})
					}
				}
				for _, f := range w.findings(t) {
					if !strings.HasPrefix(f.Code, "acceptance-") {
						t.Errorf("cannot be accepted: %s", f)
					}
				}
			})
		}
	}
}
