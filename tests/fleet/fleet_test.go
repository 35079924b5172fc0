package fleet_test

import (
	"context"
	"fmt"
	"net/http/httptest"
	"os"
	"os/exec"
	"strconv"
	"testing"
	"time"

	"github.com/uptrace/bun"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/internal/tests/fixture"
	"github.com/habeas-data/habeas/internal/tests/postgres"
	"github.com/habeas-data/habeas/ports"
)

const (
	entries  = 5000 // two of each subject
	subjects = entries / 2
	workers  = 4
	kills    = 8 // one every second
	turns    = 500
	limit    = 2 * time.Minute // maximum duration of the test, which normally takes a fraction of it
)

func TestWorkersThatAreKilledEraseEverySubjectOnce(t *testing.T) {
	source := postgres.NewDatabase(t)
	db, store, err := open(source)
	must(t, err)
	defer func() { _ = db.Close() }()
	seed(t, db, store)
	desk := newDesk()
	server := httptest.NewServer(desk)
	defer server.Close()

	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	fleet := make([]*exec.Cmd, workers)
	for i := range fleet {
		fleet[i] = start(ctx, t, source, server.URL)
	}
	inTheMiddle := 0
	second := time.NewTicker(time.Second)
	defer second.Stop()
	for i := range kills {
		if i%2 == 0 {
			desk.admit(turns) // at the time of the kill, all calls wait for the desk
		}
		<-second.C
		victim := fleet[i%workers]
		for i%2 == 0 && desk.calls(strconv.Itoa(victim.Process.Pid)) == 0 && ctx.Err() == nil {
			<-second.C // on a loaded machine, a worker needs longer for its first call
		}
		if desk.calls(strconv.Itoa(victim.Process.Pid)) > 0 {
			inTheMiddle++
		}
		if i%2 == 1 {
			desk.admit(turns) // at the time of the kill, the workers receive and settle responses
		}
		must(t, victim.Process.Kill()) // SIGKILL
		_ = victim.Wait()              // its error reports the kill
		fleet[i%workers] = start(ctx, t, source, server.URL)
	}
	close(desk.opened)
	for _, worker := range fleet {
		if err := worker.Wait(); err != nil {
			t.Errorf("a worker that was not killed ended with %v", err)
		}
	}

	if inTheMiddle == 0 {
		t.Errorf("none of %d kills came in the middle of a call", kills)
	}
	distinct, calls := desk.completed()
	if distinct != entries {
		t.Errorf("the desk saw %d of %d entries", distinct, entries)
	}
	t.Logf("%d calls for %d entries, %d of %d kills came in the middle of a call", calls, distinct, inTheMiddle, kills)
	checkOutbox(t, db)
	checkTrail(t, db)
}

// start runs a worker as a separate process. The worker also ends if the test process ends.
func start(ctx context.Context, t *testing.T, source, desk string) *exec.Cmd {
	t.Helper()
	worker := exec.CommandContext(ctx, os.Args[0])
	worker.Env = append(os.Environ(), databaseVariable+"="+source, deskVariable+"="+desk)
	worker.Stderr = os.Stderr
	_, err := worker.StdinPipe()
	must(t, err)
	must(t, worker.Start())
	t.Cleanup(func() { _ = worker.Process.Kill() })
	return worker
}

func seed(t *testing.T, db *bun.DB, store *bunstore.Store) {
	t.Helper()
	must(t, bunstore.Migrate(t.Context(), db, bunstore.Options{}))
	enqueuedAt := time.Now().Add(-time.Hour)
	must(t, store.Do(t.Context(), func(ctx context.Context, session ports.Session) error {
		for i := range entries {
			subject, err := domain.NewSubjectID(strconv.Itoa(i / 2))
			if err != nil {
				return err
			}
			err = session.Outbox().Enqueue(ctx, domain.OutboxEntry{
				EntryID: fmt.Sprintf("entry-%04d", i), SubjectID: subject, Resolver: "desk", Operation: domain.OperationErase,
				Ref: domain.SubjectRef{Kind: "desk", Value: fmt.Sprintf("contact-%d", i)}, Status: domain.OutboxPending,
				EnqueuedAt: enqueuedAt,
			})
			if err != nil {
				return err
			}
		}
		return nil
	}))
}

func checkOutbox(t *testing.T, db *bun.DB) {
	t.Helper()
	wantCount(t, db, entries, "succeeded entries", "SELECT count(*) FROM habeas_outbox WHERE status = 'succeeded'")
	wantCount(t, db, entries, "entries", "SELECT count(*) FROM habeas_outbox")
	wantCount(t, db, 0, "entries that still have a lease, a ref or an error",
		"SELECT count(*) FROM habeas_outbox WHERE num_nonnulls(lease_token, next_attempt_at, ref, last_error) > 0")
	var repeated int
	must(t, db.NewRaw("SELECT count(*) FROM habeas_outbox WHERE attempts > 1").Scan(context.Background(), &repeated))
	if repeated == 0 {
		t.Error("no entry had to be tried again: the kills did no harm")
	}
	t.Logf("%d entries were tried more than once", repeated)
}

func checkTrail(t *testing.T, db *bun.DB) {
	t.Helper()
	wantCount(t, db, entries, "steps",
		"SELECT count(*) FROM habeas_audit_events WHERE event_type = 'erasure_step_succeeded'")
	wantCount(t, db, subjects, "completions",
		"SELECT count(*) FROM habeas_audit_events WHERE event_type = 'erasure_completed'")
	wantCount(t, db, subjects, "subjects that completed once, after both steps", `
		SELECT count(*) FROM (
			SELECT subject_ref FROM habeas_audit_events
			WHERE event_type IN ('erasure_step_succeeded', 'erasure_completed')
			GROUP BY subject_ref
			HAVING array_agg(event_type ORDER BY seq) =
				ARRAY['erasure_step_succeeded', 'erasure_step_succeeded', 'erasure_completed']
		) AS whole`)
	wantCount(t, db, 0, "other events than these and failures that were tried again", `
		SELECT count(*) FROM habeas_audit_events
		WHERE event_type NOT IN ('erasure_step_succeeded', 'erasure_completed')
			AND NOT (event_type = 'erasure_step_failed' AND payload->>'abandoned' = 'false')`)
}

func wantCount(t *testing.T, db *bun.DB, want int, what, query string) {
	t.Helper()
	var got int
	must(t, db.NewRaw(query).Scan(context.Background(), &got))
	if got != want {
		t.Errorf("%d %s, want %d", got, what, want)
	}
}

var must = fixture.Must
