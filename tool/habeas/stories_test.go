package main

import (
	"database/sql"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/habeas-data/habeas/internal/tests/postgres"
)

// planner is a schema without foreign keys. Person 1 and person 2 act on each other's things.
const planner = `
CREATE TABLE users (id BIGINT PRIMARY KEY, username TEXT NOT NULL, email TEXT, password TEXT, is_admin BOOLEAN NOT NULL,
	cookie TEXT);
CREATE TABLE projects (id BIGINT PRIMARY KEY, title TEXT NOT NULL, owner_id BIGINT NOT NULL);
CREATE TABLE notifications (id BIGINT PRIMARY KEY, notifiable_id BIGINT NOT NULL, project_id BIGINT, content TEXT);
CREATE TABLE link_shares (id BIGINT PRIMARY KEY, code TEXT NOT NULL, project_id BIGINT NOT NULL, shared_by_id BIGINT);
CREATE TABLE sessions (id BIGINT PRIMARY KEY, user_id BIGINT NOT NULL, refresh_token TEXT NOT NULL);
CREATE TABLE rates (id BIGINT PRIMARY KEY, value DOUBLE PRECISION);
INSERT INTO users VALUES (1, 'ann', 'ann@example.org', 'x', TRUE, 'c1'), (2, 'bob', 'bob@example.org', 'y', FALSE, 'd');
INSERT INTO projects VALUES (1, 'of ann', 1), (2, 'of bob', 2);
INSERT INTO notifications VALUES (1, 2, 1, 'for bob'), (2, 1, 2, 'for ann');
INSERT INTO link_shares VALUES (1, 'a', 1, 2), (2, 'b', 2, 1);
INSERT INTO sessions VALUES (1, 1, 'of ann'), (2, 2, 'of bob');
INSERT INTO rates VALUES (1, 1)`

// onPlanner runs a test with the database planner and its untouched draft. The function rows returns
// the rows of each table as texts.
func onPlanner(
	t *testing.T, test func(t *testing.T, env map[string]string, rows func() []string), drivers ...string,
) {
	t.Helper()
	for _, driver := range drivers {
		t.Run(driver, func(t *testing.T) {
			folder := t.TempDir()
			address := filepath.Join(folder, "planner.db")
			env := map[string]string{
				"HABEAS_DATABASE_URL": "sqlite:" + address, "HABEAS_DATA_MAP": filepath.Join(folder, "datamap.json"),
			}
			if driver == "pgx" {
				address = postgres.NewDatabase(t)
				env["HABEAS_DATABASE_URL"] = address
			}
			execute(t, driver, address, planner)
			runAll(t, env,
				step{[]string{"scaffold", "--out", env["HABEAS_DATA_MAP"]}, 0, "The command decide asks them"},
				step{[]string{"migrate", "up"}, 0, "applied"},
			)
			test(t, env, func() []string { return rowsOf(t, driver, address) })
		})
	}
}

// rowsOf returns the rows of each table of planner, such as "sessions 1 1 of ann".
func rowsOf(t *testing.T, driver, address string) (all []string) {
	t.Helper()
	db, err := sql.Open(driver, address)
	must(t, err)
	defer func() { must(t, db.Close()) }()
	for _, table := range []string{"users", "projects", "notifications", "link_shares", "sessions", "rates"} {
		all = append(all, rowsIn(t, db, table)...)
	}
	return all
}

func rowsIn(t *testing.T, db *sql.DB, table string) (all []string) {
	t.Helper()
	rows, err := db.QueryContext(t.Context(), "SELECT * FROM "+table+" ORDER BY id")
	must(t, err)
	defer func() { must(t, rows.Close()) }()
	names, err := rows.Columns()
	must(t, err)
	for rows.Next() {
		cells, into := make([]sql.NullString, len(names)), make([]any, len(names))
		line := table
		for i := range cells {
			into[i] = &cells[i]
		}
		must(t, rows.Scan(into...))
		for _, cell := range cells {
			line += " " + cell.String
		}
		all = append(all, line)
	}
	must(t, rows.Err())
	return all
}

// changed returns the rows of before that are no longer there, by their tables and ids.
func changed(before, after []string) (places []string) {
	for _, row := range before {
		if !slices.Contains(after, row) {
			places = append(places, strings.Join(strings.Fields(row)[:2], " "))
		}
	}
	return places
}

