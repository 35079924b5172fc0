package main

import (
	"bytes"
	"context"
	"database/sql"
	"go/build"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/habeas-data/habeas/internal/tests/fixture"
	"github.com/habeas-data/habeas/internal/tests/postgres"
	"github.com/habeas-data/habeas/tool/cli"
)

// asProgram is the environment variable that makes the test binary run as the program.
const asProgram = "HABEAS_TEST_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		main()
	}
	postgres.Main(m)
}

const dataMap = `{"manifest_version": 2, "tables": [
	{"name": "users", "primary_key": ["id"], "subject_key": ["id"], "columns": [
		{"name": "id", "type": "bigint"},
		{"name": "email", "type": "text", "personal": {"category": "contact", "erasure": "anonymize"}}]}]}`

// environment returns environment variables with the name of a data map file and with the database URL.
func environment(t *testing.T, address string) map[string]string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "datamap.json")
	must(t, os.WriteFile(file, []byte(dataMap), 0o600))
	return map[string]string{"HABEAS_DATA_MAP": file, "HABEAS_DATABASE_URL": address}
}

// onSQLite returns environment variables for an SQLite database with one user.
func onSQLite(t *testing.T) map[string]string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "shop #1.db")
	fill(t, "sqlite", file)
	return environment(t, "sqlite:"+file)
}

func fill(t *testing.T, driver, address string) {
	t.Helper()
	db, err := sql.Open(driver, address)
	must(t, err)
	defer func() { must(t, db.Close()) }()
	for _, statement := range []string{
		"CREATE TABLE users (id BIGINT PRIMARY KEY, email TEXT)", "INSERT INTO users VALUES (1, 'zoe@example.org')",
	} {
		_, err := db.ExecContext(t.Context(), statement)
		must(t, err)
	}
}

func run(t *testing.T, env map[string]string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	t.Setenv("HABEAS_OPERATOR", "dpo")
	var out, complaint bytes.Buffer
	root := newCommand(func(name string) string { return env[name] })
	root.SetArgs(args)
	root.SetOut(&out)
	root.SetErr(&complaint)
	code = cli.Execute(t.Context(), root)
	return code, out.String(), complaint.String()
}

func TestASubjectIsErasedOnEitherDatabase(t *testing.T) {
	for name, environment := range map[string]func() map[string]string{
		"SQLite": func() map[string]string { return onSQLite(t) },
		"PostgreSQL": func() map[string]string {
			address := postgres.NewDatabase(t)
			fill(t, "pgx", address)
			return environment(t, address)
		},
	} {
		t.Run(name, func(t *testing.T) {
			env := environment()
			for _, step := range []struct {
				args []string
				code int
				says string
			}{
				{[]string{"migrate", "up"}, 0, "0001_habeas.sql  applied"},
				{[]string{"status"}, 0, "0 findings"},
				{[]string{"export", "1"}, 0, "zoe@example.org"},
				{[]string{"erase", "1", "--yes"}, 0, "users  0        1           0"},
				{[]string{"export", "1"}, 0, `"erased":true`},
				{[]string{"trail", "1"}, 0, "erasure_completed"},
				{[]string{"erase", "2", "--yes"}, 2, ""},
				{[]string{"erase", "zoe", "--yes"}, 2, ""},
			} {
				code, stdout, stderr := run(t, env, step.args...)
				if code != step.code || !strings.Contains(stdout, step.says) || strings.Contains(stderr, "zoe") {
					t.Errorf("%q ends with %d:\n%s%s", step.args, code, stdout, stderr)
				}
			}
		})
	}
}

