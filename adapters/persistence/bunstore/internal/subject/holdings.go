package subject

import (
	"context"
	"strconv"
	"strings"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/rows"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/syntax"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/domain/plan"
)

// countHeld counts the rows of a path with the same starts of retention duties. It reads no more rows than are needed
// to know that there are more than 1,000.
const countHeld = `
	FROM (SELECT {starts} FROM {table} AS t0 WHERE {rows} LIMIT {most}) AS held`

// newHoldings returns the statement that counts the subject's rows, as an export statement: the row of preconditions
// comes first, and then one source for each step of plan.Fates. Its values are a number of rows and their starts.
func newHoldings(s *Store, live rows.Live) []exportStatement {
	w, sources := s.writer, []source{preconditionsOf(s.writer, s.locks)}
	for _, step := range plan.Fates(w.DataMap) {
		sources = append(sources, heldOn(w, live, step))
	}
	return []exportStatement{newExport(w, sources, true)}
}

// heldOn returns the source that counts the rows on the path of a step.
func heldOn(w *rows.Writer, live rows.Live, step datamap.Step) source {
	table, _ := w.DataMap.Table(step.Target)
	path, _ := w.DataMap.PathVia(step.Target, step.Via)
	since := plan.NewEnds(w.DataMap, step).Since
	starts := w.StartTexts(live, table.Name, since, func(i int) string { return "t0." + syntax.Quote(since[i]) })
	names := make([]string, len(starts))
	for i := range starts {
		names[i] = "held.since" + strconv.Itoa(i)
		starts[i] += " AS since" + strconv.Itoa(i)
	}
	read := syntax.Fill(countHeld, "starts", strings.Join(append(starts, "1"), ", "),
		"table", syntax.QuoteTable(table.Name), "most", strconv.Itoa(domain.MaxRowsHeld))
	if len(names) > 0 {
		read += " GROUP BY " + strings.Join(names, ", ")
	}
	return source{
		table: table, position: "0", selected: append([]string{rows.AsText("count(*)")}, names...),
		fromClause:    func(offset int) string { return syntax.Fill(read, "rows", w.RowsOf(table, path, offset)) },
		keyParameters: len(w.DataMap.SubjectTable().SubjectKey), pathValues: func(int) []string { return nil },
	}
}

// Holdings implements ports.SubjectStore.
func (s *Work) Holdings(ctx context.Context, id domain.SubjectID) (held []domain.Holding, err error) {
	key, err := s.key(id)
	if err != nil {
		return nil, err
	}
	if err := s.db.Usable(); err != nil {
		return nil, err
	}
	m := s.store.writer.DataMap
	steps := plan.Fates(m)
	counts, ends := make([]int64, len(steps)), make([]*plan.Ends, len(steps))
	for i, step := range steps {
		ends[i] = plan.NewEnds(m, step)
	}
	count := func(_ *exportStatement, row *exportRow, _ bool) error {
		i := row.source - 1 // the first source is the row of preconditions
		since := make([]any, len(ends[i].Since))
		for j := range since {
			if value := row.values[j+1]; value != nil {
				since[j] = syntax.Text(value)
			}
		}
		n, err := strconv.ParseInt(syntax.Text(row.values[0]), 10, 64)
		if counts[i] += n; n > 0 {
			ends[i].Add(since)
		}
		return err
	}
	if err := s.export(ctx, id, key, reading{"holdings", &s.store.lastHoldings, newHoldings, count}); err != nil {
		return nil, err
	}
	for i, step := range steps {
		if counts[i] > 0 {
			held = append(held, plan.Holding(m, step, counts[i], ends[i]))
		}
	}
	return held, nil
}
