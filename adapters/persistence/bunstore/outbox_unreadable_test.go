package bunstore_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/saga"
	"github.com/habeas-data/habeas/internal/system"
	"github.com/habeas-data/habeas/internal/tests/databases"
	"github.com/habeas-data/habeas/ports"
)

// named is a resolver with the name that a test needs. It accepts every call, and it can rectify.
type named struct {
	ports.Resolver
	name string
}

func (n named) Name() string { return n.name }

func (named) EraseSubject(context.Context, domain.SubjectRef, domain.ErasureCall) (bool, error) {
	return false, nil
}

func (named) RectifySubject(context.Context, domain.SubjectRef, domain.RectificationCall, domain.Corrections) error {
	return nil
}

// watch is a clock that the test sets.
type watch struct{ now time.Time }

func (w *watch) Now() time.Time { return w.now }

// runnerOf returns a runner on the outbox of the box, and the entries for which the runner has called OnAbandoned.
func (b box) runnerOf(
	t testing.TB, clock ports.Clock, registered ...ports.Resolver,
) (*saga.Runner, *[]domain.OutboxEntry) {
	t.Helper()
	var reported []domain.OutboxEntry
	runner, err := saga.NewRunner(saga.Config{
		Sessions: b.store, Clock: clock, IDs: &system.IDs{}, Resolvers: registered,
		OnAbandoned: func(_ context.Context, entry domain.OutboxEntry) { reported = append(reported, entry) },
	})
	must(t, err)
	return runner, &reported
}

func (b box) runs(t testing.TB, runner *saga.Runner, settled int) {
	t.Helper()
	if got, err := runner.RunOnce(t.Context()); got != settled || err != nil {
		t.Errorf("settled %d, %v, want %d", got, err, settled)
	}
}

func (b box) failures(t testing.TB, id string) (payloads []domain.Payload) {
	t.Helper()
	subject, err := domain.ParseSubjectID(id)
	must(t, err)
	must(t, b.store.Do(t.Context(), func(ctx context.Context, s ports.Session) error {
		trail, err := s.Audit().Trail(ctx, subject)
		for _, event := range trail {
			if event.EventType == domain.EventErasureStepFailed || event.EventType == domain.EventRectificationStepFailed {
				payloads = append(payloads, event.Payload)
			}
		}
		return err
	}))
	return payloads
}

