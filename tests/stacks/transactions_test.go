package stacks

import (
	"context"
	"testing"

	"github.com/jmoiron/sqlx"
	"github.com/uptrace/bun"
	gormpostgres "gorm.io/driver/postgres"
	"gorm.io/gorm"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports"
)

// import "github.com/jmoiron/sqlx", "github.com/uptrace/bun"
// sqlxIn returns a transaction of sqlx that is the transaction tx.
func sqlxIn(tx bun.Tx, db *sqlx.DB) *sqlx.Tx {
	return &sqlx.Tx{Tx: tx.Tx, Mapper: db.Mapper}
}

// import "context", "github.com/uptrace/bun", "gorm.io/gorm"
// gormIn returns a session of gorm in the transaction tx.
func gormIn(ctx context.Context, tx bun.Tx, orm *gorm.DB) *gorm.DB {
	session := orm.Session(&gorm.Session{NewDB: true, Context: ctx, SkipDefaultTransaction: true})
	session.Statement.ConnPool = tx.Tx
	return session
}

// The statement of the library is rolled back with the erasure, so it runs in the same transaction.
func TestALibraryWorksInTheTransactionOfAnErasure(t *testing.T) {
	const statement = "INSERT INTO users VALUES (2, 'bob@example.org', 'light')"
	for name, insert := range map[string]func(url string, tx bun.Tx) error{
		"sqlx": func(url string, tx bun.Tx) error {
			db, err := sqlx.Open("pgx", url)
			if err != nil {
				return err
			}
			defer func() { _ = db.Close() }()
			_, err = sqlxIn(tx, db).ExecContext(t.Context(), statement)
			return err
		},
		"sqlx with a named parameter": func(url string, tx bun.Tx) error {
			db, err := sqlx.Open("pgx", url)
			if err != nil {
				return err
			}
			defer func() { _ = db.Close() }()
			sqlx.BindDriver("", sqlx.DOLLAR) // a transaction of sqlxIn does not know the driver
			_, err = sqlxIn(tx, db).NamedExecContext(t.Context(), "INSERT INTO users VALUES (:id, 'bob@example.org', 'light')",
				map[string]any{"id": 2})
			return err
		},
		"gorm": func(url string, tx bun.Tx) error {
			orm, err := gorm.Open(gormpostgres.Open(url))
			if err != nil {
				return err
			}
			return gormIn(t.Context(), tx, orm).Exec(statement).Error
		},
	} {
		for _, commits := range []bool{true, false} {
			t.Run(name, func(t *testing.T) {
				url := newShop(t)
				db, err := withPgx(url)
				if err != nil {
					t.Fatal(err)
				}
				defer func() { _ = db.Close() }()
				tx, err := db.BeginTx(t.Context(), nil)
				if err != nil {
					t.Fatal(err)
				}
				defer func() { _ = tx.Rollback() }()
				if err := insert(url, tx); err != nil {
					t.Fatal(err)
				}
				erase(t, db, tx)
				end, users, zoes := tx.Rollback, 1, 1
				if commits {
					end, users, zoes = tx.Commit, 2, 0
				}
				if err := end(); err != nil {
					t.Fatal(err)
				}
				count := db.NewSelect().Table("users")
				if n, err := count.Count(t.Context()); err != nil || int(n) != users {
					t.Errorf("%d users, want %d: %v", n, users, err)
				}
				if n, err := count.Where("email = 'zoe@example.org'").Count(t.Context()); err != nil || int(n) != zoes {
					t.Errorf("%d rows of Zoe, want %d: %v", n, zoes, err)
				}
			})
		}
	}
}

func erase(t *testing.T, db *bun.DB, tx bun.Tx) {
	t.Helper()
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
	joined, err := gdpr.Join(tx)
	if err != nil {
		t.Fatal(err)
	}
	if err := joined.Do(t.Context(), func(ctx context.Context, s ports.Session) error {
		_, err := gdpr.Stack().Eraser.Erase(ctx, s, zoe)
		return err
	}); err != nil {
		t.Fatal(err)
	}
}
