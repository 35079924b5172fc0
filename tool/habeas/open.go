package main

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect"
	"github.com/uptrace/bun/dialect/pgdialect"
	"github.com/uptrace/bun/dialect/sqlitedialect"
	_ "modernc.org/sqlite" // driver "sqlite", in pure Go

	"github.com/habeas-data/habeas/adapters/persistence/bunstore"
	"github.com/habeas-data/habeas/adapters/persistence/manifest"
	"github.com/habeas-data/habeas/app"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/ports"
	"github.com/habeas-data/habeas/tool/cli"
)

// connectTimeout is the time limit of a connection attempt. The parameter connect_timeout of the URL takes precedence.
const connectTimeout = 10 * time.Second

// settings has the flags of the program.
type settings struct {
	dataMap, databaseURL, schema, name cli.Text
	withoutHooks, trustEncoding        bool
	env                                func(string) string
	stderr                             func() io.Writer // for warnings; may be nil

	projectRead bool // the project file was read
	read        project
	projectErr  error
}

// open reads the data map and creates the application. It opens no connection to the database.
func (s *settings) open(context.Context) (cli.Application, error) {
	dataMap, err := s.readDataMap()
	if err != nil {
		return nil, err
	}
	db, err := s.openDatabase()
	if err != nil {
		return nil, err
	}
	var resolvers []ports.Resolver
	for _, name := range dataMap.Refs() {
		resolvers = append(resolvers, missing{name})
	}
	gdpr, err := app.New(app.Config{ //nolint:contextcheck // New logs without a context
		DB: db, DataMap: dataMap, Resolvers: resolvers,
		Schema: string(s.schema), Name: s.mapName(), Logger: errorLog(os.Stderr),
		TrustEncoding: s.trustEncoding, JournalKey: []byte(s.env("HABEAS_JOURNAL_KEY")),
	})
	if err != nil {
		return nil, err
	}
	return standalone{gdpr.Operator(), s.withoutHooks, dataMap.Refs()}, nil
}

// errorLog returns a logger that drops warnings. The warnings of app.New name tables and columns that the data map
// leaves out. Only the command lint should show them.
func errorLog(w io.Writer) *slog.Logger {
	return slog.New(slog.NewTextHandler(w, &slog.HandlerOptions{Level: slog.LevelError}))
}

// openCatalog opens the database for the command scaffold, which needs no data map.
func (s *settings) openCatalog(context.Context) (ports.CatalogReader, error) {
	db, err := s.openDatabase()
	if err != nil {
		return nil, err
	}
	return bunstore.NewSchema(db, bunstore.Options{TrustEncoding: s.trustEncoding})
}

func refused(message string) error { return &cli.Error{Code: cli.ExitFailed, Text: message} }

// dataMapFile returns the name of the file with the data map.
func (s *settings) dataMapFile() (string, error) {
	read, err := s.project()
	if err != nil {
		return "", err
	}
	name := cmp.Or(string(s.dataMap), s.env("HABEAS_DATA_MAP"), read.DataMap)
	if name == "" {
		return "", refused("the data map is missing: set --data-map or HABEAS_DATA_MAP, or name it in habeas.json")
	}
	return name, nil
}

func (s *settings) mapName() string { return cmp.Or(string(s.name), s.env("HABEAS_NAME"), s.read.Name) }

func (s *settings) operator() (string, error) {
	read, err := s.project()
	return read.Operator, err
}

func (s *settings) readDataMap() (datamap.DataMap, error) {
	name, err := s.dataMapFile()
	if err != nil {
		return datamap.DataMap{}, err
	}
	file, err := os.Open(name) //nolint:gosec // the operator chooses the file
	switch {
	case errors.Is(err, os.ErrNotExist):
		return datamap.DataMap{}, refused(
			"the file of the data map does not exist: check --data-map, HABEAS_DATA_MAP or habeas.json")
	case err != nil:
		return datamap.DataMap{}, refused("the file of the data map cannot be read: check its permissions")
	}
	defer func() { _ = file.Close() }()
	return manifest.Read(file)
}

// openDatabase opens the database whose URL is in the flag --database-url or in HABEAS_DATABASE_URL. The URL has the
// form postgres://... or sqlite:FILE. The errors contain no part of the URL, because it may contain a password.
func (s *settings) openDatabase() (*bun.DB, error) {
	read, err := s.project()
	if err != nil {
		return nil, err
	}
	address := cmp.Or(string(s.databaseURL), s.env("HABEAS_DATABASE_URL"))
	if address == "" && read.URLVariable != "" {
		if address = s.env(read.URLVariable); address == "" {
			return nil, refused("the database URL is missing: the environment variable that habeas.json names is not set")
		}
	}
	if address == "" {
		return nil, refused(
			"the database URL is missing: set --database-url or HABEAS_DATABASE_URL, or name its variable in habeas.json")
	}
	if path, ok := strings.CutPrefix(address, "sqlite:"); ok {
		return openSQLite(strings.TrimPrefix(path, "//"))
	}
	if !strings.HasPrefix(address, "postgres://") && !strings.HasPrefix(address, "postgresql://") {
		return nil, refused("the database URL must begin with postgres:// or sqlite:")
	}
	config, err := pgx.ParseConfig(address)
	if err != nil {
		return nil, refused("the database URL is not a valid postgres:// URL")
	}
	config.RuntimeParams["client_encoding"] = "UTF8"
	if s.mayBeReadByOthers(address, config) {
		s.warn("Warning: the database URL has no sslmode, so another computer could read or change what is sent. " +
			"Add sslmode=verify-full.")
	}
	config.ConnectTimeout = cmp.Or(config.ConnectTimeout, connectTimeout)
	return bun.NewDB(stdlib.OpenDB(*config), pgdialect.New()), nil
}

