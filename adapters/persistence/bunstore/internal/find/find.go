// Package find searches the tables of a database for values.
package find

import (
	"cmp"
	"context"
	"database/sql"
	"slices"
	"time"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/conn"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/syntax"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/domain/search"
)

// Settings are those of the store for a search.
type Settings struct {
	Pool     *conn.Pool
	Dialect  syntax.Dialect
	Tables   syntax.Tables
	Patience time.Duration // the time in which the server of a foreign table must answer
}

// finder is the state of a search.
type finder struct {
	Settings
	own    dialect
	sought [][]any // the patterns of each value
	found  search.Result
}

// Values searches the tables of a database and those of habeas for values. See bunstore.Store.Find.
func Values(
	ctx context.Context, settings Settings, live datamap.Catalog, values []string,
	progress func(search.Progress),
) (search.Result, error) {
	f := &finder{Settings: settings, own: syntax.Choose[dialect](settings.Dialect, postgres{}, sqlite{})}
	f.found = search.Result{Occurrences: []search.Occurrence{}, Gaps: []search.Gap{}, Skipped: []search.Gap{}}
	for _, value := range values {
		f.sought = append(f.sought, f.own.searchPatterns(value))
	}
	if progress == nil {
		progress = func(search.Progress) {}
	}
	places, err := f.places(ctx, live)
	if err != nil {
		return search.Result{}, err
	}
	if places, err = f.trusted(ctx, append(places, ownTables(f.Tables)...)); err != nil {
		return search.Result{}, err
	}
	for i, place := range places {
		progress(search.Progress{Table: place.name, Done: i, Tables: len(places)})
		if err := f.search(ctx, place); err != nil {
			return search.Result{}, err
		}
	}
	progress(search.Progress{Done: len(places), Tables: len(places)})
	slices.SortStableFunc(f.found.Gaps, func(a, b search.Gap) int { return cmp.Compare(a.Table, b.Table) })
	return f.found.Complete(len(values)), nil
}

// trusted returns the places in which a search runs only code of roles that the connection trusts, and records a gap
// for each other place.
func (f *finder) trusted(ctx context.Context, places []searchedTable) (trusted []searchedTable, err error) {
	text := f.own.untrusted(places)
	if text == "" || search.IsOfAllOwners(ctx) {
		return places, nil
	}
	excluded := map[int]bool{}
	err = f.read(ctx, func(rows *sql.Rows) error {
		var i int
		err := rows.Scan(&i)
		excluded[i] = true
		return err
	}, text)
	for i, place := range places {
		if excluded[i] {
			f.gap(place.name, "", search.GapOwner)
			continue
		}
		trusted = append(trusted, place)
	}
	return trusted, err
}

// read runs a statement in a read-only transaction, without the policies of row-level security.
func (f *finder) read(ctx context.Context, visit func(*sql.Rows) error, text string, args ...any) error {
	tx, err := f.Pool.Snapshot(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback(context.WithoutCancel(ctx)) }() // nothing was written
	if protect := f.own.protect(); protect != "" {
		if err := tx.Query(ctx, conn.Ignore, protect); err != nil {
			return err
		}
	}
	return tx.Query(ctx, visit, text, args...)
}

// ownTables returns the tables of habeas with the columns whose values are not from habeas: the ids of
// subjects, the texts that an application passes for a consent, a restriction, a request or a hold, the payloads of
// events, and the ids and corrections for external systems.
func ownTables(t syntax.Tables) []searchedTable {
	own := func(name, fromItem string, columns ...string) searchedTable {
		table := searchedTable{name: t.Prefix + name, fromItem: fromItem}
		for _, column := range columns {
			table.columns = append(table.columns, datamap.CatalogColumn{Name: column})
		}
		return table
	}
	return []searchedTable{
		own("consent_records", t.Consents, "subject_id", "purpose", "policy_version"),
		own("restriction_records", t.Restrictions, "subject_id", "purpose", "reason"),
		own("audit_events", t.Events, "subject_ref", "payload"),
		own("outbox", t.Outbox, "subject_id", "ref", "corrections"),
		own("subject_erasures", t.Erasures, "subject_id"),
		own("requests", t.Requests, "subject_id", "purpose", "reference"),
		own("holds", t.Holds, "subject_id", "reference"),
	}
}

