package sqltext

import (
	"time"

	"github.com/habeas-data/habeas/domain/datamap"
)

// addedUntil returns a copy of w whose statements skip the rows that were added later than the given instant. The
// column Table.AddedAt holds the instant at which a row was added. The statements include rows without a readable
// instant in this column, rows that may be older than a time without a zone says, and the subject's own row, which is
// judged by its life (see domain.Life). If the given instant is zero, they include all rows. addedUntil appends the
// parameters of the new condition to sw.
func (w *Writer) addedUntil(sw *stepWriter, at time.Time) *Writer {
	if at.IsZero() {
		return w
	}
	before := *w
	before.extraCondition = func(table datamap.Table, alias string) string {
		column, ok := table.AddedAt()
		if !ok || table.Name == w.DataMap.SubjectTable().Name {
			return ""
		}
		return " AND " + fill("NOT COALESCE({added} > CAST({until} AS {type}), FALSE)",
			"added", w.Dialect.earliestAdded(alias+"."+Quote(column.Name)),
			"until", sw.addConstant(w.Dialect.Instant(at)), "type", w.Dialect.instantType())
	}
	return &before
}

const countFound = `SELECT count(*) FROM ({found}) AS found`

// CountOfSubject returns the statement that counts the rows that the statement of OfSubject returns.
func (c *Cells) CountOfSubject(key []any) (text string, args []any) {
	text, args = c.OfSubject(key, false)
	return fill(countFound, "found", text), args
}