// A schema without foreign keys doesn't say whose a row is: each table with a person's key is a question, and until its
// answer no command says that all is well.
func TestNoStepTakesARowOfOthersForThePersonsWithoutAQuestion(t *testing.T) {
	onPlanner(t, func(t *testing.T, env map[string]string, rows func() []string) {
		_, listed, _ := run(t, env, "decide")
		for _, says := range []string{
			"by project_id (through projects), notifiable_id. Whose are they?", "overwrite:notifiable_id",
			"shared_by_id, project_id (through projects)", "If notifiable_id holds other keys than those of users",
			"People share rows of projects", "stay logged in as long as these stay as they are: refresh_token",
		} {
			if !strings.Contains(strings.Join(strings.Fields(listed), " "), says) {
				t.Errorf("%q is not in\n%s", says, listed)
			}
		}
		again := env["HABEAS_DATA_MAP"]
		for table, says := range map[string]string{
			"notifications": "needs an answer", "link_shares": "needs an answer",
		} {
			runAll(t, env, step{[]string{"scaffold", "--update", again, "--include", table}, 2, says})
		}
		before := rows()
		runAll(t, env,
			step{[]string{"lint"}, 1, "decision-open notifications"},
			step{[]string{"coverage", "--fail-under", "100"}, 1, "notifications (not in the data map)"},
			step{[]string{"rehearse", "1"}, 0, "Nobody has decided about: users"},
			step{[]string{"erase", "1", "--yes"}, 0, "Nobody has decided about: users"},
			step{[]string{"verify", "1"}, 1, "link_shares"},
		)
		if got := changed(before, rows()); !slices.Equal(got, []string{"users 1"}) {
			t.Errorf("the untouched draft changes %v", got)
		}
		runAll(t, env,
			step{[]string{"decide", "--all-left"}, 0, "Answered: none"},
			step{[]string{"decide", "projects=not-about-people"}, 2, "needs a reason"},
			step{[]string{"decide", "sessions=delete", "users=keep"}, 0, "Answered: sessions, users"},
			step{[]string{"decide", "notifications=overwrite:notifiable_id"}, 0, "Answered: notifications"},
			step{[]string{"lint"}, 1, "decision-open link_shares"},
			step{[]string{"verify", "1"}, 1, "Nobody has decided about"},
			step{[]string{"decide", "*=not-about-people", "--because", "a project is its team's"}, 0, "link_shares"},
			step{[]string{"decide", "--columns", "is_admin=always:false"}, 0, "users.is_admin"},
			step{[]string{"decide", "--columns", "password,cookie=overwrite"}, 0, "0 questions open"},
			step{[]string{"lint", "--ignore", "index-missing,key-reused,foreign-key-missing"}, 0, "left out"},
			step{[]string{"erase", "1", "--yes"}, 0, "Erased 1"},
			step{[]string{"verify", "1"}, 0, ": 0 findings"},
		)
		if got := changed(before, rows()); !slices.Equal(got, []string{"users 1", "notifications 2", "sessions 1"}) {
			t.Errorf("the answers change %v", got)
		}
	}, "sqlite", "pgx")
}

// Texts that a script replaces in an untouched draft are no answers: an answer about people needs a reason, and one
// that the data map contradicts is a finding.
func TestNoReplacedTextMakesADraftPass(t *testing.T) {
	onPlanner(t, func(t *testing.T, env map[string]string, _ func() []string) {
		draft, err := os.ReadFile(env["HABEAS_DATA_MAP"])
		must(t, err)
		accepted := strings.ReplaceAll(string(draft), `"proposed"`, `"answer"`)
		beforeDecisions, _, _ := strings.Cut(string(draft), ",\n  \"decisions\"")
		for name, test := range map[string]struct{ text, says string }{
			"as it is":              {string(draft), "decision-open sessions"},
			"words":                 {strings.ReplaceAll(string(draft), "DECIDE", "DECIDED"), "decision-open sessions"},
			"questions":             {strings.ReplaceAll(string(draft), `"question"`, `"because"`), "decision-open sessions"},
			"proposals as answers":  {accepted, "decision-unreasoned sessions"},
			"no questions":          {beforeDecisions + "\n}", "table-undecided sessions"},
			"an account that stays": {beforeDecisions + "\n}", "account-open users"},
		} {
			must(t, os.WriteFile(env["HABEAS_DATA_MAP"], []byte(test.text), 0o600))
			code, stdout, stderr := run(t, env, "lint")
			if code != 1 || !strings.Contains(stdout, test.says) {
				t.Errorf("%s: lint ends with %d: %s%s", name, code, stdout, stderr)
			}
			runAll(t, env, step{[]string{"erase", "1", "--yes"}, 0, "Erased 1"})
			if code, stdout, _ = run(t, env, "verify", "1"); code != 1 && name != "proposals as answers" {
				t.Errorf("%s: verify ends with %d: %s", name, code, stdout)
			}
		}
		must(t, os.WriteFile(env["HABEAS_DATA_MAP"], []byte(accepted), 0o600))
		_, stdout, _ := run(t, env, "lint")
		for _, table := range []string{"sessions", "projects", "link_shares"} {
			if !strings.Contains(stdout, "decision-unreasoned "+table) {
				t.Errorf("%s passes without a reason: %s", table, stdout)
			}
		}
	}, "sqlite")
}
