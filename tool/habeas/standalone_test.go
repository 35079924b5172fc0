package main

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/habeas-data/habeas/app"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports"
)

// crm is an external system of the application.
type crm struct{ ports.Resolver }

func (crm) Name() string { return "crm" }

// The resolvers of an application are in its own program.
func TestTheDataMapOfAnApplicationWithResolversCanBeRead(t *testing.T) {
	env := onSQLite(t)
	withKeys := strings.Replace(dataMap, `"erasure": "anonymize"`, `"erasure": "anonymize", "ref": "media"`, 1)
	must(t, os.WriteFile(env["HABEAS_DATA_MAP"], []byte(withKeys), 0o600))
	for _, line := range []string{
		"0 migrate up", "1 status", "0 rehearse 1", "1 lint", "0 coverage", "0 trail 1", "0 map", "1 export 1",
	} {
		args := strings.Fields(line)
		code, stdout, stderr := run(t, env, args[1:]...)
		if strconv.Itoa(code) != args[0] || strings.Contains(stderr, "resolver") {
			t.Errorf("%s, but ends with %d: %s%s", line, code, stdout, stderr)
		}
	}
	journal := filepath.Join(t.TempDir(), "erased.jsonl")
	must(t, os.WriteFile(journal, nil, 0o600))
	for _, args := range [][]string{
		{"erase", "1", "--yes", "--without-hooks"}, {"replay", journal, "--yes"}, {"sweep", "--yes"},
	} {
		code, stdout, stderr := run(t, env, args...)
		if code != 2 || !strings.Contains(stderr, "keys of external systems (media)") {
			t.Errorf("%v ends with %d: %s%s", args, code, stdout, stderr)
		}
	}
	if _, stdout, _ := run(t, env, "export", "1"); !strings.Contains(stdout, "zoe@example.org") {
		t.Errorf("the subject was erased: %s", stdout)
	}
}

// The worker of an application records its external systems and hooks. The stand-alone program then does not erase,
// because its erasures would leave them out.
func TestErasuresThatWouldBeIncompleteAreRefused(t *testing.T) {
	hook := func(context.Context, ports.Session, domain.Subject) error { return nil }
	for name, c := range map[string]struct {
		change func(*app.Config)
		says   string
	}{
		"an external system": {func(c *app.Config) { c.Resolvers = []ports.Resolver{crm{}} }, "calls external systems (crm)"},
		"a hook":             {func(c *app.Config) { c.Hooks.BeforeErasure = hook }, "runs hooks"},
	} {
		t.Run(name, func(t *testing.T) {
			env := onSQLite(t)
			if code, _, stderr := run(t, env, "migrate", "up"); code != 0 {
				t.Fatal(stderr)
			}
			journal := filepath.Join(t.TempDir(), "erased.jsonl")
			must(t, os.WriteFile(journal, nil, 0o600))
			s := &settings{env: func(key string) string { return env[key] }}
			file, err := s.readDataMap()
			must(t, err)
			db, err := s.openDatabase()
			must(t, err)
			config := app.Config{DB: db, DataMap: file}
			c.change(&config)
			gdpr, err := app.New(config)
			must(t, err)
			gdpr.Worker().Start()
			for { // the worker records before its first batch
				installation, err := gdpr.Operator().Installation(t.Context())
				must(t, err)
				if installation.Started != nil {
					break
				}
			}
			must(t, gdpr.Worker().Stop(0))
			for _, args := range [][]string{{"erase", "1", "--yes"}, {"replay", journal, "--yes"}} {
				code, _, stderr := run(t, env, args...)
				if code != 2 || !strings.Contains(stderr, c.says) || !strings.Contains(stderr, "--without-hooks") {
					t.Errorf("%v ends with %d: %s", args, code, stderr)
				}
			}
			if code, stdout, _ := run(t, env, "export", "1"); code != 0 || !strings.Contains(stdout, "zoe@example.org") {
				t.Errorf("the subject was erased: %s", stdout)
			}
			if code, _, stderr := run(t, env, "erase", "1", "--yes", "--without-hooks"); code != 0 {
				t.Errorf("ends with %d: %s", code, stderr)
			}
			must(t, db.Close())
		})
	}
}
