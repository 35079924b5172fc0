package stacks

import (
	"database/sql"
	"strings"
	"testing"

	"entgo.io/ent/dialect"
	entsql "entgo.io/ent/dialect/sql"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/jmoiron/sqlx"
	_ "github.com/lib/pq"
	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect/pgdialect"
	gormpostgres "gorm.io/driver/postgres"
	"gorm.io/gorm"
	"xorm.io/xorm"

	"github.com/habeas-data/habeas/adapters/persistence/manifest"
	"github.com/habeas-data/habeas/app"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/internal/tests/postgres"
)

const personalData = `{"manifest_version": 2, "tables": [
  {"name": "users", "primary_key": ["id"], "subject_key": ["id"], "columns": [
    {"name": "id", "type": "bigint"},
    {"name": "email", "type": "text", "personal": {"category": "contact", "erasure": "anonymize"}},
    {"name": "theme", "type": "text"}]}]}`

func withPgx(url string) (*bun.DB, error) {
	// import "database/sql", "github.com/uptrace/bun", "github.com/uptrace/bun/dialect/pgdialect"
	// import _ "github.com/jackc/pgx/v5/stdlib"
	connections, err := sql.Open("pgx", url)
	if err != nil {
		return nil, err
	}
	return bun.NewDB(connections, pgdialect.New()), nil
}

func withPQ(url string) (*bun.DB, error) {
	// import "database/sql", "github.com/uptrace/bun", "github.com/uptrace/bun/dialect/pgdialect"
	// import _ "github.com/lib/pq"
	connections, err := sql.Open("postgres", url)
	if err != nil {
		return nil, err
	}
	return bun.NewDB(connections, pgdialect.New()), nil
}

func withPool(pool *pgxpool.Pool) *bun.DB {
	// import "github.com/jackc/pgx/v5/stdlib", "github.com/uptrace/bun", "github.com/uptrace/bun/dialect/pgdialect"
	return bun.NewDB(stdlib.OpenDBFromPool(pool), pgdialect.New())
}

func withSqlx(db *sqlx.DB) *bun.DB {
	// import "github.com/uptrace/bun", "github.com/uptrace/bun/dialect/pgdialect"
	return bun.NewDB(db.DB, pgdialect.New())
}

func withGorm(orm *gorm.DB) (*bun.DB, error) {
	// import "github.com/uptrace/bun", "github.com/uptrace/bun/dialect/pgdialect"
	connections, err := orm.DB()
	if err != nil {
		return nil, err
	}
	return bun.NewDB(connections, pgdialect.New()), nil
}

// import entsql "entgo.io/ent/dialect/sql", "github.com/uptrace/bun"
// import "github.com/uptrace/bun/dialect/pgdialect"
func withEnt(driver *entsql.Driver) *bun.DB { // the client is ent.NewClient(ent.Driver(driver))
	return bun.NewDB(driver.DB(), pgdialect.New())
}

// import "xorm.io/xorm", "github.com/uptrace/bun", "github.com/uptrace/bun/dialect/pgdialect"
func withXorm(engine *xorm.Engine) *bun.DB { // an engine without a reference closes its database
	return bun.NewDB(engine.DB().DB, pgdialect.New())
}

func newIntegration(db *bun.DB, personalData string) (*app.Integration, error) {
	// import "strings", "github.com/habeas-data/habeas/adapters/persistence/manifest"
	// import "github.com/habeas-data/habeas/app"
	dataMap, err := manifest.Read(strings.NewReader(personalData))
	if err != nil {
		return nil, err
	}
	return app.New(app.Config{DB: db, DataMap: dataMap})
}

func TestMain(m *testing.M) { postgres.Main(m) }

// newShop returns the URL of a database with the user 1.
func newShop(t *testing.T) string {
	t.Helper()
	url := postgres.NewDatabase(t)
	db, err := withPgx(url)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	if _, err := db.ExecContext(t.Context(), `
		CREATE TABLE users (id bigint PRIMARY KEY, email text, theme text);
		INSERT INTO users VALUES (1, 'zoe@example.org', 'dark')`); err != nil {
		t.Fatal(err)
	}
	return url
}

func TestAnErasureOverTheConnectionsOfEachLibrary(t *testing.T) {
	for name, open := range map[string]func(url string) (*bun.DB, error){
		"database/sql with pgx": withPgx,
		"database/sql with pq":  withPQ,
		"pgxpool": func(url string) (*bun.DB, error) {
			pool, err := pgxpool.New(t.Context(), url)
			if err != nil {
				return nil, err
			}
			t.Cleanup(pool.Close)
			return withPool(pool), nil
		},
		"sqlx": func(url string) (*bun.DB, error) {
			db, err := sqlx.Open("pgx", url)
			if err != nil {
				return nil, err
			}
			return withSqlx(db), nil
		},
		"gorm": func(url string) (*bun.DB, error) {
			orm, err := gorm.Open(gormpostgres.Open(url))
			if err != nil {
				return nil, err
			}
			return withGorm(orm)
		},
		"xorm": func(url string) (*bun.DB, error) {
			engine, err := xorm.NewEngine("postgres", url)
			if err != nil {
				return nil, err
			}
			t.Cleanup(func() { _ = engine.Close() })
			return withXorm(engine), nil
		},
		"ent": func(url string) (*bun.DB, error) {
			driver, err := entsql.Open(dialect.Postgres, url)
			if err != nil {
				return nil, err
			}
			return withEnt(driver), nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			db, err := open(newShop(t))
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = db.Close() }()
			gdpr, err := newIntegration(db, personalData)
			if err != nil {
				t.Fatal(err)
			}
			if err := gdpr.Migrate(t.Context()); err != nil {
				t.Fatal(err)
			}
			zoe, err := domain.NewSubject("1")
			if err != nil {
				t.Fatal(err)
			}
			if _, err := gdpr.Operator().Erase(t.Context(), zoe); err != nil {
				t.Fatal(err)
			}
			var email string
			if err := db.QueryRowContext(t.Context(), "SELECT email FROM users").Scan(&email); err != nil ||
				!strings.HasPrefix(email, "anon-") {
				t.Error(email, err)
			}
		})
	}
}
