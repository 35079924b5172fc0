package main

import (
	"os"
	"strings"
	"testing"

	"github.com/habeas-data/habeas/internal/tests/postgres"
)

func TestTheDialogueReadsSomeRowsOnEitherDatabase(t *testing.T) {
	address := postgres.NewDatabase(t)
	fill(t, "pgx", address)
	for name, env := range map[string]map[string]string{"SQLite": onSQLite(t), "PostgreSQL": environment(t, address)} {
		t.Run(name, func(t *testing.T) {
			rows, err := (&settings{env: func(name string) string { return env[name] }}).openRows(t.Context())
			must(t, err)
			n, err := rows.CountRows(t.Context(), "users", 5)
			must(t, err)
			if n != 1 {
				t.Errorf("users has %d rows", n)
			}
			if n, err = rows.CountRows(t.Context(), "users", 0); err != nil || n != 0 {
				t.Errorf("counts %d, %v", n, err)
			}
			values, err := rows.Examples(t.Context(), "users", "id", 3)
			must(t, err)
			if text, _ := values[0].Reveal(); len(values) != 1 || text != "1" {
				t.Errorf("users has %d values, such as %s", len(values), text)
			}
		})
	}
}

func TestADecisionNeedsNoDatabase(t *testing.T) {
	env := environment(t, "")
	file := env["HABEAS_DATA_MAP"]
	question := strings.TrimSuffix(dataMap, "}") +
		`, "decisions": [{"object": "rooms", "seen": ["id"], "question": "Whose?",
		"options": [{"name": "not-about-people"}]}]}`
	must(t, os.WriteFile(file, []byte(question), 0o600))
	if code, stdout, stderr := run(t, env, "decide", "rooms=not-about-people"); code != 0 {
		t.Fatalf("ends with %d: %s%s", code, stdout, stderr)
	}
	text, err := os.ReadFile(file)
	must(t, err)
	if !strings.Contains(string(text), `"answer": "not-about-people"`) {
		t.Errorf("the file has %s", text)
	}
}