func TestAnErrorOfOpeningSaysWhatToDo(t *testing.T) {
	env := onSQLite(t)
	broken := filepath.Join(t.TempDir(), "broken.json")
	must(t, os.WriteFile(broken, []byte(strings.ReplaceAll(dataMap, "contact", "mail")), 0o600))
	none := filepath.Join(t.TempDir(), "none")
	const to = "--database-url="
	for name, test := range map[string]struct {
		flag string
		env  map[string]string
		says string
	}{
		"nothing":            {"", nil, "--database-url or HABEAS_DATABASE_URL"},
		"no file":            {"--data-map=" + none, env, "the file of the data map does not exist"},
		"a directory":        {"--data-map=" + t.TempDir(), env, "manifest: cannot be read; correct"},
		"a broken data map":  {"--data-map=" + broken, env, "users.email"},
		"no database":        {"--data-map=" + env["HABEAS_DATA_MAP"], nil, "--database-url or HABEAS_DATABASE_URL"},
		"another database":   {to + "mysql://root:s3cret@db", env, "must begin with postgres:// or sqlite:"},
		"no URL":             {to + "postgres://root:s3cret@db:port/x", env, "not a valid postgres:// URL"},
		"no file of SQLite":  {to + "sqlite:" + none, env, "its file cannot be opened"},
		"no name of a file":  {to + "sqlite://", env, "has no file"},
		"a schema on SQLite": {"--schema=x", env, "SQLite has no schemas"},
		"an unheard server":  {to + "postgres://root:s3cret@" + unheard(t) + "/x", env, "connection refused"},
		"a wrong password":   {to + "postgres://root:s3cret@" + refusing(t) + "?sslmode=disable", env, "password is wrong"},
	} {
		t.Run(name, func(t *testing.T) {
			code, stdout, stderr := run(t, test.env, strings.Fields("trail 4711 "+test.flag)...)
			if code != 2 || stdout != "" || !strings.Contains(stderr, test.says) {
				t.Errorf("ends with %d: %s%s", code, stdout, stderr)
			}
			for _, hidden := range []string{"s3cret", "root", "4711", none} {
				if strings.Contains(stderr, hidden) {
					t.Errorf("the error contains %q: %s", hidden, stderr)
				}
			}
		})
	}
	if _, err := os.Stat(none); !os.IsNotExist(err) {
		t.Errorf("a database was created: %v", err)
	}
}

func TestACommandThatNeedsTheDataMapSaysSo(t *testing.T) {
	env := onSQLite(t)
	delete(env, "HABEAS_DATA_MAP")
	for _, args := range [][]string{{"export", "1"}, {"status"}, {"lint"}, {"erase", "1", "--yes"}, {"map"}} {
		code, _, stderr := run(t, env, args...)
		if code != 2 || !strings.Contains(stderr, "--data-map or HABEAS_DATA_MAP") {
			t.Errorf("%q ends with %d: %s", args, code, stderr)
		}
	}
}

// unheard returns an address without a server.
func unheard(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	must(t, listener.Close())
	return listener.Addr().String()
}

// refusing returns the address of a PostgreSQL server that refuses every password.
func refusing(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			connection, err := listener.Accept()
			if err != nil {
				return
			}
			backend := pgproto3.NewBackend(connection, connection)
			if _, err := backend.ReceiveStartupMessage(); err == nil {
				backend.Send(&pgproto3.ErrorResponse{
					Severity: "FATAL", Code: "28P01", Message: `password authentication failed for user "root"`,
				})
				_ = backend.Flush()
			}
			_ = connection.Close()
		}
	}()
	return listener.Addr().String()
}

// A command reports the missing privilege if the role of the connection has no privileges on the tables.
func TestAMissingPrivilegeIsReported(t *testing.T) {
	address := postgres.NewDatabase(t)
	fill(t, "pgx", address)
	env := environment(t, address)
	if code, _, stderr := run(t, env, "migrate", "up"); code != 0 {
		t.Fatal(stderr)
	}
	db, err := sql.Open("pgx", address)
	must(t, err)
	defer func() { _ = db.Close() }()
	role := "habeas_cli_reader"
	for _, statement := range []string{"DROP ROLE IF EXISTS " + role, "CREATE ROLE " + role} {
		_, err = db.ExecContext(t.Context(), statement)
		must(t, err)
	}
	t.Cleanup(func() { _, _ = db.ExecContext(context.Background(), "DROP ROLE "+role) })
	env["HABEAS_DATABASE_URL"] = address + "&options=-c%20role%3D" + role
	code, stdout, stderr := run(t, env, "erase", "1", "--yes")
	if code != 2 || stdout != "" || !strings.Contains(stderr, "lacks the privilege SELECT") ||
		strings.Count(stderr, "\n") != 1 {
		t.Errorf("ends with %d: %s%s", code, stdout, stderr)
	}
}

