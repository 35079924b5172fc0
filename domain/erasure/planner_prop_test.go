package erasure_test

import (
	"errors"
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/domain/erasure"
)

// goodMaps draws data maps that the planner must accept.
func goodMaps() *rapid.Generator[generated] {
	return dataMaps().Filter(func(g generated) bool { return len(g.faults()) == 0 })
}

func build(t *rapid.T, tables []datamap.Table) datamap.DataMap {
	m, err := datamap.NewDataMap(tables...)
	if err != nil {
		t.Fatalf("NewDataMap: %v", err)
	}
	return m
}

// drawPlan draws a good data map and plans its erasure.
func drawPlan(t *rapid.T) (generated, datamap.Plan) {
	g := goodMaps().Draw(t, "data map")
	plan, err := erasure.Planner{}.Plan(build(t, g.tables), nil)
	if err != nil {
		t.Fatalf("refused: %v", err)
	}
	return g, plan
}

func TestEveryPathLeadsToTheSubject(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := dataMaps().Draw(t, "data map")
		m := build(t, g.tables)
		for _, table := range g.tables {
			var got []string
			for _, relation := range m.Paths(table.Name)[0].Relations {
				got = append(got, relation.References)
			}
			if !slices.Equal(got, g.path[table.Name]) {
				t.Fatalf("the path of %s is %v, want %v", table.Name, got, g.path[table.Name])
			}
		}
	})
}

func TestADataMapIsRefusedExactlyIfATableIsAtFault(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := dataMaps().Draw(t, "data map")
		_, err := erasure.Planner{}.Plan(build(t, g.tables), nil)
		faults := g.faults()
		if err == nil {
			if len(faults) > 0 {
				t.Fatalf("planned in spite of %v", faults)
			}
			return
		}
		var coded *domain.Error
		if !errors.As(err, &coded) || len(faults) == 0 {
			t.Fatalf("refused as %v, want one of %v", err, faults)
		}
		onlyDuties := true
		for _, table := range g.tables { // reports exactly these faults
			var codes []domain.Code
			for _, problem := range coded.Problems {
				if problem.Table == table.Name {
					codes = append(codes, problem.Code)
				}
			}
			onlyDuties = onlyDuties && !slices.Contains(codes, domain.ErrManifest)
			if fault := g.fault(table); fault != "" && !slices.Contains(codes, fault) || fault == "" && len(codes) > 0 {
				t.Fatalf("%s: the fault is %q, reported are %v in %v", table.Name, fault, codes, err)
			}
		}
		if onlyDuties != (coded.Code == domain.ErrRetention) {
			t.Fatalf("the code is %s for %v", coded.Code, err)
		}
	})
}

func TestRetainedColumnsAreNeverTouched(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g, plan := drawPlan(t)
		for _, step := range plan.Steps {
			retained := columns(g.table(step.Target), domain.StrategyRetain)
			switch step.Strategy { //nolint:exhaustive // a step has no other
			case domain.StrategyDelete:
				if len(retained) > 0 {
					t.Fatalf("the rows of %s are deleted, and with them %v", step.Target, retained)
				}
			case domain.StrategyAnonymize:
				for _, name := range step.Columns {
					if slices.Contains(retained, name) {
						t.Fatalf("%s.%s is anonymized though it is retained", step.Target, name)
					}
				}
			case domain.StrategyRetain:
				if !slices.Equal(step.Columns, retained) {
					t.Fatalf("%s retains %v, want %v", step.Target, step.Columns, retained)
				}
			}
		}
	})
}

func TestRowsAreDeletedExactlyIfTheyBelongOnlyToTheSubject(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g, plan := drawPlan(t)
		for _, table := range g.tables {
			deleted := slices.ContainsFunc(plan.Steps, func(s datamap.Step) bool {
				return s.Target == table.Name && s.Strategy == domain.StrategyDelete
			})
			if deleted != losesRows(table) {
				t.Fatalf("the rows of %s: deleted %v, want %v", table.Name, deleted, losesRows(table))
			}
		}
	})
}

