package migrate

import (
	"cmp"
	"context"
	"database/sql"
	"slices"
	"strings"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/conn"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/syntax"
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
	"requests":            {"SELECT", "INSERT", "UPDATE", "DELETE"},
	"holds":               {"SELECT", "INSERT", "UPDATE"},
	"duties":              {"SELECT", "INSERT", "UPDATE"},
	"positions":           {"SELECT", "INSERT", "UPDATE"},
	"installation":        {"SELECT", "UPDATE"},
	"ancestors":           {"SELECT", "INSERT"},
}

// Privileges returns what the store needs on its tables, in the order of syntax.TableNames. It needs INSERT only on the
// columns of the trail that have no sequence: a number of the application's choice could put a row in front of others.
func (m *Migration) Privileges() (all []datamap.Privileges) {
	prefix, columns := datamap.ObjectPrefix(m.name), m.columns()
	for _, name := range syntax.TableNames() {
		granted := slices.Clone(needed[name])
		if name == "audit_events" {
			inserted := slices.DeleteFunc(columns[prefix+name], func(column string) bool { return column == "seq" })
			granted[slices.Index(granted, "INSERT")] = "INSERT (" + strings.Join(inserted, ", ") + ")"
		}
		table := prefix + name
		if m.schema != "" {
			table = m.schema + "." + table
		}
		all = append(all, datamap.Privileges{Table: table, Granted: granted})
	}
	return all
}

// Probe compares the tables of habeas, their columns, the functions that habeas calls, the privileges of the role and
// the applied migrations with what this version needs. The limit is domain.ErrReadOnlyDatabase if the database can only
// be read, domain.ErrNewerTables if a newer version has applied migrations, and otherwise nil.
func (m *Migration) Probe(ctx context.Context) (limit, err error) {
	state, err := m.find(ctx, m.pool.Query)
	if err == nil && !state.complete() && !state.unrecorded { // unrecorded: the application runs the migrations itself
		err = domain.Misconfigured("bunstore", "migrations are pending: run Migrate")
	}
	if err == nil {
		err = m.lacking(ctx, m.pool.Query, state)
	}
	if err != nil {
		err = cmp.Or(m.needs.Check(ctx, m.pool.Query), err) // the environment may be the cause
	}
	switch {
	case slices.ContainsFunc(state.tables, func(p placed) bool { return p.readOnly }):
		return domain.ErrReadOnlyDatabase, err
	case len(state.newer) > 0:
		return domain.ErrNewerTables, err
	}
	return nil, err
}

// lacking returns domain.ErrConfiguration if a table, a column, a function or a privilege is missing. The message names
// all of them.
func (m *Migration) lacking(ctx context.Context, query conn.Query, state migrated) error {
	var missing []string
	prefix := datamap.ObjectPrefix(m.name)
	columns := m.columns()
	for _, name := range syntax.TableNames() {
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
	functions, err := m.findFunctions(ctx, query, state.schema)
	if err != nil {
		return err
	}
	for _, function := range functions {
		if lacks := function.lacking(); lacks != "" {
			missing = append(missing, lacks)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	return domain.Misconfigured("bunstore", "the tables of habeas are incomplete for this role: "+
		strings.Join(missing, ", ")+" is missing. Restore the objects, or grant the privileges."+
		" Migrate repairs functions")
}

// ownFunction is the state of a function that habeas calls. The function that reports whether a subject was erased (see
// syntax.Tables.IsErased) names the schema of the table that it reads. After the schema was renamed, or copied under
// another name, it would read the marks of another schema, which can belong to another tenant.
type ownFunction struct {
	name       string
	exists     bool
	reads      bool // it reads the table of its own schema, if it reads any
	executable bool // this role may call it
}

func (m *Migration) findFunctions(
	ctx context.Context, query conn.Query, schema string,
) (found []ownFunction, err error) {
	text := m.own.functions(schema, m.name)
	if text == "" || schema == "" {
		return nil, nil
	}
	err = query(ctx, func(rows *sql.Rows) error {
		var f ownFunction
		err := rows.Scan(&f.name, &f.exists, &f.reads, &f.executable)
		found = append(found, f)
		return err
	}, text)
	return found, err
}

// lacking returns the part of an error that describes the problem of the function, or "".
func (f ownFunction) lacking() string {
	switch {
	case !f.exists:
		return "the function " + f.name
	case !f.reads:
		return "the function " + f.name + " for this schema (it reads another schema)"
	case !f.executable:
		return "the privilege EXECUTE on the function " + f.name
	default:
		return ""
	}
}

// repairFunctions replaces functions that are missing or read another schema.
func (m *Migration) repairFunctions(ctx context.Context, state migrated) error {
	found, err := m.findFunctions(ctx, m.pool.Query, state.schema)
	found = slices.DeleteFunc(found, func(f ownFunction) bool { return f.exists && f.reads })
	if err != nil || len(found) == 0 {
		return err
	}
	statements := m.own.prepareMigration(state.schema)
	for _, file := range m.files {
		for _, statement := range m.statementsOf(file.text) {
			if slices.ContainsFunc(found, func(f ownFunction) bool {
				return strings.Contains(statement, "CREATE FUNCTION "+f.name+"(")
			}) {
				statements = append(statements, strings.Replace(statement, "CREATE FUNCTION", "CREATE OR REPLACE FUNCTION", 1))
			}
		}
	}
	return m.pool.InTransaction(ctx, func(tx *conn.Tx) error { return m.exec(ctx, tx, statements...) })
}
