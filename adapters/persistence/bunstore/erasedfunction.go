package bunstore

import (
	"context"
	"database/sql"
	"strings"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/conn"
	"github.com/habeas-data/habeas/domain/datamap"
)

// erasedFunction is the state of the function that reports whether a subject was erased (see sqltext.Tables.IsErased).
// The function names the schema of the table that it reads. After the schema was renamed, or copied under another name,
// it would read the marks of another schema, which can belong to another tenant.
type erasedFunction struct {
	needed     bool // whether the database has such a function
	exists     bool
	reads      bool // it reads the table of its own schema
	executable bool // this role may call it
}

func (m migration) findErasedFunction(
	ctx context.Context, query conn.Query, schema string,
) (found erasedFunction, err error) {
	text := m.dialect.ErasedFunction(schema, m.name)
	if text == "" || schema == "" {
		return found, nil
	}
	found.needed = true
	return found, query(ctx, func(rows *sql.Rows) error {
		found.exists = true
		return rows.Scan(&found.reads, &found.executable)
	}, text)
}

// lacking returns the part of an error that describes the problem of the function, or "".
func (f erasedFunction) lacking(name string) string {
	switch {
	case !f.needed || f.exists && f.reads && f.executable:
		return ""
	case !f.exists:
		return "the function " + name
	case !f.reads:
		return "the function " + name + " for this schema (it reads another schema)"
	default:
		return "the privilege EXECUTE on the function " + name
	}
}

// repairErasedFunction replaces the function if it is missing or reads another schema.
func (m migration) repairErasedFunction(ctx context.Context) error {
	state, err := m.find(ctx, m.pool.Query)
	if err != nil {
		return err
	}
	found, err := m.findErasedFunction(ctx, m.pool.Query, state.schema)
	if err != nil || !found.needed || found.exists && found.reads {
		return err
	}
	create := "CREATE FUNCTION " + datamap.ObjectPrefix(m.name) + "is_erased"
	statements := m.dialect.PrepareMigration(state.schema)
	for _, file := range m.files {
		for _, statement := range m.statementsOf(file.text) {
			if strings.Contains(statement, create) {
				statements = append(statements, strings.Replace(statement, "CREATE FUNCTION", "CREATE OR REPLACE FUNCTION", 1))
			}
		}
	}
	tx, err := m.pool.Begin(ctx)
	if err != nil {
		return err
	}
	if err := m.exec(ctx, tx, statements...); err != nil {
		_ = tx.Rollback(context.WithoutCancel(ctx)) // err is the cause; no further cleanup is possible
		return err
	}
	return tx.Commit(ctx)
}