func TestAnUnreadableEntryIsAbandonedAndBlocksNoOther(t *testing.T) {
	t.Parallel()
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		spoiled := map[string]string{
			"a ref that is a text":         `ref = '"text"'`,
			"a ref that is a list":         `ref = '[]'`,
			"a ref that is null":           `ref = 'null'`,
			"a ref of other types":         `ref = '{"kind": 1}'`,
			"extra of other types":         `ref = '{"kind": "desk", "value": "c", "extra": {"n": [1]}}'`,
			"corrections that are a text":  `operation = 'rectify', corrections = '"text"'`,
			"corrections that are a list":  `operation = 'rectify', corrections = '[1]'`,
			"corrections that are unasked": `corrections = '7'`,
			"no subject":                   `subject_id = ''`,
			"half a subject":               `subject_id = 'a' || chr(31)`,
		}
		if db.Dialect().Name() == dialect.SQLite {
			spoiled["half a subject"] = `subject_id = 'a' || char(31)`
			spoiled["no JSON"] = `ref = 'secret-value'`
			spoiled["bytes"] = `ref = x'00ff'`
			spoiled["an instant that is none"] = `enqueued_at = 'yesterday'`
			spoiled["an instant that is a number"] = `enqueued_at = 17`
		} else {
			spoiled["an instant that never comes"] = `enqueued_at = 'infinity', last_attempt_at = 'infinity'`
			spoiled["an instant before all others"] = `enqueued_at = '-infinity'`
			spoiled["an instant before Christ"] = `enqueued_at = '0044-03-15 BC'`
			spoiled["an instant that is too late"] = `enqueued_at = '20000-01-01'`
		}
		for what, set := range spoiled {
			t.Run(what, func(t *testing.T) {
				if db.Dialect().Name() == dialect.PG {
					execute(t, db, "DROP FUNCTION IF EXISTS habeas_is_erased, habeas_key_text")
				}
				execute(t, db, "DROP TABLE IF EXISTS habeas_outbox", "DROP TABLE IF EXISTS habeas_migrations")
				for _, table := range ownTables {
					if table != "habeas_outbox" && table != "habeas_migrations" {
						execute(t, db, "DROP TABLE IF EXISTS "+table)
					}
				}
				if db.Dialect().Name() == dialect.PG {
					execute(t, db, "DROP FUNCTION IF EXISTS habeas_audit_events_append_only, habeas_ledger_append_only")
				}
				b := newBox(t, db)
				b.enqueue(t, toErase(t, "before", "1", 0), toErase(t, "bad", "2", time.Second),
					toErase(t, "after", "3", time.Minute))
				execute(t, db, "UPDATE habeas_outbox SET "+set+" WHERE entry_id = 'bad'")
				runner, reported := b.runnerOf(t, &watch{noon}, named{name: "desk"})
				b.runs(t, runner, 3)
				b.runs(t, runner, 0)
				var statuses []string
				must(t, db.NewRaw("SELECT status || coalesce(last_error, '') FROM habeas_outbox"+
					" ORDER BY entry_id").Scan(t.Context(), &statuses))
				if !slices.Equal(statuses, []string{"succeeded", "abandonedunreadable", "succeeded"}) {
					t.Errorf("after, bad and before are %q", statuses)
				}
				if len(*reported) != 1 || (*reported)[0].EntryID != "bad" || (*reported)[0].Status != domain.OutboxAbandoned {
					t.Errorf("reported are %+v", *reported)
				}
				failures := b.failures(t, "2")
				if want := !(*reported)[0].SubjectID.IsZero(); (len(failures) == 1) != want ||
					want && (failures[0]["error"] != "unreadable" || failures[0]["abandoned"] != true) {
					t.Errorf("the trail has %v", failures)
				}
				// All other methods of the outbox succeed.
				if listed := b.abandoned(t, nil, 10); len(listed) != 1 || listed[0].EntryID != "bad" {
					t.Errorf("listed are %+v", listed)
				}
				requeued, err := runnerRequeues(t, b, runner, "bad")
				if wasErasure := (*reported)[0].Operation == domain.OperationErase; err != nil ||
					(len(requeued) == 1) != wasErasure {
					t.Errorf("requeued %+v, %v", requeued, err)
				}
				b.runs(t, runner, len(requeued))
				must(t, b.try(func(ctx context.Context, o wholeOutbox) error {
					_, err := o.Settle(ctx, []domain.Settlement{succeeds((*reported)[0])})
					return err
				}))
				b.withdraw(t, "2")
				must(t, b.try(func(ctx context.Context, o wholeOutbox) error {
					if _, err := o.Unclaimed(ctx, noon.Add(time.Hour), 10); err != nil {
						return err
					}
					_, err := o.Purge(ctx, noon, 10)
					return err
				}))
			})
		}
	})
}

func TestAnEntryWithAnInfiniteNextAttemptIsClaimed(t *testing.T) {
	t.Parallel()
	b := newBox(t, databases.PostgreSQL(t))
	b.enqueue(t, toErase(t, "first", "1", 0), toErase(t, "second", "2", 0))
	execute(t, b.db, "UPDATE habeas_outbox SET next_attempt_at = 'infinity', last_attempt_at = 'infinity'"+
		" WHERE entry_id = 'first'")
	runner, _ := b.runnerOf(t, &watch{noon}, named{name: "desk"})
	b.runs(t, runner, 2)
	if counts := b.counts(t); counts[domain.OutboxSucceeded] != 2 {
		t.Errorf("counted are %v", counts)
	}
}