var everyStrategy = []domain.Strategy{
	domain.StrategyErase, domain.StrategyDelete, domain.StrategyAnonymize, domain.StrategyNull, domain.StrategyRetain,
}

func TestEveryAnnotatedColumnIsCoveredExactlyOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g, plan := drawPlan(t)
		covered := map[string]int{}
		for _, step := range plan.Steps {
			names := step.Columns
			if step.Strategy == domain.StrategyDelete {
				names = columns(g.table(step.Target), domain.StrategyErase, domain.StrategyDelete)
				if step.Columns != nil {
					t.Fatalf("%+v deletes rows, and names columns", step)
				}
			} else if len(names) == 0 {
				t.Fatalf("%+v does nothing", step)
			}
			for _, name := range names {
				covered[step.Target+"."+name]++
			}
		}
		annotated := 0
		for _, table := range g.tables {
			for _, name := range columns(table, everyStrategy...) {
				annotated++
				if n := covered[table.Name+"."+name]; n != 1 {
					t.Fatalf("%s.%s is covered %d times by %+v", table.Name, name, n, plan.Steps)
				}
			}
		}
		if len(covered) != annotated {
			t.Fatalf("%v holds columns that are not annotated", covered)
		}
	})
}

func TestStepsGoFromChildrenToParentsAndEndAtTheSubject(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g, plan := drawPlan(t)
		first, last := map[string]int{}, map[string]int{}
		for i, step := range plan.Steps {
			if _, seen := first[step.Target]; !seen {
				first[step.Target] = i
			}
			last[step.Target] = i
		}
		for _, table := range g.tables {
			for _, relation := range table.Relations {
				parent, planned := first[relation.References]
				if child, too := last[table.Name]; planned && too && relation.References != table.Name && child > parent {
					t.Fatalf("%s comes after its parent %s in %+v", table.Name, relation.References, plan.Steps)
				}
			}
			if len(table.SubjectKey) > 0 {
				for i := range plan.Steps {
					if at, planned := first[table.Name]; planned && i > at && plan.Steps[i].Target != table.Name {
						t.Fatalf("the subject's table %s is not last in %+v", table.Name, plan.Steps)
					}
				}
			}
		}
	})
}

func TestATableIsAnonymizedBeforeItIsRetained(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		_, plan := drawPlan(t)
		for i, step := range plan.Steps {
			for _, later := range plan.Steps[i+1:] {
				if step.Target == later.Target &&
					(step.Strategy != domain.StrategyAnonymize || later.Strategy != domain.StrategyRetain) {
					t.Fatalf("%+v comes before %+v", step, later)
				}
			}
		}
	})
}

func TestAPlanDoesNotDependOnTheOrderOfDeclaration(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := dataMaps().Draw(t, "data map")
		declared := build(t, g.tables)
		shuffled := build(t, rapid.Permutation(g.tables).Draw(t, "another order"))
		one, oneErr := erasure.Planner{}.Plan(declared, []string{"desk", "mail"})
		again, _ := erasure.Planner{}.Plan(declared, []string{"desk", "mail"})
		other, otherErr := erasure.Planner{}.Plan(shuffled, []string{"desk", "mail"})
		if !reflect.DeepEqual(one, again) {
			t.Fatalf("equal input, and two plans: %+v and %+v", one, again)
		}
		if !reflect.DeepEqual(one, other) {
			t.Fatalf("in one order %+v, in another %+v", one, other)
		}
		if !slices.Equal(sortedProblems(oneErr), sortedProblems(otherErr)) {
			t.Fatalf("in one order %v, in another %v", oneErr, otherErr)
		}
	})
}

// sortedProblems returns the problems of an error as texts, independently of the order of the tables.
func sortedProblems(err error) []string {
	var texts []string
	for _, problem := range domain.Problems(err) {
		texts = append(texts, problem.String())
	}
	slices.Sort(texts)
	return texts
}
