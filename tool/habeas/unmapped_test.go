package main

import (
	"bytes"
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/internal/tests/postgres"
	"github.com/habeas-data/habeas/tool/cli"
)

const staffMap = `{"manifest_version": 2, "tables": [
	{"name": "staff", "primary_key": ["code"], "subject_key": ["code"], "columns": [
		{"name": "code", "type": "text"},
		{"name": "email", "type": "text", "personal": {"category": "contact", "erasure": "anonymize"}}]}]}`

// onBoth runs a test with one user on both databases. The parameter address is the URL of the database.
func onBoth(t *testing.T, test func(t *testing.T, env map[string]string, driver, address string)) {
	t.Run("SQLite", func(t *testing.T) {
		env := onSQLite(t)
		test(t, env, "sqlite", strings.TrimPrefix(env["HABEAS_DATABASE_URL"], "sqlite:"))
	})
	t.Run("PostgreSQL", func(t *testing.T) {
		address := postgres.NewDatabase(t)
		fill(t, "pgx", address)
		test(t, environment(t, address), "pgx", address)
	})
}

// without returns a copy of the environment without a variable.
func without(env map[string]string, name string) map[string]string {
	rest := map[string]string{}
	for key, value := range env {
		if key != name {
			rest[key] = value
		}
	}
	return rest
}

// step is a command with its exit code and with a part of its output.
type step struct {
	args []string
	code int
	says string
}

func runAll(t *testing.T, env map[string]string, steps ...step) {
	t.Helper()
	for _, step := range steps {
		code, stdout, stderr := run(t, env, step.args...)
		if code != step.code || !strings.Contains(stdout+stderr, step.says) {
			t.Errorf("%q ends with %d:\n%s%s", step.args, code, stdout, stderr)
		}
	}
}

func execute(t *testing.T, driver, address, statement string) {
	t.Helper()
	db, err := sql.Open(driver, address)
	must(t, err)
	defer func() { must(t, db.Close()) }()
	_, err = db.ExecContext(t.Context(), statement)
	must(t, err)
}

func TestCommandsOnTheTablesOfHabeasNeedNoDataMap(t *testing.T) {
	onBoth(t, func(t *testing.T, mapped map[string]string, _, _ string) {
		env := without(mapped, "HABEAS_DATA_MAP")
		runAll(t, env,
			step{[]string{"migrate", "status"}, 1, "pending"},
			step{[]string{"trail", "1"}, 2, `Run "habeas migrate up"`},
			step{[]string{"migrate", "sql"}, 0, "CREATE TABLE habeas_outbox"},
			step{[]string{"migrate", "sql", "--name", "staff"}, 0, "CREATE TABLE habeas_staff_outbox"},
			step{[]string{"migrate", "up"}, 0, "0001_habeas.sql  applied"},
			step{[]string{"migrate", "up", "--accept-map"}, 2, "--accept-map records a data map, which is missing"},
			step{[]string{"trail", "1"}, 0, "0 events"}, // nothing has recorded the table of subjects yet
			step{[]string{"outbox", "counts"}, 0, "Succeeded: 0"},
			step{[]string{"outbox", "purge", "--yes"}, 0, "Removed 0 entries"},
		)
		runAll(t, mapped, step{[]string{"erase", "1", "--yes"}, 0, "Erased 1"})
		runAll(t, env,
			step{[]string{"trail", "1"}, 0, "erasure_completed"},
			step{[]string{"trail", "2"}, 2, "no subject with this id"},
			step{[]string{"outbox", "counts", "-o", "json"}, 0, `"succeeded":0`},
			step{[]string{"outbox", "list"}, 0, "No entry was given up"},
			step{[]string{"outbox", "requeue", "--all"}, 0, "Requeued 0 entries"},
			step{[]string{"outbox", "requeue", "a"}, 1, "1 entry skipped"},
			step{[]string{"outbox", "discard", "a", "--reason", "done", "--yes"}, 1, "1 entry skipped"},
			step{[]string{"outbox", "purge", "--yes"}, 0, "Removed 0 entries"},
			step{[]string{"migrate", "up"}, 0, "applied"},
		)
	})
}

func TestFindNeedsNeitherADataMapNorTheTablesOfHabeas(t *testing.T) {
	onBoth(t, func(t *testing.T, mapped map[string]string, _, _ string) {
		env := without(mapped, "HABEAS_DATA_MAP")
		for _, migrated := range []bool{false, true} {
			var out, complaint bytes.Buffer
			root := newCommand(func(name string) string { return env[name] })
			root.SetArgs([]string{"find", "-"})
			root.SetIn(strings.NewReader("zoe@example.org\n"))
			root.SetOut(&out)
			root.SetErr(&complaint)
			if code := cli.Execute(t.Context(), root); code != 1 || !strings.Contains(out.String(), "users.email") {
				t.Errorf("migrated %t: ends with %d: %s%s", migrated, code, out.String(), complaint.String())
			}
			runAll(t, env, step{[]string{"migrate", "up"}, 0, "applied"})
		}
		// the search has recorded no data map
		runAll(t, mapped, step{[]string{"erase", "1", "--yes"}, 0, "Erased 1"})
	})
}

