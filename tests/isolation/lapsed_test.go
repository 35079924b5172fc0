package isolation

import (
	"slices"
	"time"

	"github.com/habeas-data/habeas/domain"
)

// judged is the instant at which the tests judge retention periods. The instants in cells differ from any cutoff by
// years.
var judged = time.Now()

// lapsed reports whether all retention periods of a cell have ended: its own period, and the periods that begin at it.
// Columns that identify or link rows are retained forever.
func (s *schema) lapsed(t *table, r *row, c *column) bool {
	if c.Personal == nil || c.Personal.Strategy != domain.StrategyRetain || c.Personal.Since == "" || s.isKey(t, c) {
		return false
	}
	return !slices.ContainsFunc(t.columns, func(duty *column) bool {
		if duty.Personal == nil || duty.Personal.Since == "" || duty != c && duty.Personal.Since != c.Name {
			return false
		}
		since, ok := r.cells[duty.Personal.Since].(time.Time)
		p := duty.Personal.Retain
		return !ok || since.AddDate(p.Years, p.Months, p.Days).After(judged)
	})
}

func (s *schema) isKey(t *table, c *column) bool {
	return slices.Contains(t.primaryKey, c.Name) || slices.Contains(t.subjectKey, c.Name) ||
		slices.ContainsFunc(s.tables, func(other *table) bool {
			return !other.outside && slices.ContainsFunc(other.links, func(l *link) bool {
				return other == t && slices.Contains(l.Columns, c.Name) || l.to == t && slices.Contains(l.ReferencedColumns, c.Name)
			})
		})
}

// judge returns the numbers of the subject's rows with an anonymized and with a retained cell.
func (s *schema) judge(t *table, subject int) (anonymized, retained int64) {
	for _, r := range t.rows {
		if r.owner != subject {
			continue
		}
		lapses := slices.ContainsFunc(t.columns, func(c *column) bool { return s.lapsed(t, r, c) })
		if lapses || len(t.anonymized()) > 0 {
			anonymized++
		}
		if slices.ContainsFunc(t.retained(), func(c *column) bool { return !s.lapsed(t, r, c) }) {
			retained++
		}
	}
	return anonymized, retained
}
