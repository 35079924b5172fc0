package cookbook_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/uptrace/bun"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore"
	"github.com/habeas-data/habeas/app"
	"github.com/habeas-data/habeas/app/stack"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/internal/tests/databases"
	"github.com/habeas-data/habeas/ports"
)

type Account struct {
	bun.BaseModel `bun:"table:accounts"`

	ID           int64  `bun:"id,pk" subject:"id"`
	Email        string `bun:"email,unique" pii:"contact,erasure:anonymize,surrogate:'{}@erased.invalid'"`
	PasswordHash string `bun:"password_hash" pii:"technical,erasure:anonymize,surrogate:'',export:no"`
}

type Login struct {
	bun.BaseModel `bun:"table:logins" subject:"owned"`

	ID        int64    `bun:"id,pk"`
	AccountID int64    `bun:"account_id"`
	Account   *Account `bun:"rel:belongs-to,join:account_id=id"`
	Token     string   `bun:"token,unique" pii:"technical,export:no"`
	Browser   string   `bun:"browser" pii:"technical"`
}

func withSessions(db *bun.DB, cache *Cache) (*app.Integration, error) {
	hooks := stack.Hooks{
		// In the transaction of the erasure: delete rows of a session library, whose table has no model.
		BeforeErasure: func(ctx context.Context, s ports.Session, subject domain.Subject) error {
			tx, err := bunstore.Tx(s)
			if err != nil {
				return err
			}
			_, err = tx.NewDelete().Table("web_sessions").Where("account = ?", subject.ID.String()).Exec(ctx)
			return err
		},
		// After the commit: clear a cache outside the database. If this fails, habeas calls the hook up to four more times.
		AfterErasure: func(ctx context.Context, subject domain.Subject, _ domain.ErasureResult) error {
			return cache.Delete(ctx, "account:"+subject.ID.String())
		},
		Attempts: 5,
	}
	return app.New(app.Config{
		DB: db, Models: []any{(*Account)(nil), (*Login)(nil)}, Options: stack.Options{Hooks: hooks},
	})
}

func TestSessionsAndCachesGoWithTheAccount(t *testing.T) {
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		prepare(t, db, (*Account)(nil), (*Login)(nil), "CREATE TABLE web_sessions (cookie text, account text)",
			"INSERT INTO web_sessions VALUES ('c1', '42'), ('c2', '7')")
		insert(t, db, &Account{ID: 42, Email: "zoe@example.org", PasswordHash: "$2a$10$N9qo"},
			&Login{ID: 1, AccountID: 42, Token: "t0k3n", Browser: "Firefox"})
		cache := &Cache{entries: map[string]string{"account:42": "zoe@example.org"}}
		gdpr, err := withSessions(db, cache)
		must(t, err)

		expectText(t, erasing(t, db, gdpr, subject(t, "42"), "accounts", "logins", "web_sessions"), `
			before    accounts: id=42, email=zoe@example.org, password_hash=$2a$10$N9qo
			before    logins: id=1, account_id=42, token=t0k3n, browser=Firefox
			before    web_sessions: cookie=c1, account=42
			before    web_sessions: cookie=c2, account=7
			exported  accounts.email = zoe@example.org
			exported  logins.browser = Firefox
			after     accounts: id=42, email=…@erased.invalid, password_hash=
			after     logins: no rows
			after     web_sessions: cookie=c2, account=7
		`)
		if len(cache.entries) > 0 {
			t.Error(cache.entries)
		}
	})
}

func TestACacheThatFailsUndoesNoErasureAndIsTriedAgain(t *testing.T) {
	db := databases.SQLite(t)
	prepare(t, db, (*Account)(nil), (*Login)(nil), "CREATE TABLE web_sessions (cookie text, account text)")
	insert(t, db, &Account{ID: 42, Email: "zoe@example.org"})
	cache := &Cache{fails: true, cleared: make(chan struct{})}
	gdpr, err := withSessions(db, cache)
	must(t, err)
	expectText(t, erasing(t, db, gdpr, subject(t, "42"), "accounts"), `
		before    accounts: id=42, email=zoe@example.org, password_hash=
		exported  accounts.email = zoe@example.org
		after     accounts: id=42, email=…@erased.invalid, password_hash=
	`)
	select {
	case <-cache.cleared:
	case <-time.After(time.Minute):
		t.Error("the cache was not called again")
	}
}

// Cache represents a cache outside of the process. If fails is true, its first call returns an error.
type Cache struct {
	mu      sync.Mutex
	entries map[string]string
	fails   bool
	cleared chan struct{} // if not nil, it is closed when an entry is deleted
}

func (c *Cache) Delete(_ context.Context, key string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.fails {
		c.fails = false
		return errors.New("no route to the cache")
	}
	delete(c.entries, key)
	if c.cleared != nil {
		close(c.cleared)
	}
	return nil
}
