package postgres

import (
	"context"
	"crypto/rand"
	"database/sql"
	_ "embed"
	"errors"
	"slices"
	"strings"
	"sync"
)

// maxUses is the maximum number of tests that use one database one after the other. The catalogs of a database grow
// with each test.
const maxUses = 100

// empty removes everything from a database, or fails. It fails if something remains, such as a setting of the database,
// or if the removal would take longer than a new database.
//
//go:embed empty.sql
var empty string

// database is a database of a test.
type database struct {
	admin, name, url string
	uses             int     // the tests that have used it
	emptier          *sql.DB // its one connection stays open, because a new one takes as long as to empty the database
}

// free has the databases that a test has used and that are empty again. The next test uses such a database, because to
// create and drop a database takes ten times as long as to empty one.
var free struct {
	sync.Mutex
	databases []*database
}

// take returns an empty database on the server with this administrative URL.
func take(ctx context.Context, admin string) (*database, error) {
	free.Lock()
	defer free.Unlock()
	i := slices.IndexFunc(free.databases, func(d *database) bool { return d.admin == admin })
	if i < 0 {
		return create(ctx, admin)
	}
	d := free.databases[i]
	free.databases = slices.Delete(free.databases, i, i+1)
	return d, nil
}

// create creates an empty database.
func create(ctx context.Context, admin string) (*database, error) {
	name := "habeas_test_" + strings.ToLower(rand.Text())
	databaseURL, err := withDatabase(admin, name)
	if err != nil {
		return nil, err
	}
	// The template database template0 allows any encoding and locale. CREATE DATABASE fails if its template has
	// connections, and template0 accepts no connections.
	text := "CREATE DATABASE " + name + " TEMPLATE template0 ENCODING 'UTF8' LC_COLLATE 'C' LC_CTYPE 'C'"
	return &database{admin: admin, name: name, url: databaseURL}, execute(ctx, admin, text)
}

func (d *database) drop(ctx context.Context) error {
	d.close()
	return execute(ctx, d.admin, "DROP DATABASE "+d.name+" WITH (FORCE)")
}

// close closes the connection that empties the database.
func (d *database) close() {
	if d.emptier != nil {
		_ = d.emptier.Close() // nothing depends on its error
	}
}

func (d *database) empty(ctx context.Context) (err error) {
	ctx, cancel := context.WithTimeout(ctx, statementTimeout)
	defer cancel()
	if d.emptier == nil {
		if d.emptier, err = sql.Open("pgx", d.url); err != nil {
			return err
		}
		d.emptier.SetMaxOpenConns(1)
	}
	_, err = d.emptier.ExecContext(ctx, empty)
	return err
}

// giveBack empties the database for the next test, or drops it.
func (d *database) giveBack(ctx context.Context, reusable bool) error {
	d.uses++
	if !reusable || d.uses == maxUses || d.empty(ctx) != nil {
		return d.drop(ctx)
	}
	free.Lock()
	defer free.Unlock()
	free.databases = append(free.databases, d)
	return nil
}

// dropFree drops the databases that no test uses.
func dropFree(ctx context.Context) (err error) {
	free.Lock()
	defer free.Unlock()
	for _, d := range free.databases {
		err = errors.Join(err, d.drop(ctx))
	}
	free.databases = nil
	return err
}

// forgetFree forgets the databases of a server that has been stopped.
func forgetFree(admin string) {
	free.Lock()
	defer free.Unlock()
	free.databases = slices.DeleteFunc(free.databases, func(d *database) bool {
		if d.admin != admin {
			return false
		}
		d.close()
		return true
	})
}
