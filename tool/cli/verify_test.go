package cli_test

import (
	"strings"
	"testing"

	"github.com/habeas-data/habeas/adapters/persistence/manifest"
	"github.com/habeas-data/habeas/adapters/persistence/memory"
	"github.com/habeas-data/habeas/app/stack"
)

// withCustomers gives the shop a data map of customers only, with an erasure of their addresses and further members of
// the table.
func withCustomers(t *testing.T, erasure, members string) (change func(*stack.Config), store *memory.Store) {
	t.Helper()
	m, err := manifest.Read(strings.NewReader(`{"manifest_version": 2, "tables": [{"name": "customers", ` + members +
		`"primary_key": ["id"], "subject_key": ["id"], "columns": [{"name": "id", "type": "text"},
		{"name": "email", "type": "text", "personal": {"category": "contact", "erasure": "` + erasure + `"}}]}]}`))
	must(t, err)
	store, err = memory.New(m, memory.Options{})
	must(t, err)
	must(t, store.Insert("customers", memory.Row{"id": "1", "email": "c1@example.org"}))
	return func(c *stack.Config) { c.Sessions, c.Finder, c.DataMap, c.Resolvers = store, store, m, nil }, store
}

// If no column of the kept row shows an erasure, nothing was registered again or restored.
func TestVerifyTellsWhyItChecksNothing(t *testing.T) {
	change, _ := withCustomers(t, "null", "")
	w := newWorld(t, change)
	w.want(0, "erase", "1", by, "--yes")
	stdout, _ := w.want(1, "verify", "1", by)
	if !strings.Contains(stdout, "not checked, because no column shows whether") ||
		!strings.Contains(stdout, "life-unknown") || strings.Contains(stdout, "restored") {
		t.Errorf("a kept row: got %q", stdout)
	}

	change, store := withCustomers(t, "delete", `"owned": true, `)
	w = newWorld(t, change)
	w.want(0, "erase", "1", by, "--yes")
	must(t, store.Insert("customers", memory.Row{"id": "1", "email": "c1@example.org"}))
	if stdout, _ = w.want(1, "verify", "1", by); !strings.Contains(stdout, "the id was registered again or restored.") {
		t.Errorf("a row that came back: got %q", stdout)
	}
}
