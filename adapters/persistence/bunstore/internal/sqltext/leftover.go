package sqltext

import (
	"time"

	"github.com/habeas-data/habeas/domain"
)

// latestInstant is the last second that both databases can compare as an instant. Later instants, such as infinity,
// count as unreadable.
const latestInstant = "'9999-12-31 23:59:59+00:00'"

// addedUntil returns a copy of w whose statements skip the rows that were added later than the given instant. The
// column Table.AddedAt holds the instant at which a row was added. The statements include rows without a readable
// instant in this column. If the given instant is zero, they include all rows. addedUntil appends the parameters of the
// new condition to sw.
func (w *Writer) addedUntil(sw *stepWriter, live Live, at time.Time) *Writer {
	if at.IsZero() {
		return w
	}
	before := *w
	before.extraCondition = func(table domain.Table, alias string) string {
		column, ok := table.AddedAt()
		if !ok {
			return ""
		}
		name, sqlType := alias+"."+Quote(column.Name), live.Types(table.Name)[column.Name]
		return " AND " + fill("NOT COALESCE(({is instant}) AND NOT ({is past}), FALSE)",
			"is instant", w.Dialect.isNotAfter(name, latestInstant, sqlType),
			"is past", w.Dialect.isNotAfter(name, sw.addConstant(at.UTC().Format(timeFormat)), sqlType))
	}
	return &before
}

const countFound = `SELECT count(*) FROM ({found}) AS found`

// CountOfSubject returns the statement that counts the rows that the statement of OfSubject returns.
func (c *Cells) CountOfSubject(key []any) (text string, args []any) {
	text, args = c.OfSubject(key, false)
	return fill(countFound, "found", text), args
}
