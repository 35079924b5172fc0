package rows

import (
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/syntax"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/domain/plan"
)

// StartTexts returns the expressions for the starts of retention duties in columns, as texts that plan.ReadStart reads.
// The parameter name returns the expression for a column.
func (w *Writer) StartTexts(live Live, table string, columns []string, name func(i int) string) []string {
	texts := make([]string, len(columns))
	for i, column := range columns {
		texts[i] = w.own.startText(name(i), live.Types(table)[column])
	}
	return texts
}

// hasStarts reports whether the part of a StepGroup for a step has the starts of retention duties.
func hasStarts(step datamap.Step) bool {
	return step.Strategy == domain.StrategyRetain && len(step.Expired) > 0
}

// startsOf returns the list of the columns with the starts, as the part of a step selects them, or "1".
func (w *Writer) startsOf(step datamap.Step, alias string) string {
	if !hasStarts(step) {
		return "1"
	}
	since := plan.NewEnds(w.DataMap, step).Since
	columns := make([]string, len(since))
	for i, name := range since {
		columns[i] = alias + "." + syntax.Quote(name) + " AS " + startName(i)
	}
	return strings.Join(columns, ", ")
}

func startName(i int) string { return "since" + strconv.Itoa(i) }

const readStarts = `CASE WHEN {count} < {most} THEN (SELECT {json} FROM {part} AS t0) END`

// readStarts returns the expression for the starts in the rows of a step, which Latest reads. It is NULL if there are
// more than 1,000 rows, for which no start is converted.
func (w *Writer) readStarts(live Live, index int, step datamap.Step) string {
	since := plan.NewEnds(w.DataMap, step).Since
	texts := w.StartTexts(live, step.Target, since, func(i int) string { return "t0." + startName(i) })
	return syntax.Fill(readStarts, "count", cteCount(index), "most", strconv.Itoa(domain.MaxRowsHeld),
		"json", w.own.jsonOf(texts), "part", CteName(index))
}

// Latest returns the latest ends of the duties of a step, as domain.Applied has them, from the starts that the
// statement has read for the step.
func (w *Writer) Latest(step datamap.Step, rows int64, starts []byte) map[string]time.Time {
	var read [][]any
	if err := json.Unmarshal(starts, &read); err != nil || len(read) == 0 { // without rows, or with too many
		return nil
	}
	ends := plan.NewEnds(w.DataMap, step)
	for _, row := range read {
		ends.Add(row)
	}
	return ends.Latest(rows)
}
