package bunstore

import (
	"context"
	"database/sql"
	"strconv"
	"strings"
	"time"

	"github.com/habeas-data/habeas/domain"
)

type subjectStore struct{ *session }

func (s subjectStore) Lock(ctx context.Context, id domain.SubjectID, at time.Time) error {
	if _, err := s.store.dataMap.Key(id); err != nil {
		return err
	}
	_, err := s.write(ctx, "lock subject", "INSERT INTO "+s.store.tables.erasures+" AS e (subject_id, erased_at, erasures)"+
		" VALUES ($1, $2, 1) ON CONFLICT (subject_id) DO UPDATE SET erased_at = excluded.erased_at, erasures = e.erasures + 1",
		id.String(), s.store.dialect.instant(at))
	return err
}

func (s subjectStore) Apply(ctx context.Context, id domain.SubjectID, step domain.Step) (int64, error) {
	key, err := s.store.dataMap.Key(id)
	if err != nil {
		return 0, err
	}
	table, ok := s.store.dataMap.Table(step.Target)
	if !ok || step.External {
		return 0, &domain.Error{Code: domain.ErrManifest, Op: "erase", Message: "a step is not about a table of the data map"}
	}
	op := "erase: " + string(step.Strategy) + " " + table.Name
	from, where := quoteTable(table.Name)+" AS t0", " WHERE "+s.store.rowsOf(table)
	switch step.Strategy {
	case domain.StrategyDelete:
		return s.write(ctx, op, "DELETE FROM "+from+where, key...)
	case domain.StrategyAnonymize:
		assignments, args := s.store.surrogates(table, step.Columns, key)
		return s.write(ctx, op, "UPDATE "+from+" SET "+assignments+where, args...)
	case domain.StrategyRetain:
		var rows int64
		err := s.returning(ctx, op, func(r *sql.Rows) error { return r.Scan(&rows) }, "SELECT count(*) FROM "+from+where, key...)
		return rows, err
	}
	return 0, &domain.Error{Code: domain.ErrManifest, Op: "erase", Message: "a step has no known strategy"}
}

// surrogates is the SET list that anonymizes columns, and the parameters with those of its constants added: in the
// text of a statement, quotes and question marks would be at the mercy of the driver and of bun.
func (s *Store) surrogates(table domain.Table, names []string, args []any) (string, []any) {
	assignments := make([]string, len(names))
	for i, name := range names {
		column, _ := table.Column(name)
		surrogate := s.dialect.surrogate(column)
		if column.Surrogate != "" {
			args = append(args, column.Surrogate)
			surrogate = "$" + strconv.Itoa(len(args))
		}
		assignments[i] = quote(name) + " = " + surrogate
	}
	return strings.Join(assignments, ", "), args
}

func (s subjectStore) Export(
	ctx context.Context, id domain.SubjectID, yield func(domain.ExportRecord) error,
) error {
	key, err := s.store.dataMap.Key(id)
	if err != nil {
		return err
	}
	if err := s.usable(); err != nil {
		return err
	}
	if s.tx != nil && !s.snapshot && !s.joined {
		return &domain.Error{Code: domain.ErrSession, Op: "export", Message: "must come before any write of its session"}
	}
	if err := s.begin(ctx, true); err != nil {
		return err
	}
	for _, table := range s.store.dataMap.Tables() {
		if len(table.Personal()) == 0 {
			continue
		}
		export := newTableExport(s.store, table)
		var refused error
		err := s.read(ctx, "export: "+table.Name, func(rows *sql.Rows) error {
			return export.row(rows, func(record domain.ExportRecord) error {
				refused = yield(record)
				return refused
			})
		}, export.text, key...)
		if refused != nil {
			return refused // as yield gave it
		}
		if err != nil {
			return err
		}
	}
	return nil
}
