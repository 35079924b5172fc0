package bunstore

import (
	"context"
	"database/sql"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/habeas-data/habeas/domain"
)

// catalog says what the database's own catalog holds about the tables of the data map, as far as an erasure depends on
// it. It counts for one fingerprint: the database returns another one once something of it has changed.
type catalog struct {
	fingerprint string
	volatile    bool // it must be read each time: the fingerprint does not cover all of it
	tables      map[string]liveTable
}

// keepsAny reports whether the database may keep something of any table. A trigger of one table may restore what was in
// another one, and a deferred one may still have to fire.
func (c *catalog) keepsAny() bool {
	for _, table := range c.tables {
		if table.keeps {
			return true
		}
	}
	return false
}

// liveTable is a table, or a view, as it is in the database.
type liveTable struct {
	hides  string            // why the database may hide rows of it from the store; empty if it does not
	keeps  bool              // the database may keep what it is told to delete: triggers, rules, a view, tables below it
	moves  bool              // what counts lies elsewhere, and can change without a change of the fingerprint
	kind   string            // "a foreign table", say, if its rows cannot be locked
	remote bool              // it does not say which transaction has written a row
	types  map[string]string // the columns, without generated ones, and their types
	writes writes            // of triggers
	mixes  string            // columns by whose types keys are converted; empty if there are none
	narrow string            // columns by whose types long numbers in ids are converted; empty if there are none
}

// touched are the tables of a data map that an erasure or an export reads or writes: those that hold personal data, and
// those through which they reach the subject, the subject's first.
func touched(m domain.DataMap) []domain.Table {
	needed := map[string]bool{m.SubjectTable().Name: true}
	for _, table := range m.Tables() {
		if len(table.Personal()) == 0 && !table.Owned {
			continue
		}
		needed[table.Name] = true
		for _, relation := range m.Path(table.Name) {
			needed[relation.References] = true
		}
	}
	return slices.DeleteFunc(slices.Clone(m.Tables()), func(t domain.Table) bool { return !needed[t.Name] })
}

// learn makes sure that the session knows the catalog of the fingerprint.
func (s *session) learn(ctx context.Context, fingerprint string) error {
	if known := s.store.catalog.Load(); known != nil && known.fingerprint == fingerprint && !known.volatile {
		s.catalog = known
		return nil
	}
	learned := &catalog{fingerprint: fingerprint, volatile: fingerprint == "", tables: map[string]liveTable{}}
	for _, table := range s.store.touched {
		live, err := s.inspect(ctx, table)
		if err != nil {
			return err
		}
		learned.tables[table.Name] = live
		learned.volatile = learned.volatile || live.moves
		s.store.warnOfCopies(ctx, table, live)
	}
	for _, table := range s.store.touched {
		live := learned.tables[table.Name]
		live.mixes, live.narrow = s.store.conversion(learned, table), s.store.narrowing(learned, table)
		learned.tables[table.Name] = live
	}
	s.store.catalog.Store(learned)
	s.catalog = learned
	return nil
}

// inspect asks the database for a table. A table that is missing has no columns.
func (s *session) inspect(ctx context.Context, table domain.Table) (live liveTable, err error) {
	schemas := []string{""}
	if text := s.store.dialect.schemas(table.Name); text != "" {
		schemas = nil
		err := s.read(ctx, "inspect", func(rows *sql.Rows) error {
			schemas = append(schemas, "")
			return rows.Scan(&schemas[len(schemas)-1])
		}, text)
		if err != nil {
			return live, err
		}
	}
	for _, schema := range schemas {
		text, name := s.store.dialect.inspection(schema, table.Name)
		quotes := s.store.dialect.quotes()
		err := s.read(ctx, "inspect", func(rows *sql.Rows) error { return live.scan(rows, quotes) }, text, name)
		if err != nil || live.types != nil {
			live.moves = live.moves || schema != "" && schema != "main"
			return live, err
		}
	}
	return live, nil
}

// scan reads a row of the catalog. It returns whether the table is not a plain table, whether row-level security is
// active, the text of a view, the columns with their types, the reason why rows cannot be locked, and the triggers.
func (live *liveTable) scan(rows *sql.Rows, quotes map[byte]byte) error {
	var special, secured bool
	var view, columns, kind, triggerTexts sql.NullString
	if err := rows.Scan(&special, &secured, &view, &columns, &kind, &triggerTexts); err != nil {
		return err
	}
	var triggers []trigger
	for text, target := range map[string]any{columns.String: &live.types, triggerTexts.String: &triggers} {
		if text == "" {
			continue
		}
		if err := json.Unmarshal([]byte(text), target); err != nil {
			return err
		}
	}
	live.keeps, live.writes = special || len(triggers) > 0, writesOf(triggers, quotes)
	live.moves, live.kind, live.remote = view.Valid, kind.String, view.Valid || kind.Valid
	switch {
	case secured:
		live.hides = "row-level security is active"
	case tokensOf(view.String, quotes).leaveOut():
		live.hides = "it is a view that leaves rows out"
	}
	return nil
}

// known makes sure that the session knows the catalog.
func (s subjectStore) known(ctx context.Context, id domain.SubjectID, key []any) (*catalog, error) {
	if s.catalog == nil {
		if _, err := s.look(ctx, id, key); err != nil {
			return nil, err
		}
	}
	return s.catalog, nil
}

// sameTable reports whether two names are those of one table, as far as names can tell: an unqualified name means the
// schema public, or main.
func sameTable(a, b string) bool {
	plain := func(name string) string {
		name = strings.ToLower(name)
		return strings.TrimPrefix(strings.TrimPrefix(name, "public."), "main.")
	}
	return plain(a) == plain(b)
}

// refuseHidden looks for a table in which the database may hide rows of the subject from the store, or whose keys it
// converts. It returns the first one with an error.
func (s *Store) refuseHidden(c *catalog, id domain.SubjectID, op string) (table string, err error) {
	long := slices.ContainsFunc(id.Elements(), longNumber)
	for _, table := range s.touched {
		why := c.tables[table.Name].mixes
		if why == "" && long {
			why = c.tables[table.Name].narrow
		}
		if why != "" {
			return table.Name, &domain.Error{
				Code: domain.ErrConfiguration, Op: op, Message: why + ": SQLite converts values between them, so that rows of" +
					" the subject could be missed, or taken for those of another. Give both columns one type, and no real one",
			}
		}
	}
	if s.trustRowFilters {
		return "", nil
	}
	for _, table := range s.touched {
		if why := c.tables[table.Name].hides; why != "" {
			return table.Name, &domain.Error{
				Code: domain.ErrConfiguration, Op: op, Message: table.Name + ": the database may hide rows of the subject: " +
					why + ". If it shows all of them to this role, set TrustRowFilters",
			}
		}
	}
	return "", nil
}

// refuseUnknown returns an error if a step deletes rows together with columns that the data map does not have.
func (s *Store) refuseUnknown(c *catalog, step domain.Step) error {
	table, _ := s.dataMap.Table(step.Target)
	if step.Strategy != domain.StrategyDelete || table.Owned {
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(c.tables[table.Name].types)) {
		if !slices.ContainsFunc(table.Columns, func(c domain.Column) bool { return s.dialect.sameName(c.Name, name) }) {
			return &domain.Error{
				Code: domain.ErrManifest, Op: "erase", Message: table.Name + "." + name + ": is not in the data map, " +
					"and would be deleted with its row. Add the column, or declare the table owned",
			}
		}
	}
	return nil
}
