package installation

import (
	"context"
	"database/sql"
	"strconv"
	"strings"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/conn"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/syntax"
	"github.com/habeas-data/habeas/domain"
)

// Environment has the requirements on a database and on its connections.
type Environment struct {
	Dialect       syntax.Dialect
	TrustEncoding bool // see bunstore.Options
}

// Check reads the environment. It returns domain.ErrConfiguration if habeas cannot work in it.
func (e Environment) Check(ctx context.Context, query conn.Query) error {
	var found string
	err := query(ctx, func(rows *sql.Rows) error { return rows.Scan(&found) },
		"SELECT "+dialectOf(e.Dialect).environment())
	if err != nil {
		return err
	}
	return e.refuse(found)
}

// The first versions that have all functions that habeas calls.
const (
	firstPostgres = 14
	firstSQLite   = 3045 // 3.45
)

// refuse returns the error for an environment that habeas refuses.
func (e Environment) refuse(environment string) error {
	found := strings.Fields(environment)
	if len(found) == 1 {
		parts := strings.Split(found[0]+".0", ".")
		major, _ := strconv.Atoi(parts[0])
		minor, _ := strconv.Atoi(parts[1])
		if 1000*major+minor < firstSQLite {
			return domain.Misconfigured("database", "SQLite "+found[0]+" is too old: habeas needs 3.45 or later. Upgrade the"+
				" driver, which contains SQLite")
		}
		return nil
	}
	if len(found) < 4 {
		return domain.Misconfigured("database", "the driver does not return the settings of the connection")
	}
	client, server := found[0], found[1]
	version, _ := strconv.Atoi(found[2])
	trusted := e.TrustEncoding && server == unknownEncoding
	switch {
	case version/10000 < firstPostgres:
		return domain.Misconfigured("database", "PostgreSQL "+strconv.Itoa(version/10000)+" is too old: habeas needs 14 or"+
			" later. Upgrade the server")
	case server == unknownEncoding && !trusted:
		return domain.Misconfigured("database", "the encoding of the database is SQL_ASCII, so the server does not know the"+
			" encoding of its texts. Move the database to UTF8, or set TrustEncoding (the command: --trust-encoding) if all its"+
			" texts are in UTF-8")
	case client != "UTF8" && (!trusted || client != unknownEncoding):
		return domain.Misconfigured("database", "the connection has the client_encoding "+client+", and habeas needs UTF8."+
			" Add client_encoding=UTF8 to the URL of the database, or run ALTER ROLE ... SET client_encoding = 'UTF8'")
	case found[3] != "on":
		return domain.Misconfigured("database", "the connection has standard_conforming_strings off, so the server reads"+
			" backslashes in constants as escapes. Run ALTER ROLE ... RESET standard_conforming_strings, and the same with"+
			" ALTER DATABASE")
	case len(found) > 4:
		return domain.Misconfigured("database", "a role that this role does not trust has created operators in the search"+
			" path with the names of PostgreSQL's: "+found[4]+". Drop them, and revoke CREATE on the schemas of the search path")
	}
	return nil
}

const unknownEncoding = "SQL_ASCII"
