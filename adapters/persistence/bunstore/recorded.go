package bunstore

import (
	"context"
	"database/sql"
	"encoding/json"
	"strings"

	"github.com/uptrace/bun"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/conn"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/sqltext"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
)

// The functions of this file read the installations of a database for a program that has no data map. They only read.

// InstalledNames returns the names (see Options.Name) of all data maps whose tables of habeas are in Options.Schema or,
// if that is empty, in the search path of the connection. The data map without a name has the name "".
func InstalledNames(ctx context.Context, db *bun.DB, opts Options) (names []string, err error) {
	m, err := newMigration(db, opts)
	if err != nil {
		return nil, err
	}
	err = conn.Retry(ctx, func() error {
		names = nil
		tables, err := conn.Query(m.pool.Query).Texts(ctx, m.dialect.Installations(opts.Schema))
		for _, table := range tables {
			name := strings.TrimSuffix(strings.TrimPrefix(table, datamap.ObjectPrefix("")), "installation")
			name = strings.TrimSuffix(name, "_")
			if table == datamap.ObjectPrefix(name)+"installation" && datamap.CheckMapName("bunstore", name) == nil {
				names = append(names, name)
			}
		}
		return conn.Wrap(ctx, "installation", err)
	})
	return names, err
}

// ReadInstallation returns the id of the installation with the given Options.Schema and Options.Name, and the subject
// table and the key columns of its data map. They are empty if no session has recorded them yet. ReadInstallation
// returns domain.ErrConfiguration if the tables of habeas do not exist.
func ReadInstallation(ctx context.Context, db *bun.DB, opts Options) (found datamap.Installation, err error) {
	m, err := newMigration(db, opts)
	if err != nil {
		return found, err
	}
	tables := sqltext.TablesIn(opts.Schema, opts.Name)
	texts := sqltext.NewInstallation(&sqltext.Writer{Dialect: m.dialect, Tables: tables})
	err = conn.Retry(ctx, func() error {
		found, err = readKey(ctx, m.pool.Query, texts.Key, tables.Prefix)
		return conn.Wrap(ctx, "installation", err)
	})
	return found, err
}

// readKey reads the id of an installation and its data map.
func readKey(ctx context.Context, query conn.Query, text, prefix string) (found datamap.Installation, err error) {
	exists := false
	err = query(ctx, func(rows *sql.Rows) error {
		var table, columns sql.NullString
		exists = true
		if err := rows.Scan(&found.ID, &table, &columns); err != nil || !table.Valid {
			return err
		}
		found.SubjectTable = table.String
		return json.Unmarshal([]byte(columns.String), &found.KeyColumns)
	}, text)
	if err == nil && !exists {
		err = domain.Misconfigured("installation", "the table "+prefix+"installation has lost its row:"+
			" restore it from a backup of the same database")
	}
	return found, err
}
