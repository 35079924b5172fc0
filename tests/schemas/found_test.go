package schemas

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/uptrace/bun"

	"github.com/habeas-data/habeas/app"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/internal/tests/databases"
)

// The handle of a member is case-sensitive, and the foreign key of posts is not. An erasure of member ada must not
// delete the posts of member Ada.
func TestACaseInsensitiveForeignKeyDoesNotMixTwoPersons(t *testing.T) {
	t.Parallel()
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		loose, prepare := "text COLLATE NOCASE", []string(nil)
		if isPostgres(db) {
			loose, prepare = "citext", []string{"CREATE EXTENSION IF NOT EXISTS citext"}
		}
		a := open(t, db, app.Config{Models: forum}, append(prepare,
			"CREATE TABLE members (handle text PRIMARY KEY, email text)",
			"CREATE TABLE posts (id bigint PRIMARY KEY, handle "+loose+", body text)",
			"CREATE TABLE remarks (id bigint PRIMARY KEY, post_id bigint, body text)",
			"INSERT INTO members VALUES ('Ada', 'x'), ('ada', 'y')",
			"INSERT INTO posts VALUES (1, 'Ada', 'of Ada'), (2, 'ada', 'of ada')",
			"INSERT INTO remarks VALUES (1, 1, 'of Ada'), (2, 2, 'of ada')")...)
		result, err := a.erase(t.Context(), "ada")
		if err != nil || result.Deleted["posts"] != 1 || result.Deleted["remarks"] != 1 {
			t.Errorf("erased %v, %v", result.Deleted, err)
		}
		if n := a.count(t, "SELECT count(*) FROM remarks JOIN posts ON posts.id = post_id"+
			" WHERE posts.body = 'of Ada'"); n != 1 {
			t.Error("the other one's rows are gone")
		}
	})
}

func TestAFilterBelowAViewOfAViewIsRefused(t *testing.T) {
	t.Parallel()
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		if !isPostgres(db) { // views of SQLite can be updated only by triggers, and the results of triggers are verified
			return
		}
		a := open(t, db, app.Config{Models: clients}, slices.Concat(clientTables("clients"), []string{
			"CREATE TABLE all_letters (id bigint PRIMARY KEY, client_id bigint, body text, hidden boolean)",
			"CREATE VIEW some_letters AS SELECT id, client_id, body FROM all_letters WHERE hidden IS NULL",
			"CREATE VIEW letters AS SELECT id, client_id, body FROM some_letters",
		})...)
		if _, err := a.erase(t.Context(), "1"); !errors.Is(err, domain.ErrConfiguration) {
			t.Errorf("erased: %v", err)
		}
		if _, err := a.export(t.Context(), "1"); !errors.Is(err, domain.ErrConfiguration) {
			t.Errorf("exported: %v", err)
		}
	})
}

// Instead of deleting a letter, a trigger sets its client_id to NULL and keeps its text. The erasure must fail.
func TestARowThatATriggerMovesAwayIsFound(t *testing.T) {
	t.Parallel()
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		trigger := []string{"CREATE TRIGGER guard BEFORE DELETE ON letters BEGIN UPDATE letters SET client_id = NULL" +
			" WHERE id = OLD.id; SELECT RAISE(IGNORE); END"}
		if isPostgres(db) {
			trigger = function("BEFORE DELETE", "letters", "UPDATE letters SET client_id = NULL WHERE id = OLD.id; RETURN NULL;")
		}
		a := open(t, db, app.Config{Models: clients}, slices.Concat(clientTables("clients"), letterTables(), trigger)...)
		if _, err := a.erase(t.Context(), "1"); !errors.Is(err, domain.ErrLeftOver) {
			t.Errorf("got %v", err)
		}
	})
}

// A trigger changes the value that replaces an erased email address, or computes another column from this value. The
// old address is gone, so the erasure succeeds.
func TestAColumnThatATriggerDerivesIsErased(t *testing.T) {
	t.Parallel()
	for name, body := range map[string]string{
		"upper case": "NEW.email := upper(NEW.email); RETURN NEW;",
		"a hash":     "NEW.code := left(md5(NEW.email), 4); RETURN NEW;",
		"nothing":    "NEW.email := ''; RETURN NEW;",
	} {
		t.Run(name, func(t *testing.T) {
			a := open(t, onPostgres(t), app.Config{Models: clients}, slices.Concat(
				clientTables("clients"), letterTables(), function("BEFORE UPDATE", "clients", body))...)
			if _, err := a.erase(t.Context(), "1"); err != nil {
				t.Errorf("got %v (%v)", err, errors.Unwrap(err))
			}
		})
	}
}

func TestAHistoryTableOfTheSameNameIsNamed(t *testing.T) {
	t.Parallel()
	a := open(t, onPostgres(t), app.Config{Models: clients},
		slices.Concat(clientTables("clients"), letterTables(), []string{
			"CREATE SCHEMA history", "CREATE TABLE history.clients (id bigint, email text)",
		}, function("AFTER UPDATE", "clients", "INSERT INTO history.clients VALUES (OLD.id, OLD.email); RETURN NULL;"))...)
	_, err := a.erase(t.Context(), "1")
	must(t, err)
	if log := a.log.String(); !strings.Contains(log, "history.clients") {
		t.Errorf("logged %s", log)
	}
}
