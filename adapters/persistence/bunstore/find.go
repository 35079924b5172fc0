package bunstore

import (
	"cmp"
	"context"
	"database/sql"
	"slices"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/conn"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/sqltext"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports"
)

var _ ports.Finder = (*Store)(nil)

// The most columns and values of one statement. PostgreSQL keeps 32 compiled regular expressions.
const (
	columnsAtOnce = 8
	valuesAtOnce  = 16
)

// finder is a call of Find.
type finder struct {
	store    *Store
	sought   []any // the parameters for the values
	hasJSONB bool
	found    domain.Found
}

// Find implements ports.Finder. Each table is read by statements of their own, outside a transaction, one for up to 8
// columns and 16 values. On PostgreSQL, statement_timeout holds for each of them. On SQLite, it looks at every column,
// whatever its type is, for texts, up to the first NUL. Of binary data it looks at what stands in a column that is not
// declared as BLOB.
func (s *Store) Find(
	ctx context.Context, values []string, progress func(domain.FindProgress),
) (domain.Found, error) {
	if err := domain.CheckSought(values); err != nil {
		return domain.Found{}, err
	}
	live, err := s.Catalog(ctx)
	if err != nil {
		return domain.Found{}, err
	}
	f := &finder{store: s, found: domain.Found{Occurrences: []domain.Occurrence{}, Gaps: []domain.FindGap{}}}
	for _, value := range values {
		f.sought = append(f.sought, s.dialect.Sought(value))
	}
	if text := s.dialect.HasJSONB(); text != "" {
		has, err := conn.Query(s.pool.Query).Texts(ctx, text)
		if err != nil {
			return domain.Found{}, conn.Wrap(ctx, "find", err)
		}
		f.hasJSONB = len(has) > 0
	}
	if progress == nil {
		progress = func(domain.FindProgress) {}
	}
	places := append(f.places(live), s.text.Tables.OwnPlaces()...)
	for i, place := range places {
		progress(domain.FindProgress{Table: place.Name, Done: i, Tables: len(places)})
		if err := f.search(ctx, place); err != nil {
			return domain.Found{}, conn.Wrap(ctx, "find", err)
		}
	}
	progress(domain.FindProgress{Done: len(places), Tables: len(places)})
	slices.SortStableFunc(f.found.Gaps, func(a, b domain.FindGap) int { return cmp.Compare(a.Table, b.Table) })
	return f.found, nil
}

// places are the tables of the application that can be searched. What cannot is noted as a gap.
func (f *finder) places(live domain.Catalog) (places []sqltext.Place) {
	for _, table := range live.Tables {
		if table.Kind == domain.KindView {
			continue
		}
		if slices.Contains(table.Missing, "SELECT") {
			f.gap(table.Name, "", domain.GapPrivilege)
			continue
		}
		if len(table.Columns) == 0 && table.Kind == domain.KindVirtual { // its module is not loaded
			f.gap(table.Name, "", domain.GapFailed)
			continue
		}
		if table.RowSecurity {
			f.gap(table.Name, "", domain.GapRowSecurity)
		}
		place := sqltext.Place{Name: table.Name, From: f.store.dialect.PlaceOf(table)}
		for _, column := range table.Columns {
			switch {
			case !f.store.dialect.Searched(column):
			case slices.Contains(column.Missing, "SELECT"):
				f.gap(table.Name, column.Name, domain.GapPrivilege)
			default:
				place.Columns = append(place.Columns, column)
			}
		}
		places = append(places, place)
	}
	return places
}

func (f *finder) gap(table, column string, reason domain.GapReason) {
	f.found.Gaps = append(f.found.Gaps, domain.FindGap{Table: table, Column: column, Reason: reason})
}

// search looks at the columns of a place. If it cannot be read, that is a gap.
func (f *finder) search(ctx context.Context, place sqltext.Place) error {
	for columns := range slices.Chunk(place.Columns, columnsAtOnce) {
		rows := make([]int64, len(columns)*len(f.sought)) // for each column, one for each value
		for first := 0; first < len(f.sought); first += valuesAtOnce {
			values := f.sought[first:min(first+valuesAtOnce, len(f.sought))]
			counts, err := f.count(ctx, sqltext.Place{From: place.From, Columns: columns}, values)
			if conn.OfTable(ctx, err) {
				f.gap(place.Name, "", gapReason(err))
				return nil
			}
			if err != nil {
				return err
			}
			for i, n := range counts {
				rows[i/len(values)*len(f.sought)+first+i%len(values)] = n
			}
		}
		for i, n := range rows {
			if n > 0 {
				f.found.Occurrences = append(f.found.Occurrences, domain.Occurrence{
					Value: i % len(f.sought), Table: place.Name, Column: columns[i/len(f.sought)].Name, Rows: n,
				})
			}
		}
	}
	return nil
}

// count returns the number of rows for the first column and each of the values, then for the next column.
func (f *finder) count(ctx context.Context, place sqltext.Place, values []any) (counts []int64, err error) {
	text := f.store.dialect.Counts(place, len(values), f.hasJSONB)
	err = conn.Retry(ctx, func() error {
		counts = make([]int64, len(place.Columns)*len(values))
		targets := make([]any, len(counts))
		for i := range counts {
			targets[i] = &counts[i]
		}
		return f.store.pool.Query(ctx, func(rows *sql.Rows) error { return rows.Scan(targets...) }, text, values...)
	})
	return counts, err
}

func gapReason(err error) domain.GapReason {
	switch conn.SQLState(err) {
	case "42501":
		return domain.GapPrivilege
	case "57014", "55P03": // canceled by a statement_timeout, or by a lock_timeout
		return domain.GapTimeout
	default:
		return domain.GapFailed
	}
}
