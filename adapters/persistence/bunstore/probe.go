package bunstore

import (
	"context"
	"slices"
	"strings"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/conn"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/sqltext"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
)

// needed has the privileges that the store needs on its tables, by the name of the table without the prefix.
var needed = map[string][]string{
	"migrations":          {"SELECT"},
	"consent_records":     {"SELECT", "INSERT"},
	"restriction_records": {"SELECT", "INSERT", "UPDATE"},
	"audit_events":        {"SELECT", "INSERT"},
	"outbox":              {"SELECT", "INSERT", "UPDATE", "DELETE"},
	"subject_erasures":    {"SELECT", "INSERT", "UPDATE", "DELETE"},
	"positions":           {"SELECT", "INSERT", "UPDATE"},
	"installation":        {"SELECT", "UPDATE"},
	"ancestors":           {"SELECT", "INSERT"},
}

// Probe implements ports.SessionFactory. It compares the tables of habeas, their columns, the function that habeas
// calls, the privileges of the role and the applied migrations with what this version needs, and the data map with the
// installation. It never writes.
func (s *Store) Probe(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return conn.Wrap(ctx, "probe", err)
	}
	state, err := s.migration.find(ctx, s.pool.Query)
	if err == nil && !state.complete() && !state.unrecorded { // unrecorded: the application runs the migrations itself
		err = domain.Misconfigured("bunstore", "migrations are pending: run Migrate")
	}
	if err == nil {
		err = s.migration.lacking(ctx, s.pool.Query, state)
	}
	if err != nil {
		return conn.Wrap(ctx, "probe", err)
	}
	installation, err := (&session{store: s}).readKey(ctx)
	if err == nil {
		err = installation.Check(s.text.DataMap)
	}
	if err == nil && slices.ContainsFunc(state.tables, func(p placed) bool { return p.readOnly }) {
		return domain.ErrReadOnlyDatabase
	}
	return conn.Wrap(ctx, "probe", err)
}

// lacking returns domain.ErrConfiguration if a table, a column, a function or a privilege is missing. The message names
// all of them.
func (m migration) lacking(ctx context.Context, query conn.Query, state migrated) error {
	var missing []string
	prefix := datamap.ObjectPrefix(m.name)
	columns := m.columnsOf(m.files...)
	for _, name := range sqltext.TableNames() {
		at := slices.IndexFunc(state.tables, func(p placed) bool { return p.table == prefix+name })
		switch {
		case at < 0 && name == "migrations" && state.unrecorded:
			continue
		case at < 0:
			missing = append(missing, "the table "+prefix+name)
			continue
		}
		found := state.tables[at]
		for _, column := range columns[prefix+name] {
			if !slices.Contains(found.columns, column) {
				missing = append(missing, "the column "+prefix+name+"."+column)
			}
		}
		if found.readOnly {
			continue // the role of a database that can only be read needs no privilege to write
		}
		for _, privilege := range needed[name] {
			if !slices.Contains(found.privileges, privilege) {
				missing = append(missing, "the privilege "+privilege+" on "+prefix+name)
			}
		}
	}
	function, err := m.findErasedFunction(ctx, query, state.schema)
	if err != nil {
		return err
	}
	if lacks := function.lacking(prefix + "is_erased"); lacks != "" {
		missing = append(missing, lacks)
	}
	if len(missing) == 0 {
		return nil
	}
	return domain.Misconfigured("bunstore", "the tables of habeas are incomplete for this role: "+
		strings.Join(missing, ", ")+" is missing. Restore the objects, or grant the privileges."+
		" Migrate repairs functions")
}

// columnsOf returns the columns that migrations create, by table.
func (m migration) columnsOf(files ...migrationFile) map[string][]string {
	columns := map[string][]string{}
	for _, object := range m.objectsOf(files...) {
		if table, column, ok := strings.Cut(object, "."); ok {
			columns[table] = append(columns[table], column)
		}
	}
	return columns
}