// If a page of the list of abandoned outbox entries ends with an entry whose time cannot be read, the next page
// continues after that entry.
func TestAbandonedEntriesWithUnreadableInstantsAreListedOnce(t *testing.T) {
	t.Parallel()
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		b := newBox(t, db)
		b.enqueue(t, toErase(t, "a", "1", 0), toErase(t, "b", "2", 0), toErase(t, "c", "3", 0))
		first, last := "timestamptz '-infinity'", "timestamptz 'infinity'"
		if db.Dialect().Name() == dialect.SQLite {
			first, last = "'0'", "'yesterday'"
		}
		execute(t, db, "UPDATE habeas_outbox SET status = 'abandoned'", "UPDATE habeas_outbox"+
			" SET enqueued_at = CASE entry_id WHEN 'a' THEN "+last+" ELSE "+first+" END WHERE entry_id <> 'b'")
		var ids []string
		var after *domain.OutboxEntry
		for range 4 {
			page := b.abandoned(t, after, 1)
			if len(page) == 0 {
				break
			}
			ids, after = append(ids, page[0].EntryID), &page[0]
		}
		if !slices.Equal(ids, []string{"c", "b", "a"}) {
			t.Errorf("listed are %q", ids)
		}
	})
}

func runnerRequeues(t testing.TB, b box, runner *saga.Runner, id string) (requeued []domain.OutboxEntry, err error) {
	t.Helper()
	err = b.store.Do(t.Context(), func(ctx context.Context, s ports.Session) (err error) {
		requeued, err = runner.Requeue(ctx, s, id)
		return err
	})
	return requeued, err
}

func TestARunnerClaimsOnlyKnownResolversAndReportsOthersOnce(t *testing.T) {
	t.Parallel()
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		b := newBox(t, db)
		foreign, later := toErase(t, "foreign", "1", 0), toErase(t, "later", "2", 0)
		foreign.Resolver, later.Operation = "crm", "forget"
		b.enqueue(t, foreign, later, toRectify(t, "correction", "3", 0), toErase(t, "known", "4", 0))
		clock := &watch{noon}
		erases := struct{ ports.Resolver }{named{name: "desk"}}
		old, reported := b.runnerOf(t, clock, erases)
		another, reportedToOther := b.runnerOf(t, clock, erases)
		none, _ := b.runnerOf(t, clock)
		b.runs(t, none, 0)
		b.runs(t, old, 1)
		for range 3 {
			b.runs(t, old, 0)
			b.runs(t, another, 0)
		}
		if counts := b.counts(t); counts[domain.OutboxPending] != 3 || counts[domain.OutboxSucceeded] != 1 {
			t.Errorf("counted are %v", counts)
		}
		if len(*reported)+len(*reportedToOther) > 0 {
			t.Fatalf("reported after an hour are %+v", *reported)
		}
		clock.now = noon.Add(25 * time.Hour)
		for range 3 {
			b.runs(t, another, 0)
			b.runs(t, old, 0)
			b.runs(t, none, 0)
			clock.now = clock.now.Add(2 * time.Hour)
		}
		var ids []string
		for _, entry := range slices.Concat(*reported, *reportedToOther) {
			ids = append(ids, entry.EntryID)
			if entry.Status != domain.OutboxPending || *entry.LastError != "unclaimed" {
				t.Errorf("reported as %+v", entry)
			}
		}
		if slices.Sort(ids); !slices.Equal(ids, []string{"correction", "foreign", "later"}) {
			t.Errorf("reported are %q, want each once", ids)
		}
		for id, want := range map[string]int{"1": 1, "2": 0, "3": 1, "4": 0} { // later operations have other events
			failures := b.failures(t, id)
			if len(failures) != want || want == 1 && (failures[0]["error"] != "unclaimed" || failures[0]["abandoned"] != false) {
				t.Errorf("the trail of %s has %v", id, failures)
			}
		}
		knows, _ := b.runnerOf(t, clock, named{name: "desk"}, named{name: "crm"})
		b.runs(t, knows, 2)
	})
}
