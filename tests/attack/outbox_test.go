package attack

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect"

	"github.com/habeas-data/habeas/app"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports"
	"github.com/habeas-data/habeas/tests/databases"
)

type crm struct {
	name   string
	erased chan string
}

func (c crm) Name() string { return c.name }
func (crm) CoveredSurface() domain.CoveredSurface {
	return domain.CoveredSurface{}
}
func (crm) ExportSubject(context.Context, domain.SubjectRef) ([]domain.ExportRecord, error) {
	return nil, nil
}
func (c crm) EraseSubject(_ context.Context, ref domain.SubjectRef, _ string) (bool, error) {
	c.erased <- ref.Value
	return false, nil
}

// insertEntry puts a line into the outbox as another version, or an operator, may have done.
func insertEntry(t testing.TB, db *bun.DB, values map[string]string) {
	t.Helper()
	all := map[string]string{
		"entry_id": "'e'", "subject_id": "'1'", "resolver": "'crm'", "ref": `'{"kind":"crm","value":"v"}'`,
		"operation": "'erase'", "corrections": "NULL", "status": "'pending'", "attempts": "0",
		"enqueued_at": "'2020-01-01T00:00:00.000000Z'", "last_attempt_at": "NULL", "next_attempt_at": "NULL",
		"last_error": "NULL", "lease_token": "NULL",
	}
	for k, v := range values {
		all[k] = v
	}
	var cols, vals string
	for k, v := range all {
		if cols != "" {
			cols, vals = cols+", ", vals+", "
		}
		cols, vals = cols+k, vals+v
	}
	if _, err := db.DB.Exec("INSERT INTO habeas_outbox (" + cols + ") VALUES (" + vals + ")"); err != nil {
		t.Skip("the database does not take it: ", err)
	}
}

func TestOneBadRowDoesNotStopTheOutbox(t *testing.T) {
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		bad := map[string]map[string]string{
			"attempts at the limit": {"attempts": "2147483647"},
			"attempts negative":     {"attempts": "-5"},
			"ref is a number":       {"ref": "'5'"},
			"ref null":              {"ref": "'null'"},
			"ref missing":           {"ref": "NULL"},
			"ref deep":              {"ref": `'{"kind":{"a":1},"value":"v"}'`},
			"empty subject":         {"subject_id": "''"},
			"bad subject":           {"subject_id": "'\x1f\x1f\\'"},
			"long subject":          {"subject_id": "'" + fmt.Sprintf("%0300d", 1) + "'"},
			"empty id":              {"entry_id": "''"},
			"status":                {"status": "'weird'"},
			"in flight, no lease":   {"status": "'in_flight'"},
			"corrections":           {"operation": "'rectify'", "corrections": "'[1]'"},
			"unknown op":            {"operation": "'forget'"},
		}
		if db.Dialect().Name() == dialect.PG {
			bad["infinity"] = map[string]string{"enqueued_at": "'-infinity'"}
			bad["infinite wait"] = map[string]string{"status": "'failed'", "next_attempt_at": "'infinity'"}
			bad["infinite last"] = map[string]string{"status": "'failed'", "last_attempt_at": "'infinity'"}
			bad["bc"] = map[string]string{"enqueued_at": "'0044-03-15 00:00:00 BC'"}
			bad["year 12000"] = map[string]string{"next_attempt_at": "'12000-01-01'"}
			bad["ref lone surrogate"] = map[string]string{"ref": `'{"kind":"crm","value":"\ud83d\ude00"}'`}
		} else {
			bad["attempts text"] = map[string]string{"attempts": "'abc'"}
			bad["attempts huge"] = map[string]string{"attempts": "9223372036854775807"}
			bad["attempts real"] = map[string]string{"attempts": "1e300"}
			bad["null id"] = map[string]string{"entry_id": "NULL"}
			bad["blob id"] = map[string]string{"entry_id": "x'ff00'"}
			bad["blob subject"] = map[string]string{"subject_id": "x'ff00'"}
			bad["bad instant"] = map[string]string{"enqueued_at": "'1999'"}
			bad["bad next"] = map[string]string{"next_attempt_at": "'tomorrow'", "status": "'failed'"}
			bad["number instant"] = map[string]string{"enqueued_at": "5"}
			bad["not json"] = map[string]string{"ref": "'{'"}
			bad["blob ref"] = map[string]string{"ref": "x'ff'"}
		}
		for name, values := range bad {
			t.Run(name, func(t *testing.T) {
				db := reopen(t, db)
				var told []domain.OutboxEntry
				now := time.Now()
				clock := &fixed{now}
				system := crm{"crm", make(chan string, 10)}
				gdpr, _ := integrate(t, db, app.Config{
					Clock: clock, Resolvers: []ports.Resolver{system},
					OnAbandoned: func(_ context.Context, e domain.OutboxEntry) { told = append(told, e) },
				})
				insertEntry(t, db, values)
				insertEntry(t, db, map[string]string{"entry_id": "'good'", "ref": `'{"kind":"crm","value":"good"}'`, "enqueued_at": "'2021-01-01T00:00:00.000000Z'"})
				for i := range 4 {
					if _, err := gdpr.Stack().Runner.RunOnce(t.Context()); err != nil {
						t.Errorf("run %d: %v", i, err)
					}
					clock.now = clock.now.Add(2 * time.Hour)
				}
				good := false
				for len(system.erased) > 0 {
					good = <-system.erased == "good" || good
				}
				if !good {
					t.Error("the good entry was not carried out")
				}
				var left []string
				rows, err := db.DB.Query("SELECT CAST(coalesce(entry_id,'NULL') AS text), status, coalesce(last_error,''), CAST(attempts AS text) FROM habeas_outbox WHERE status <> 'succeeded'")
				must(t, err)
				defer rows.Close()
				for rows.Next() {
					var a, b, c, d string
					must(t, rows.Scan(&a, &b, &c, &d))
					left = append(left, a+" "+b+" "+c+" "+d)
				}
				t.Logf("left %q, told %d", left, len(told))
				for _, l := range left {
					if !containsAny(l, "abandoned", "forget") && name != "unknown op" && name != "corrections" {
						t.Errorf("is stuck: %s", l)
					}
				}
				if len(told) > 2 {
					t.Errorf("reported %d times", len(told))
				}
				must(t, gdpr.Stack().Sessions.Do(t.Context(), func(ctx context.Context, s ports.Session) error {
					if _, err := s.Outbox().Counts(ctx); err != nil {
						t.Errorf("counts: %v", err)
					}
					if _, err := s.Outbox().Abandoned(ctx, nil, 10); err != nil {
						t.Errorf("abandoned: %v", err)
					}
					return nil
				}))
			})
		}
	})
}