func TestTheProgramWorksWithThePipesOfAShell(t *testing.T) {
	program, err := os.Executable()
	must(t, err)
	env := onSQLite(t)
	start := func(stdin string, args ...string) *exec.Cmd {
		command := exec.CommandContext(t.Context(), program, args...)
		command.Stdin = strings.NewReader(stdin)
		command.Env = append(os.Environ(), asProgram+"=1", "HABEAS_OPERATOR=dpo")
		for name, value := range env {
			command.Env = append(command.Env, name+"="+value)
		}
		return command
	}
	code := func(command *exec.Cmd) int {
		_ = command.Run()
		return command.ProcessState.ExitCode()
	}
	if help, err := start("", "help").Output(); err != nil || !strings.HasPrefix(string(help), "habeas - ") {
		t.Errorf("%v: %s", err, help)
	}
	for want, args := range map[int][]string{0: {"version"}, 1: {"migrate", "status"}, 2: {"erase"}} {
		if got := code(start("", args...)); got != want {
			t.Errorf("%q ends with %d, not %d", args, got, want)
		}
	}
	if got := code(start("", "migrate", "up")); got != 0 {
		t.Fatalf("ends with %d", got)
	}
	reader, writer, err := os.Pipe()
	must(t, err)
	must(t, reader.Close())
	defer func() { _ = writer.Close() }()
	erasing := start("1\n1\n", "erase", "-", "--yes")
	var complaint bytes.Buffer
	erasing.Stdout, erasing.Stderr = writer, &complaint
	if got := code(erasing); got != 0 || complaint.Len() > 0 {
		t.Errorf("ends with %d: %s", got, complaint.String())
	}
	trail, err := start("", "trail", "1", "-o", "json").Output()
	must(t, err)
	if n := strings.Count(string(trail), `"erasure_completed"`); n != 2 {
		t.Errorf("%d erasures were completed", n)
	}
	copying := start("", "export", "1")
	complaint.Reset()
	copying.Stdout, copying.Stderr = writer, &complaint
	if got := code(copying); got != 2 || complaint.Len() > 0 {
		t.Errorf("ends with %d: %s", got, complaint.String())
	}
}

// Only the command lint shows the tables and columns that the data map leaves out. The other commands, such as map,
// write nothing about them to the standard error.
func TestOnlyLintShowsTheNoticesOfTheDataMap(t *testing.T) {
	program, err := os.Executable()
	must(t, err)
	file := filepath.Join(t.TempDir(), "datamap.json")
	must(t, os.WriteFile(file, []byte(strings.TrimSuffix(dataMap, "]}")+`,
		{"name": "loans", "primary_key": ["id"], "relations": [
			{"columns": ["reader"], "references": "users", "referenced_columns": ["id"], "path": true},
			{"columns": ["clerk"], "references": "users", "referenced_columns": ["id"]}], "columns": [
			{"name": "id", "type": "bigint"}, {"name": "reader", "type": "bigint"}, {"name": "clerk", "type": "bigint"},
			{"name": "note", "type": "text", "personal": {"category": "communication", "erasure": "anonymize"}}]}]}`), 0o600))
	drawing := exec.CommandContext(t.Context(), program, "map")
	drawing.Env = append(os.Environ(), asProgram+"=1", "HABEAS_DATA_MAP="+file, "HABEAS_DATABASE_URL=")
	var complaint bytes.Buffer
	drawing.Stderr = &complaint
	if picture, err := drawing.Output(); err != nil || len(picture) == 0 || complaint.Len() > 0 {
		t.Errorf("%v, %d bytes: %s", err, len(picture), complaint.String())
	}
}

