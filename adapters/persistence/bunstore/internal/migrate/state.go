package migrate

import (
	"context"
	"database/sql"
	"encoding/json"
	"slices"
	"strings"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/conn"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/live"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/syntax"
	"github.com/habeas-data/habeas/domain"
)

// placed is a table of habeas in the database.
type placed struct {
	schema, table string
	columns       []string
	privileges    []string // of the role, on the table or a part of its columns
	readOnly      bool     // whether the database can only be read
}

// migrated is the state of the tables of habeas in a database.
type migrated struct {
	// schema is that of the tables. If it is empty, the database applies the migrations in its default schema.
	schema  string
	tables  []placed
	pending []string // the names of the pending migrations, in order
	newer   []string // the names of the migrations that a newer version of habeas has applied, in order

	unrecorded bool // there are tables, but no table of migrations
}

// complete reports whether Migrate has nothing to apply.
func (s migrated) complete() bool { return len(s.pending) == 0 || len(s.newer) > 0 }

// find reads the state of the tables. It returns domain.ErrConfiguration if Migrate must not change them.
func (m *Migration) find(ctx context.Context, query conn.Query) (state migrated, err error) {
	for _, file := range m.files {
		state.pending = append(state.pending, file.name)
	}
	if state.tables, err = m.findTables(ctx, query); err != nil {
		return state, err
	}
	schema, err := onlySchema(state.tables)
	if err != nil || schema == "" {
		state.schema = m.schema
		return state, err
	}
	state.schema = schema
	at := slices.IndexFunc(state.tables, func(p placed) bool { return p.table == m.migrationsTable() })
	if at < 0 {
		state.unrecorded = true
		return state, m.canMigrate(schema)
	}
	if err := m.compareApplied(ctx, query, &state); err != nil {
		return state, err
	}
	if !state.complete() {
		err = m.canMigrate(schema)
	}
	return state, err
}

// compareApplied compares the applied migrations with the files, and removes them from state.pending.
func (m *Migration) compareApplied(ctx context.Context, query conn.Query, state *migrated) error {
	var breaking, changed []string
	err := query(ctx, func(rows *sql.Rows) error {
		var name string
		var sum sql.NullString // NULL if the application runs the migrations and records their names
		var breaks bool
		if err := rows.Scan(&name, &sum, &breaks); err != nil {
			return err
		}
		at := slices.IndexFunc(m.files, func(file migrationFile) bool { return file.name == name })
		switch {
		case at < 0 && breaks:
			breaking = append(breaking, name)
		case at < 0:
			state.newer = append(state.newer, name)
		case sum.Valid && sum.String != m.files[at].checksum:
			changed = append(changed, name)
		default:
			state.pending = slices.DeleteFunc(state.pending, func(pending string) bool { return pending == name })
		}
		return nil
	}, "SELECT name, checksum, breaks FROM "+syntax.Quote(state.schema)+"."+m.migrationsTable()+" ORDER BY name")
	switch {
	case err != nil:
		return err
	case len(breaking) > 0:
		return domain.Misconfigured("bunstore", "a newer version of habeas has applied migrations with which this version"+
			" cannot work: "+strings.Join(breaking, ", ")+". Use that version or a newer one")
	case len(changed) > 0:
		return domain.Misconfigured("bunstore", "these migrations were applied with another text than that of this version"+
			" of habeas (their checksums differ): "+strings.Join(changed, ", ")+". Use the version of habeas that applied"+
			" them, and do not edit the files of migrations")
	default:
		return nil
	}
}

// findTables returns the tables of habeas in Options.Schema. Without Options.Schema, it returns the tables that
// unqualified names can resolve to, in the order of resolution.
func (m *Migration) findTables(ctx context.Context, query conn.Query) (found []placed, err error) {
	schemas, err := live.Schemas(ctx, query, m.dialect)
	if err != nil {
		return nil, err
	}
	if m.schema != "" {
		schemas = []string{m.schema}
	}
	for _, schema := range schemas {
		err := query(ctx, func(rows *sql.Rows) error {
			var p placed
			var columns, privileges string
			if err := rows.Scan(&p.schema, &p.table, &columns, &privileges, &p.readOnly); err != nil {
				return err
			}
			p.privileges = strings.Split(privileges, ",")
			found = append(found, p)
			return json.Unmarshal([]byte(columns), &found[len(found)-1].columns)
		}, m.own.ownTables(schema, m.name))
		if err != nil {
			return nil, err
		}
	}
	return found, nil
}

// onlySchema returns the schema of the tables, or "" if there are no tables. It returns domain.ErrConfiguration if the
// tables are in several schemas, because an unqualified name would mean the table of only one schema.
func onlySchema(tables []placed) (string, error) {
	var schemas []string
	for _, table := range tables {
		if !slices.Contains(schemas, table.schema) {
			schemas = append(schemas, table.schema)
		}
	}
	switch len(schemas) {
	case 0:
		return "", nil
	case 1:
		return schemas[0], nil
	default:
		return "", domain.Misconfigured("bunstore", "the tables of habeas are in several schemas that unqualified names can"+
			" mean ("+strings.Join(schemas, ", ")+"): set Options.Schema to one of them, or remove the others from the search"+
			" path")
	}
}

func (m *Migration) canMigrate(schema string) error {
	if m.own.canMigrate(schema) {
		return nil
	}
	return domain.Misconfigured("bunstore", "the tables of habeas are in the attached database "+schema+
		", which Migrate does not change: open that database itself and run Migrate on it")
}
