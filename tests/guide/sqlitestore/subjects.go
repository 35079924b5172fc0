package sqlitestore

import (
	"context"
	"database/sql"
	"strings"
	"time"

	"github.com/habeas-data/habeas/domain"
)

// subjectStore implements ports.SubjectStore.
type subjectStore struct{ *session }

// Lock takes the write lock of the database with the subject's mark.
func (s subjectStore) Lock(ctx context.Context, id domain.SubjectID, at time.Time) error {
	if _, err := s.store.dataMap.Key(id); err != nil {
		return err
	}
	_, err := s.exec(ctx, `INSERT INTO habeas_erasures (subject, erased_at, times) VALUES (?, ?, 1)
		ON CONFLICT (subject) DO UPDATE SET erased_at = excluded.erased_at, times = times + 1`, id.String(), stamp(at))
	return err
}

func (s subjectStore) Apply(ctx context.Context, id domain.SubjectID, steps []domain.Step) ([]int64, error) {
	key, err := s.store.dataMap.Key(id)
	if err != nil {
		return nil, err
	}
	rows := make([]int64, 0, len(steps))
	for _, step := range steps {
		n, err := s.apply(ctx, key, step)
		if err != nil {
			return rows, s.fail(err) // so that no half of an erasure is committed
		}
		rows = append(rows, n)
	}
	return rows, nil
}

// apply carries out one step of a plan.
func (s subjectStore) apply(ctx context.Context, key []any, step domain.Step) (int64, error) {
	if err := s.usable(); err != nil {
		return 0, err
	}
	table, ok := s.store.dataMap.Table(step.Target)
	if !ok || step.External {
		return 0, manifestError("erase", "a step is not about a table of the data map")
	}
	own := s.ownedBy(table.Name)
	switch step.Strategy {
	case domain.StrategyDelete:
		return s.exec(ctx, `DELETE FROM `+quoteTable(table.Name)+own, key...)
	case domain.StrategyAnonymize:
		var set assignments
		for _, name := range step.Columns {
			column, ok := table.Column(name)
			if !ok {
				return 0, manifestError("erase", "a step is not about columns of its table")
			}
			expression, constant, _ := surrogate(column) // which Open has checked
			set.add(column, expression, constant...)
		}
		return s.update(ctx, table, set, key)
	case domain.StrategyRetain:
		counted, err := collect(ctx, s.session, false, scanCount, `SELECT count(*) FROM `+quoteTable(table.Name)+own, key...)
		if err != nil {
			return 0, err
		}
		return counted[0], nil
	default:
		return 0, manifestError("erase", "a step has no known strategy")
	}
}

// Rectify refuses what SQLite would not give back as it was.
func (s subjectStore) Rectify(ctx context.Context, id domain.SubjectID, step domain.RectificationStep) (int64, error) {
	key, err := s.store.dataMap.Key(id)
	if err != nil {
		return 0, err
	}
	table, ok := s.store.dataMap.Table(step.Table)
	if !ok {
		return 0, manifestError("rectify", "a step is not about a table of the data map")
	}
	var set assignments
	for _, right := range step.Values {
		column, ok := table.Column(right.Column)
		if !ok || column.Personal == nil {
			return 0, manifestError("rectify", "a step is not about annotated columns of a table")
		}
		value, ok := encode(column, right.Value)
		if !ok {
			return 0, s.fail(domain.Invalid("rectify", []domain.FieldError{{ // so that no half of a rectification is committed
				Field: string(column.Personal.Category), Code: domain.FieldType, Message: "does not fit its column",
			}}))
		}
		set.add(column, `?`, value)
	}
	return s.update(ctx, table, set, key)
}

// assignments are what an UPDATE sets.
type assignments struct {
	columns []string
	args    []any
}

func (a *assignments) add(column domain.Column, expression string, args ...any) {
	a.columns = append(a.columns, quote(column.Name)+` = `+expression)
	a.args = append(a.args, args...)
}

// update writes into all rows of the subject in a table, and returns how many there are.
func (s subjectStore) update(ctx context.Context, table domain.Table, set assignments, key []any) (int64, error) {
	if len(set.columns) == 0 {
		return 0, manifestError("subject", "a step has nothing to write")
	}
	return s.exec(ctx, `UPDATE `+quoteTable(table.Name)+` SET `+strings.Join(set.columns, `, `)+s.ownedBy(table.Name),
		append(set.args, key...)...)
}

// ownedBy is the condition for the subject's rows of a table. Its arguments are the subject's key.
func (s subjectStore) ownedBy(table string) string {
	people := s.store.dataMap.SubjectTable()
	where := ` WHERE ` + tuple(people.SubjectKey) + ` = (?` + strings.Repeat(`, ?`, len(people.SubjectKey)-1) + `)`
	path := s.store.dataMap.Path(table)
	for i := len(path) - 1; i >= 0; i-- { // from the subject's table on
		hop := path[i]
		where = ` WHERE ` + tuple(hop.Columns) + ` IN (SELECT ` + list(hop.ReferencedColumns) +
			` FROM ` + quoteTable(hop.References) + where + `)`
	}
	return where
}

func tuple(columns []string) string { return `(` + list(columns) + `)` }

func list(columns []string) string {
	quoted := make([]string, len(columns))
	for i, column := range columns {
		quoted[i] = quote(column)
	}
	return strings.Join(quoted, `, `)
}

// quote is the name of a column, or of a table without its schema, as SQL has it.
func quote(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

// quoteTable is the name of a table as SQL has it.
func quoteTable(name string) string {
	if schema, table, ok := strings.Cut(name, "."); ok {
		return quote(schema) + `.` + quote(table)
	}
	return quote(name)
}

func scanCount(row *sql.Rows) (n int64, err error) {
	err = row.Scan(&n)
	return n, err
}
