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

	unrecorded bool // there are tables, but no table of migrations
	first      bool // the tables are those of the first version of firstMigration, which an upgrade file brings forward
	checksums  bool // the table of migrations has the column checksum
}

// complete reports whether Migrate has nothing to do.
func (s migrated) complete() bool { return len(s.pending) == 0 && s.checksums }

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
	state.checksums = slices.Contains(state.tables[at].columns, "checksum")
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
	checksum := "NULL"
	if state.checksums {
		checksum = "checksum"
	}
	unknown, older, unproven := []string{}, 0, false
	changed := []string{}
	err := query(ctx, func(rows *sql.Rows) error {
		var name string
		var sum sql.NullString
		if err := rows.Scan(&name, &sum); err != nil {
			return err
		}
		at := slices.IndexFunc(m.files, func(file migrationFile) bool { return file.name == name })
		switch {
		case at >= 0 && sum.Valid && sum.String != m.files[at].checksum:
			changed = append(changed, name)
		case at >= 0:
			unproven = unproven || !sum.Valid && name == firstMigration
			state.pending = slices.DeleteFunc(state.pending, func(pending string) bool { return pending == name })
		case m.name == "" && (name == oldLedgers || name == oldOutboxStage):
			older++
		default:
			unknown = append(unknown, name)
		}
		return nil
	}, "SELECT name, "+checksum+" FROM "+syntax.Quote(state.schema)+"."+m.migrationsTable()+" ORDER BY name")
	switch {
	case err != nil:
		return err
	case len(unknown) > 0:
		return domain.Misconfigured("bunstore", "this version of habeas does not have these migrations, which were applied"+
			" to the database: "+strings.Join(unknown, ", ")+". A newer version of habeas has changed the tables: use that"+
			" version or a newer one")
	case len(changed) > 0:
		return domain.Misconfigured("bunstore", "these migrations were applied with another text than that of this version"+
			" of habeas (their checksums differ): "+strings.Join(changed, ", ")+". Use the version of habeas that applied"+
			" them, and do not edit the files of migrations")
	case unproven || older > 0:
		return m.compareObjects(ctx, query, state, older > 0)
	default:
		return nil
	}
}

// compareObjects compares the tables with those after firstMigration. It is necessary for databases without checksums,
// because earlier versions of habeas changed the text of this migration. If the tables are those of its first version,
// compareObjects sets state.first and makes the migration pending. It returns domain.ErrConfiguration for the tables of
// a version between the first and the current one. If older is true, only the first version is accepted.
func (m *Migration) compareObjects(ctx context.Context, query conn.Query, state *migrated, older bool) error {
	found, err := query.Texts(ctx, m.own.ownObjects(state.schema, m.name))
	if err != nil {
		return err
	}
	// The first version had the early objects, and the current version adds the later ones.
	var early, later, missingEarly, missing []string
	for _, object := range m.objectsOf(m.files[0]) {
		switch has, late := slices.Contains(found, object), m.missingAtFirst(object); {
		case has && late:
			later = append(later, object)
		case has:
			early = append(early, object)
		default:
			missing = append(missing, object)
			if !late {
				missingEarly = append(missingEarly, object)
			}
		}
	}
	switch {
	case len(missing) == 0 && !older:
		return nil
	case len(later) == 0 && len(missingEarly) == 0 && m.name == "":
		state.first = true
		if !slices.Contains(state.pending, firstMigration) {
			state.pending = append([]string{firstMigration}, state.pending...)
		}
		return nil
	}
	return domain.Misconfigured("bunstore", "the tables of habeas in the schema "+state.schema+" are of a version that"+
		" Migrate cannot bring forward. They have "+listed(early, later)+", and lack "+
		listed(missing, missingEarly)+". Rename these tables, run Migrate to create the current tables, and copy the rows;"+
		" or restore a backup of a version that the page about migrations lists")
}

// listed returns up to eight objects, the preferred ones if there are any.
func listed(objects, preferred []string) string {
	if len(preferred) > 0 {
		objects = preferred
	}
	const most = 8
	if len(objects) > most {
		return strings.Join(objects[:most], ", ") + " and others"
	}
	if len(objects) == 0 {
		return "nothing"
	}
	return strings.Join(objects, ", ")
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
