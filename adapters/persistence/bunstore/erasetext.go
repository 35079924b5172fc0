package bunstore

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/habeas-data/habeas/domain"
)

// stepGroup is a statement that carries out steps, and returns for each how many rows it was about.
type stepGroup struct {
	steps     []domain.Step
	text      string
	constants [][]any // parameters of each common table expression; before them come those of the subject's key
}

// parameters are those of the statement for a subject, and more behind them.
func (g *stepGroup) parameters(key []any, more ...any) []any {
	var args []any
	for _, constants := range g.constants {
		args = append(append(args, key...), constants...)
	}
	return append(args, more...)
}

// stepGroupOf returns the statement of steps that also reads ahead, for the subject that its last parameter names.
// Every erasure follows the same plan, so the last statement is kept.
func (s *Store) stepGroupOf(steps []domain.Step) *stepGroup {
	if last := s.lastSteps.Load(); last != nil && slices.EqualFunc(last.steps, steps, sameStep) {
		return last
	}
	group := s.newStepGroup(steps)
	subject := parameter(len(group.parameters(make([]any, len(s.dataMap.SubjectTable().SubjectKey)))) + 1)
	group.text += ", " + s.readingAhead(subject)
	s.lastSteps.Store(group)
	return group
}

// sameStep reports whether two steps are one statement. The instant counts only where a duty is judged by it.
func sameStep(a, b domain.Step) bool {
	return a.Target == b.Target && a.Strategy == b.Strategy && a.External == b.External &&
		slices.Equal(a.Columns, b.Columns) && slices.Equal(a.Expired, b.Expired) &&
		(len(a.Expired) == 0 || a.At.Equal(b.At))
}

func (s *Store) newStepGroup(steps []domain.Step) *stepGroup {
	group := &stepGroup{}
	var bodies []string
	selects, parameters := make([]string, len(steps)), 0
	for i, step := range steps {
		step.Columns, step.Expired = slices.Clone(step.Columns), slices.Clone(step.Expired)
		group.steps = append(group.steps, step)
		same := slices.IndexFunc(steps, func(other domain.Step) bool {
			return other.Target == step.Target && other.Strategy == domain.StrategyAnonymize && len(other.Columns) > 0
		})
		if step.Strategy == domain.StrategyRetain && len(step.Expired) == 0 && same >= 0 { // all rows are counted there
			selects[i] = countOf(same)
			continue
		}
		body, constants := s.stepText(step, parameters)
		parameters += len(s.dataMap.SubjectTable().SubjectKey) + len(constants)
		if step.Strategy != domain.StrategyRetain {
			body += " RETURNING 1"
		}
		group.constants = append(group.constants, constants)
		bodies = append(bodies, nameOf(i)+" AS ("+body+")")
		selects[i] = countOf(i)
	}
	group.text = "WITH " + strings.Join(bodies, ", ") + " SELECT " + strings.Join(selects, ", ")
	return group
}

func nameOf(step int) string { return "s" + strconv.Itoa(step) }

func countOf(step int) string { return "(SELECT count(*) FROM " + nameOf(step) + ")" }

// stepText is the statement of one step, whose parameters come after others: those of the subject's key and then the
// constants.
func (s *Store) stepText(step domain.Step, others int) (text string, constants []any) {
	table, _ := s.dataMap.Table(step.Target)
	w := s.writer(table, others)
	from, where := quoteTable(table.Name)+" AS t0", " WHERE "+s.rowsOf(table, others)
	switch step.Strategy {
	case domain.StrategyDelete:
		return "DELETE FROM " + from + where, nil
	case domain.StrategyAnonymize:
		list := w.surrogates(step)
		return "UPDATE " + from + " SET " + list + where + w.concerned(step), w.constants
	case domain.StrategyRetain:
	}
	return "SELECT 1 FROM " + from + where + w.concerned(step), w.constants
}

// stepWriter writes the parts of a step's statement that have parameters of their own. In the text of a statement,
// quotes and question marks of a constant would be at the mercy of the driver and of bun.
type stepWriter struct {
	store     *Store
	table     domain.Table
	others    int // parameters that come before
	constants []any
}

func (s *Store) writer(table domain.Table, others int) *stepWriter {
	return &stepWriter{store: s, table: table, others: others + len(s.dataMap.SubjectTable().SubjectKey)}
}

// constant adds a parameter.
func (w *stepWriter) constant(value any) string {
	w.constants = append(w.constants, value)
	return parameter(w.others + len(w.constants))
}

// surrogates is the SET list that anonymizes columns. A retained cell whose duty goes on is written as it is.
func (w *stepWriter) surrogates(step domain.Step) string {
	var assignments []string
	for _, name := range step.Columns {
		assignments = append(assignments, quote(name)+" = "+w.surrogate(name))
	}
	for _, name := range step.Expired {
		assignments = append(assignments, quote(name)+" = CASE WHEN "+w.expired(name, step.At)+" THEN "+w.surrogate(name)+
			" ELSE "+quote(name)+" END")
	}
	return strings.Join(assignments, ", ")
}

func (w *stepWriter) surrogate(name string) string {
	column, _ := w.table.Column(name)
	if column.Surrogate != "" {
		return w.constant(column.Surrogate)
	}
	return w.store.dialect.surrogate(column)
}

// expired is the condition that the duties to keep a cell of a column are over.
func (w *stepWriter) expired(name string, at time.Time) string {
	if at.IsZero() {
		return "FALSE"
	}
	var over []string
	for _, duty := range w.table.Duties(name) {
		cutoff := duty.Personal.Retain.Cutoff(at).UTC().Format(timeFormat)
		over = append(over, w.store.dialect.expired("t0."+quote(duty.Personal.Since), w.constant(cutoff)))
	}
	return strings.Join(over, " AND ")
}

// concerned is the condition, after another one, for the rows that a step covers. These are all rows of the subject,
// except those in which an anonymize step finds no expired duty, or a retain step finds no duty that continues.
func (w *stepWriter) concerned(step domain.Step) string {
	var not, operator string
	switch {
	case len(step.Expired) == 0:
		return ""
	case step.Strategy == domain.StrategyAnonymize && len(step.Columns) == 0:
		operator = " OR "
	case step.Strategy == domain.StrategyRetain && len(step.Expired) == len(step.Columns):
		not, operator = "NOT ", " AND "
	default:
		return ""
	}
	expired := make([]string, len(step.Expired))
	for i, name := range step.Expired {
		expired[i] = "COALESCE(" + w.expired(name, step.At) + ", FALSE)"
	}
	return " AND " + not + "(" + strings.Join(expired, operator) + ")"
}
