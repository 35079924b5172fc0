package endpoints

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/habeas-data/habeas/tests/bench/shop"
)

type rows map[string]int64

// written lists, for each endpoint, by how much one request changes the number of rows of each kind. All measured
// servers must make the same changes.
var written = map[string]rows{
	"consent_post": {"consent records": 1, "consent_granted": 1},
	"consent_get":  {},
	"export":       {"export_requested": 1, "export_completed": 1},
	"erase": {
		"erasure_requested": 1, "erasure_step_succeeded": 6, "erasure_local_completed": 1,
		"marks of erasure": 1, "outbox entries": 1, "consent records": 1, "consent_withdrawn": 1,
		"addresses": -2, "logins": -5, "orders with names": -20, "invoices sent": -5, "users with names": -1,
	},
}

const countRows = `
	SELECT event_type, count(*) FROM habeas_audit_events GROUP BY event_type
	UNION ALL SELECT 'consent records', count(*) FROM habeas_consent_records
	UNION ALL SELECT 'marks of erasure', count(*) FROM habeas_subject_erasures WHERE erasures = 1
	UNION ALL SELECT 'outbox entries', count(*) FROM habeas_outbox WHERE status = 'pending'
	UNION ALL SELECT 'addresses', count(*) FROM addresses
	UNION ALL SELECT 'logins', count(*) FROM logins
	UNION ALL SELECT 'orders', count(*) FROM orders
	UNION ALL SELECT 'orders with names', count(*) FROM orders
		WHERE NOT coalesce(recipient LIKE 'anon-%' AND product LIKE 'anon-%' AND COALESCE(note, 'anon-') LIKE 'anon-%', false)
	UNION ALL SELECT 'invoices', count(*) FROM invoices WHERE address NOT LIKE 'anon-%'
	UNION ALL SELECT 'invoices sent', count(*) FROM invoices WHERE sent_to NOT LIKE 'anon-%'
	UNION ALL SELECT 'users', count(*) FROM users
	UNION ALL SELECT 'users with names', count(*) FROM users
		WHERE NOT (email LIKE 'anon-%' AND name LIKE 'anon-%' AND phone LIKE 'anon-%'
			AND last_seen = '1970-01-01 00:00:00+00:00')`

// count returns the numbers of rows in a database, by kind of row.
func count(ctx context.Context, databaseURL string) (rows, error) {
	db, err := shop.Connect(databaseURL)
	if err != nil {
		return nil, err
	}
	defer db.DB.Close()
	result, err := db.DB.QueryContext(ctx, countRows)
	if err != nil {
		return nil, err
	}
	defer result.Close()
	counted := rows{}
	for result.Next() {
		var name string
		var n int64
		if err := result.Scan(&name, &n); err != nil {
			return nil, err
		}
		counted[name] = n
	}
	return counted, result.Err()
}

// verify compares the numbers of rows after a run with the expected numbers. The expected numbers are the numbers
// before the run plus the changes of all completed requests.
func verify(before, after rows, completed map[string]int) error {
	want := maps.Clone(before)
	for endpoint, n := range completed {
		for name, change := range written[endpoint] {
			want[name] += change * int64(n)
		}
	}
	var wrong []string
	for _, name := range slices.Sorted(maps.Keys(want)) {
		if after[name] != want[name] {
			wrong = append(wrong, fmt.Sprintf("%s: %d, want %d", name, after[name], want[name]))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(after)) {
		if _, expected := want[name]; !expected {
			wrong = append(wrong, fmt.Sprintf("%s: %d, want none", name, after[name]))
		}
	}
	if len(wrong) > 0 {
		return fmt.Errorf("the rows are not what the requests must have written: %s", strings.Join(wrong, "; "))
	}
	return nil
}
