package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"io"
	"net/http"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/habeas-data/habeas/internal/tests/postgres"
	"github.com/habeas-data/habeas/tool/cli"
)

func TestMain(m *testing.M) { postgres.Main(m) }

func TestTheWalkthroughSucceeds(t *testing.T) {
	for name, databaseURL := range map[string]func() string{
		"SQLite":     func() string { return defaultDatabaseURL },
		"PostgreSQL": func() string { return postgres.NewDatabase(t) },
	} {
		t.Run(name, func(t *testing.T) {
			var output bytes.Buffer
			c := config{databaseURL: databaseURL(), walkthrough: true, pollInterval: time.Hour}
			if err := run(t.Context(), c, &output); err != nil {
				t.Fatalf("%v\n%s", err, output.String())
			}
			if !strings.Contains(output.String(), "every response was as expected") {
				t.Errorf("output:\n%s", output.String())
			}
		})
	}
}

func TestTheWalkthroughLeavesNothingOnPostgreSQL(t *testing.T) {
	databaseURL := postgres.NewDatabase(t)
	if err := run(t.Context(), config{databaseURL: databaseURL, walkthrough: true}, io.Discard); err != nil {
		t.Fatal(err)
	}
	db, err := openDatabase(t.Context(), databaseURL)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	var schemas []string
	err = db.NewSelect().Table("information_schema.schemata").Column("schema_name").
		Where("schema_name LIKE ?", "habeas%").Scan(t.Context(), &schemas)
	if err != nil || len(schemas) > 0 {
		t.Errorf("%v, %v", schemas, err)
	}
}

func TestAnUnexpectedResponseEndsTheWalkthrough(t *testing.T) {
	s := &story{output: io.Discard}
	if err := s.check(false, "the moon is made of %s", "cheese"); err == nil || !strings.Contains(err.Error(), "cheese") {
		t.Errorf("got %v", err)
	}
}

// live is a writer whose text a test can read while the application writes.
type live struct {
	mu      sync.Mutex
	text    bytes.Buffer
	written chan struct{}
}

func (l *live) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	select {
	case l.written <- struct{}{}:
	default:
	}
	return l.text.Write(p)
}

func TestTheServerRunsUntilItIsStopped(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	output := &live{written: make(chan struct{}, 1)}
	c := config{addr: "127.0.0.1:0", databaseURL: "sqlite://" + filepath.Join(t.TempDir(), "demo.db")}
	ended := make(chan error, 1)
	go func() { ended <- run(ctx, c, output) }()

	select {
	case <-output.written:
	case err := <-ended:
		t.Fatal(err)
	}
	output.mu.Lock()
	address := regexp.MustCompile(`http://[0-9.:]+`).FindString(output.text.String())
	output.mu.Unlock()
	for path, want := range map[string]string{"/healthz": "ok", "/openapi.json": `"/me/consent"`} {
		response, err := http.Get(address + path)
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(response.Body)
		_ = response.Body.Close()
		if response.StatusCode != http.StatusOK || !strings.Contains(string(body), want) {
			t.Errorf("%s: %s %s", path, response.Status, body)
		}
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

func TestSeedingHappensOnlyOnce(t *testing.T) {
	db, err := openDatabase(t.Context(), "sqlite://"+filepath.Join(t.TempDir(), "demo.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	for range 2 {
		if err := prepare(t.Context(), db); err != nil {
			t.Fatal(err)
		}
	}
	for _, model := range models {
		n, err := db.NewSelect().Model(model).Count(t.Context())
		if err != nil || n < 3 || n > 9 {
			t.Errorf("%T: %d rows, %v", model, n, err)
		}
	}
}

func TestAFlagWinsOverItsEnvironmentVariable(t *testing.T) {
	env := map[string]string{
		"HABEAS_ADDR": "127.0.0.1:1", "HABEAS_DATABASE_URL": "sqlite://env.db", "HABEAS_POLL_INTERVAL": "2s",
		"HABEAS_SUPPORTDESK_URL": "http://127.0.0.1:2", "HABEAS_SUPPORTDESK_TOKEN": "env-token",
	}
	c, err := parseConfig([]string{"-addr", "127.0.0.1:9"}, func(name string) string { return env[name] }, io.Discard)
	want := config{
		addr: "127.0.0.1:9", databaseURL: "sqlite://env.db", pollInterval: 2 * time.Second,
		supportdeskURL: "http://127.0.0.1:2", supportdeskToken: "env-token",
	}
	if err != nil || c != want {
		t.Errorf("%+v, %v", c, err)
	}
}

func TestWrongSettingsAreRefused(t *testing.T) {
	none := func(string) string { return "" }
	for _, args := range [][]string{{"-poll-interval", "soon"}, {"-poll-interval", "0s"}, {"extra"}, {"-nonsense"}} {
		if _, err := parseConfig(args, none, io.Discard); err == nil {
			t.Errorf("%q was accepted", args)
		}
	}
	if _, err := parseConfig([]string{"-h"}, none, io.Discard); !errors.Is(err, flag.ErrHelp) {
		t.Errorf("got %v", err)
	}
	for _, databaseURL := range []string{"sqlite://", "mysql://x", "", "postgres://user:s3cret@host:port/x"} {
		_, err := openDatabase(t.Context(), databaseURL)
		if err == nil || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%q: %v", databaseURL, err)
		}
	}
}

func TestOperatorsHaveACommandOnTheDatabaseOfTheDemo(t *testing.T) {
	databaseURL := "sqlite://" + filepath.Join(t.TempDir(), "demo.db")
	db, err := openDatabase(t.Context(), databaseURL)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	if err := prepare(t.Context(), db); err != nil {
		t.Fatal(err)
	}
	env := map[string]string{"HABEAS_DATABASE_URL": databaseURL}
	for _, step := range []struct {
		args, says string
		code       int
	}{
		{"migrate up", "applied", 0},
		{"erase 1 --ref supportdesk=c-alice --operator dpo --yes", "A worker will call: supportdesk", 0},
		{"outbox counts", "supportdesk", 0},
		{"trail 1 --database-url " + databaseURL, "operator=dpo", 0},
		{"trail 1 --database-url mysql://root:s3cret@db", "cannot be opened", 2},
		{"erase --help", "quickstart gdpr erase 42 --operator dpo", 0},
	} {
		var output bytes.Buffer
		root := newTree(func(name string) string { return env[name] })
		root.SetArgs(append([]string{"gdpr"}, strings.Fields(step.args)...))
		root.SetOut(&output)
		root.SetErr(&output)
		code := cli.Execute(t.Context(), root)
		if code != step.code || !strings.Contains(output.String(), step.says) || strings.Contains(output.String(), "s3cret") {
			t.Errorf("%s ends with %d:\n%s", step.args, code, output.String())
		}
	}
}

func TestTheCommandFindsTheShopBeforeTheFirstStart(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, step := range []struct{ args, says string }{
		{"migrate up", "applied"},
		{"rehearse 1 --ref supportdesk=c-alice", "users"},
	} {
		var output bytes.Buffer
		root := newTree(func(string) string { return "" })
		root.SetArgs(append([]string{"gdpr"}, strings.Fields(step.args)...))
		root.SetOut(&output)
		root.SetErr(&output)
		if code := cli.Execute(t.Context(), root); code != 0 || !strings.Contains(output.String(), step.says) {
			t.Errorf("%s ends with %d:\n%s", step.args, code, output.String())
		}
	}
}