// mayBeReadByOthers reports whether nobody has chosen an sslmode, and the connection may be without TLS to a host that
// is neither a socket nor this computer.
func (s *settings) mayBeReadByOthers(address string, config *pgx.ConnConfig) bool {
	parsed, err := url.Parse(address)
	if err != nil || parsed.Query().Has("sslmode") || s.env("PGSSLMODE") != "" {
		return false
	}
	all := append([]*pgconn.FallbackConfig{{Host: config.Host, TLSConfig: config.TLSConfig}}, config.Fallbacks...)
	return slices.ContainsFunc(all, func(one *pgconn.FallbackConfig) bool {
		ip := net.ParseIP(one.Host)
		isHere := strings.HasPrefix(one.Host, "/") || strings.HasPrefix(one.Host, "@") || one.Host == "localhost" ||
			ip != nil && ip.IsLoopback()
		return one.TLSConfig == nil && !isHere
	})
}

// openSQLite opens an existing file. It does not create a missing file, because a new database would have no subjects.
func openSQLite(path string) (*bun.DB, error) {
	if path == "" {
		return nil, refused("the database URL has no file: use a URL like sqlite:shop.db")
	}
	options := url.Values{"mode": {"rw"}, "_pragma": {"foreign_keys(1)", "busy_timeout(5000)"}}
	if isSnapshot(path) {
		options.Set("immutable", "1")
	}
	file := url.URL{Scheme: "file", Opaque: (&url.URL{Path: path}).EscapedPath(), RawQuery: options.Encode()}
	sqldb, err := sql.Open("sqlite", file.String())
	if err != nil {
		return nil, refused("the database file cannot be opened: check the path and its permissions")
	}
	return bun.NewDB(sqldb, sqlitedialect.New()), nil
}

// isSnapshot reports whether a file of SQLite cannot be written, and has the journal mode WAL without a log: such as a
// backup on a medium for reading. SQLite reads such a file only if it is declared as immutable, because it cannot
// create the log. A process that has the file open has created a log.
func isSnapshot(path string) bool {
	file, err := os.OpenFile(path, os.O_RDWR, 0) //nolint:gosec // the operator chooses the file
	if err == nil {
		_ = file.Close()
		return false
	}
	if file, err = os.Open(path); err != nil { //nolint:gosec // the operator chooses the file
		return false
	}
	defer func() { _ = file.Close() }()
	const modeAt, modeWAL = 18, 2 // in the header of the file
	header := make([]byte, modeAt+1)
	if _, err := io.ReadFull(file, header); err != nil || header[modeAt] != modeWAL {
		return false
	}
	_, err = os.Stat(path + "-wal")
	return errors.Is(err, os.ErrNotExist)
}

// patience is how long a person at the dialogue waits for the rows of a table.
const patience = 5 * time.Second

// sampled is the number of rows in which Examples looks for different values.
const sampled = 1000

// rowReader implements cli.RowReader.
type rowReader struct {
	ports.CatalogReader
	db *bun.DB
}

// openRows opens the database for the command decide. Without the URL of a database, it returns nil.
func (s *settings) openRows(context.Context) (cli.RowReader, error) {
	db, err := s.openDatabase()
	if err != nil {
		return nil, err
	}
	schema, err := bunstore.NewSchema(db, bunstore.Options{TrustEncoding: s.trustEncoding})
	return rowReader{schema, db}, err
}

// CountRows implements cli.RowReader.
func (r rowReader) CountRows(ctx context.Context, table string, most int) (n int, err error) {
	err = r.read(ctx, func(ctx context.Context, db bun.IDB) error {
		return db.NewRaw("SELECT count(*) FROM (SELECT 1 FROM ? LIMIT ?) AS few", bun.Ident(table), most).Scan(ctx, &n)
	})
	return n, err
}

// Examples implements cli.RowReader.
func (r rowReader) Examples(
	ctx context.Context, table, column string, most int,
) (values []domain.PrivateValue, err error) {
	var texts []string
	err = r.read(ctx, func(ctx context.Context, db bun.IDB) error {
		return db.NewRaw(`SELECT DISTINCT substr(CAST(value AS text), 1, 200) FROM (
			SELECT ? AS value FROM ? WHERE ? IS NOT NULL LIMIT ?) AS few LIMIT ?`,
			bun.Ident(column), bun.Ident(table), bun.Ident(column), sampled, most).Scan(ctx, &texts)
	})
	for _, text := range texts {
		values = append(values, domain.NewPrivateValue(text))
	}
	return values, err
}

// read reads in a transaction that cannot write, because a view or a policy of the table may call functions. The
// driver of SQLite has no such transactions.
func (r rowReader) read(ctx context.Context, do func(context.Context, bun.IDB) error) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	options := &sql.TxOptions{ReadOnly: r.db.Dialect().Name() == dialect.PG}
	return r.db.RunInTx(ctx, options, func(ctx context.Context, tx bun.Tx) error { return do(ctx, tx) })
}