// places returns the searchable tables of the application with their searchable columns. It records a gap for each
// table or column that the role cannot read. It skips views, and columns of certain types.
func (f *finder) places(ctx context.Context, live datamap.Catalog) (places []searchedTable, err error) {
	for _, table := range live.Tables {
		if table.Kind == datamap.KindView {
			f.skip(table.Name, "", search.SkippedView)
			continue
		}
		if slices.Contains(table.Missing, "SELECT") {
			f.gap(table.Name, "", search.GapPrivilege)
			continue
		}
		if len(table.Columns) == 0 && table.Kind == datamap.KindVirtual { // the module of the virtual table is not loaded
			f.gap(table.Name, "", search.GapFailed)
			continue
		}
		if table.RowSecurity {
			f.gap(table.Name, "", search.GapRowSecurity)
			continue
		}
		place := searchedTable{name: table.Name, fromItem: f.own.fromItem(table)}
		if place.foreign, err = f.foreign(ctx, table); err != nil {
			return nil, err
		}
		for _, column := range table.Columns {
			switch {
			case !f.own.isSearched(column):
				f.skip(table.Name, column.Name, search.SkippedType)
			case slices.Contains(column.Missing, "SELECT"):
				f.gap(table.Name, column.Name, search.GapPrivilege)
			default:
				place.columns = append(place.columns, column)
			}
		}
		places = append(places, place)
	}
	return places, nil
}

// foreign returns the tables on other servers that a search of the table reads.
func (f *finder) foreign(ctx context.Context, table datamap.CatalogTable) ([]string, error) {
	switch table.Kind { //nolint:exhaustive // the other tables are in this database
	case datamap.KindForeign:
		return []string{f.own.fromItem(table)}, nil
	case datamap.KindPartitioned:
		return conn.Query(f.Pool.Query).Texts(ctx, f.own.foreignPartitions(table))
	default:
		return nil, nil
	}
}

func (f *finder) skip(table, column string, reason search.GapReason) {
	f.found.Skipped = append(f.found.Skipped, search.Gap{Table: table, Column: column, Reason: reason})
}

func (f *finder) gap(table, column string, reason search.GapReason) {
	f.found.Gaps = append(f.found.Gaps, search.Gap{Table: table, Column: column, Reason: reason})
}

// The maximum numbers of columns and of values in one statement. On PostgreSQL, each value is a regular expression. A
// connection caches 32 compiled regular expressions. If a statement had more values, the server might compile them
// again for each row.
const (
	maxSearchedColumns = 8
	maxSearchedValues  = 16
)

// search searches the columns of a table. If the table cannot be read, search records a gap and returns nil.
func (f *finder) search(ctx context.Context, place searchedTable) error {
	if err := f.contact(ctx, place); err != nil {
		return f.gapOr(ctx, place, err)
	}
	for columns := range slices.Chunk(place.columns, maxSearchedColumns) {
		rows := make([]int64, len(columns)*len(f.sought)) // column by column, one count for each value
		for first := 0; first < len(f.sought); first += maxSearchedValues {
			values := f.sought[first:min(first+maxSearchedValues, len(f.sought))]
			counts, err := f.count(ctx, searchedTable{fromItem: place.fromItem, columns: columns}, values)
			if err != nil {
				return f.gapOr(ctx, place, err)
			}
			for i, n := range counts {
				rows[i/len(values)*len(f.sought)+first+i%len(values)] = n
			}
		}
		for i, n := range rows {
			if n > 0 {
				f.found.Occurrences = append(f.found.Occurrences, search.Occurrence{
					Value: i % len(f.sought), Table: place.name, Column: columns[i/len(f.sought)].Name, Rows: n,
				})
			}
		}
	}
	return nil
}

// gapOr records a gap and returns nil if err belongs to the table. Otherwise, it returns err.
func (f *finder) gapOr(ctx context.Context, place searchedTable, err error) error {
	switch {
	case ctx.Err() != nil:
		return err
	case conn.OfTable(ctx, err):
		f.gap(place.name, "", gapReason(err))
		return nil
	case len(place.foreign) > 0 && f.Pool.Query(ctx, conn.Ignore, "SELECT 1") == nil: // another server failed
		f.gap(place.name, "", search.GapFailed)
		return nil
	}
	return err
}

// contact reads one row from each other server that holds rows of the table. It returns an error if a server does not
// answer in time: a search of the table could otherwise wait for hours.
func (f *finder) contact(ctx context.Context, place searchedTable) error {
	ctx, cancel := context.WithTimeout(ctx, f.Patience)
	defer cancel()
	for _, table := range place.foreign {
		if err := f.read(ctx, conn.Ignore, f.own.firstRow(table)); err != nil {
			return err
		}
	}
	return nil
}

// count returns a number for each pair of a column and a value: the number of rows in which the column contains the
// value. The first len(values) numbers belong to the first column, in the order of the values.
func (f *finder) count(
	ctx context.Context, place searchedTable, values [][]any,
) (counts []int64, err error) {
	text := f.own.counts(place, len(values))
	err = conn.Retry(ctx, func() error {
		counts = make([]int64, len(place.columns)*len(values))
		targets := conn.AddTargets(nil, counts)
		return f.read(ctx, func(rows *sql.Rows) error { return rows.Scan(targets...) }, text, slices.Concat(values...)...)
	})
	return counts, err
}

func gapReason(err error) search.GapReason {
	switch conn.SQLState(err) {
	case "42501":
		return search.GapPrivilege
	case "57014", "55P03": // canceled by statement_timeout or by lock_timeout
		return search.GapTimeout
	default:
		return search.GapFailed
	}
}