// The same id is another person in the tables of another data map. Without a data map, the name selects the tables.
func TestWithoutADataMapTheNameSelectsThePeople(t *testing.T) {
	onBoth(t, func(t *testing.T, users map[string]string, driver, address string) {
		execute(t, driver, address, "CREATE TABLE staff (code TEXT PRIMARY KEY, email TEXT)")
		execute(t, driver, address, "INSERT INTO staff VALUES ('1', 'ann@example.org')")
		file := filepath.Join(t.TempDir(), "staff.json")
		must(t, os.WriteFile(file, []byte(staffMap), 0o600))
		staff := without(users, "")
		staff["HABEAS_DATA_MAP"], staff["HABEAS_NAME"] = file, "staff"
		env := without(users, "HABEAS_DATA_MAP")
		runAll(t, env, step{[]string{"migrate", "up", "--name", "staff"}, 0, "applied"})
		for _, args := range [][]string{{"trail", "1"}, {"outbox", "purge", "--yes"}, {"outbox", "counts"}} {
			runAll(t, env, step{args, 2, `these data maps: "staff"`}) // not: run the migrations
		}
		runAll(t, env, step{[]string{"migrate", "up"}, 0, "applied"})
		runAll(t, staff, step{[]string{"erase", "1", "--yes"}, 0, "Erased 1"})
		runAll(t, users, step{[]string{"export", "1"}, 0, "zoe@example.org"})
		runAll(t, env,
			step{[]string{"trail", "1"}, 2, `these data maps: the one without a name, "staff"`},
			step{[]string{"outbox", "requeue", "--all"}, 2, "--name or HABEAS_NAME"},
			step{[]string{"trail", "1", "--name", "staff"}, 0, "erasure_completed"},
			step{[]string{"trail", "1", "--name", "other"}, 2, "habeas_other_installation"},
			step{[]string{"trail", "1", "--name", ""}, 2, "--name is not valid"},
		)
		// a data map that is given is compared with the tables
		runAll(t, users,
			step{[]string{"trail", "1"}, 0, "export_completed"},
			step{[]string{"trail", "1", "--name", "staff"}, 2, "belong to the data map of staff (code text)"},
			step{[]string{"outbox", "list", "--name", "staff"}, 2, "belong to the data map of staff (code text)"},
			step{[]string{"migrate", "up", "--name", "staff"}, 2, "belong to the data map of staff (code text)"},
		)
	})
}

func TestTheDataMapIsDrawnWithoutADatabase(t *testing.T) {
	env := without(onSQLite(t), "HABEAS_DATABASE_URL")
	runAll(t, env, step{[]string{"map", "--format", "mermaid"}, 0, "flowchart"})
}

func TestTheTrailOfAReadOnlyDatabaseIsShown(t *testing.T) {
	address := postgres.NewDatabase(t)
	fill(t, "pgx", address)
	env := environment(t, address)
	runAll(t, env, step{[]string{"migrate", "up"}, 0, "applied"}, step{[]string{"erase", "1", "--yes"}, 0, "Erased 1"})
	env["HABEAS_DATABASE_URL"] = address + "&options=-c%20default_transaction_read_only%3Don"
	for _, env := range []map[string]string{env, without(env, "HABEAS_DATA_MAP")} {
		runAll(t, env,
			step{[]string{"trail", "1"}, 0, "erasure_completed"}, step{[]string{"trail", "7"}, 2, "no subject with this id"},
			step{[]string{"outbox", "counts"}, 0, "Succeeded: 0"},
		)
	}
	runAll(t, env, step{[]string{"erase", "1", "--yes"}, 2, "read-only"})
}

func TestThePagesOfIncompleteErasuresSaySo(t *testing.T) {
	for _, command := range []string{"erase", "replay"} {
		_, stdout, _ := run(t, nil, "help", command)
		if !strings.Contains(stdout, "This program calls no external system and runs no hooks.") ||
			!strings.Contains(stdout, "--without-hooks") {
			t.Errorf("the page says:\n%s", stdout)
		}
	}
}

func TestTheDataMapOfAnInstallationHasTheSubjectTable(t *testing.T) {
	if _, err := dataMapOf(datamap.Installation{}); !errors.Is(err, domain.ErrConfiguration) {
		t.Errorf("a data map that is not recorded: %v", err)
	}
	recorded := datamap.Installation{
		SubjectTable: "members", KeyColumns: []datamap.KeyColumn{{Name: "code", Type: datamap.TypeText}},
	}
	read, err := dataMapOf(recorded)
	if err != nil || read.SubjectTable().Name != "members" || recorded.Check(read) != nil {
		t.Errorf("got %+v, %v", read.SubjectTable(), err)
	}
}