func TestThePageNamesEveryFlagOfTheProgram(t *testing.T) {
	_, stdout, _ := run(t, nil, "help")
	for _, flag := range []string{
		"--data-map", "--database-url", "--schema", "--name", "--trust-encoding", "HABEAS_DATA_MAP", "HABEAS_DATABASE_URL",
		"HABEAS_NAME",
	} {
		if !slices.Contains(strings.Fields(strings.NewReplacer("(", " ", ")", " ").Replace(stdout)), flag) {
			t.Errorf("the page lacks %s:\n%s", flag, stdout)
		}
	}
}

// In a container without a zone database, the zone of a data map would not be known.
func TestTheProgramHasTheZonesOfDataMaps(t *testing.T) {
	sources, err := build.ImportDir(".", 0)
	must(t, err)
	if !slices.Contains(sources.Imports, "time/tzdata") {
		t.Error("the program does not link time/tzdata")
	}
}

var must = fixture.Must

func TestFindingsThatTheManifestAcceptsAreListedOnRequest(t *testing.T) {
	env := onSQLite(t)
	file := strings.TrimPrefix(env["HABEAS_DATABASE_URL"], "sqlite:")
	execute(t, "sqlite", file, "ALTER TABLE users ADD COLUMN phone TEXT")
	lint := func(until string, args ...string) (code int, stdout string) {
		t.Helper()
		accepting := strings.NewReplacer(`"tables"`, `"accepted": [{"rule": "personal-unannotated", "table": "users",`+
			` "column": "phone", "reason": "shop", "until": "`+until+`"}], "tables"`,
			`{"name": "email"`, `{"name": "phone", "type": "text"}, {"name": "email"`).Replace(dataMap)
		must(t, os.WriteFile(env["HABEAS_DATA_MAP"], []byte(accepting), 0o600))
		code, stdout, _ = run(t, env, append([]string{"lint"}, args...)...)
		return code, stdout
	}
	if code, stdout := lint("9999-12-31"); code != 0 || stdout != "0 findings, and 1 accepted finding.\n" {
		t.Errorf("ends with %d: %s", code, stdout)
	}
	code, stdout := lint("9999-12-31", "--all")
	if code != 0 || !strings.Contains(stdout, "accepted personal-unannotated users\n  phone: ") ||
		!strings.Contains(stdout, "9999-12-31: shop") || !strings.Contains(stdout, "\"not_personal\":") {
		t.Errorf("ends with %d: %s", code, stdout)
	}
	code, stdout = lint("2020-12-31")
	if code != 1 || !strings.HasPrefix(stdout, "2 findings in 1 table: 2 warnings.\n") ||
		!strings.Contains(stdout, "warning acceptance-expired") {
		t.Errorf("ends with %d: %s", code, stdout)
	}
}

func TestAProposedDataMapCanBeChecked(t *testing.T) {
	env := onSQLite(t)
	code, proposed, stderr := run(t, map[string]string{"HABEAS_DATABASE_URL": env["HABEAS_DATABASE_URL"]}, "scaffold")
	if code != 0 || stderr != "" {
		t.Fatalf("ends with %d: %s", code, stderr)
	}
	must(t, os.WriteFile(env["HABEAS_DATA_MAP"], []byte(proposed), 0o600))
	for _, step := range []struct {
		args []string
		says string
	}{
		{[]string{"lint", "--fail-on", "error"}, "finding"},
		{[]string{"lint", "--fail-on", "error", "--sarif", env["HABEAS_DATA_MAP"]}, `"version":"2.1.0"`},
		{[]string{"map", "--format", "dot"}, "users"},
	} {
		code, stdout, stderr := run(t, env, step.args...)
		if code != 0 || !strings.Contains(stdout, step.says) {
			t.Errorf("%q ends with %d: %s%s", step.args, code, stdout, stderr)
		}
	}
	code, _, stderr = run(t, nil, "scaffold")
	if code != 2 || !strings.Contains(stderr, "--database-url") {
		t.Errorf("ends with %d: %s", code, stderr)
	}
}
