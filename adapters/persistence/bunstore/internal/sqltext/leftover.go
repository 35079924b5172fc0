package sqltext

import (
	"time"

	"github.com/habeas-data/habeas/domain"
)

// lastInstant is after all finite instants that the columns of either database hold.
const lastInstant = "'9999-12-31 23:59:59+00:00'"

// until returns a writer whose conditions exclude rows that were added after an instant, according to their column for
// the instant of addition. A row without a readable instant is included. The zero instant excludes no rows. until
// appends parameters to sw.
func (w *Writer) until(sw *stepWriter, live Live, at time.Time) *Writer {
	if at.IsZero() {
		return w
	}
	before := *w
	before.only = func(table domain.Table, called string) string {
		column, ok := table.AddedAt()
		if !ok {
			return ""
		}
		name, sqlType := called+"."+Quote(column.Name), live.Types(table.Name)[column.Name]
		return " AND " + fill("NOT COALESCE(({is instant}) AND NOT ({is past}), FALSE)",
			"is instant", w.Dialect.expired(name, lastInstant, sqlType),
			"is past", w.Dialect.expired(name, sw.constant(at.UTC().Format(timeFormat)), sqlType))
	}
	return &before
}

const countFound = `SELECT count(*) FROM ({found}) AS found`

// CountOfSubject returns the statement that counts the rows of OfSubject.
func (c *Cells) CountOfSubject(key []any) (text string, args []any) {
	text, args = c.OfSubject(key, false)
	return fill(countFound, "found", text), args
}
