package isolation

import (
	"slices"
	"time"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
)

// judgedAt is the instant that the tests compare with the ends of retention periods. All generated periods end years
// earlier or later.
var judgedAt = time.Now()

// retentionEnded reports whether an erasure may overwrite a retained cell. The retention period of the cell must have
// ended. Every retention period that begins at the instant in the cell must have ended, too. Keys and foreign keys are
// never overwritten.
func (s *schema) retentionEnded(t *table, r *row, c *column) bool {
	if c.Personal == nil || c.Personal.Strategy != domain.StrategyRetain || c.Personal.Since == "" || s.isKey(t, c) {
		return false
	}
	return !slices.ContainsFunc(t.columns, func(duty *column) bool {
		if duty.Personal == nil || duty.Personal.Since == "" || duty != c && duty.Personal.Since != c.Name {
			return false
		}
		since, ok := r.cells[duty.Personal.Since].(time.Time)
		p := duty.Personal.Retain
		return !ok || endOf(since, p).After(judgedAt)
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

// countCells returns the number of the subject's rows in which an erasure overwrites at least one cell, and the number
// of rows with at least one retained cell.
func (s *schema) countCells(t *table, subject int) (anonymized, retained int64) {
	for _, r := range t.rows {
		if r.owner != subject {
			continue
		}
		lapses := slices.ContainsFunc(t.columns, func(c *column) bool { return s.retentionEnded(t, r, c) })
		if lapses || len(t.anonymized()) > 0 {
			anonymized++
		}
		if slices.ContainsFunc(t.retained(), func(c *column) bool { return !s.retentionEnded(t, r, c) }) {
			retained++
		}
	}
	return anonymized, retained
}

// endOf returns the end of a retention duty. If the last month has no such day, the duty ends with this month.
func endOf(since time.Time, p datamap.Period) time.Time {
	end := since.AddDate(p.Years, p.Months, 0)
	if end.Day() != since.Day() {
		end = time.Date(end.Year(), end.Month(), 1, 0, 0, 0, 0, since.Location())
	}
	return end.AddDate(0, 0, p.Days)
}
