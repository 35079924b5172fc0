package drain

import (
	"testing"
	"time"

	"github.com/habeas-data/habeas/internal/tests/postgres"
	"github.com/habeas-data/habeas/tests/bench/shop"
)

func TestTheStartAndTheEndOfARunAreNotMeasured(t *testing.T) {
	clock := &clock{work: 1000}
	at := time.Unix(0, 0)
	for _, step := range []struct {
		n     int
		after time.Duration
		all   bool
	}{
		{50, 5 * time.Second, false}, // a slow start, which is not measured
		{70, time.Second, false},     // the measurement begins
		{400, time.Second, false},
		{400, time.Second, false}, // the measurement ends
		{79, 5 * time.Second, false},
		{0, time.Second, false},
		{1, 5 * time.Second, true},
	} {
		at = at.Add(step.after)
		if all := clock.settled(step.n, at); all != step.all {
			t.Errorf("%d were done: all is %v", clock.done, all)
		}
	}
	if got, want := clock.rate(), 400.0; got != want {
		t.Errorf("rate = %v, want %v", got, want)
	}
}

func TestWorkThatIsNotDoneOnceIsFound(t *testing.T) {
	server := postgres.Private(t)
	config := Config{
		ServerURL: server.URL(), Pool: 2, Entries: 40,
		Settings: []Setting{{Batch: 7, Workers: 2}},
	}
	queues, err := config.open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	const events = "ALTER TABLE habeas_audit_events DISABLE TRIGGER USER; UPDATE habeas_audit_events SET "
	for i, faults := range [][]struct{ fault, undo string }{{
		{
			"UPDATE river_job SET state = 'available', finalized_at = NULL WHERE id = 1",
			"UPDATE river_job SET state = 'completed', finalized_at = now() WHERE id = 1",
		},
		{"UPDATE river_job SET attempt = 2 WHERE id = 1", "UPDATE river_job SET attempt = 1"},
		{"DELETE FROM river_job WHERE id = 1", ""},
	}, {
		{
			"UPDATE habeas_outbox SET status = 'pending' WHERE subject_id = '1'",
			"UPDATE habeas_outbox SET status = 'succeeded'",
		},
		{"UPDATE habeas_outbox SET attempts = 2 WHERE subject_id = '1'", "UPDATE habeas_outbox SET attempts = 1"},
		{
			events + "event_type = 'lost' WHERE event_type = 'erasure_step_succeeded' AND subject_ref = '1'",
			events + "event_type = 'erasure_step_succeeded' WHERE event_type = 'lost'",
		},
		{
			events + "event_type = 'lost' WHERE event_type = 'erasure_completed' AND subject_ref = '1'",
			events + "event_type = 'erasure_completed' WHERE event_type = 'lost'",
		},
		{
			"INSERT INTO habeas_audit_events (event_id, event_type, subject_ref, occurred_at, payload)" +
				" VALUES ('again', 'erasure_completed', '1', now(), '{}')",
			events + "event_type = 'lost' WHERE event_id = 'again'",
		},
		{events + "subject_ref = '2' WHERE event_type = 'erasure_completed' AND subject_ref = '1'", ""},
	}} {
		q := queues[i]
		defer q.close()
		if _, err := config.run(t.Context(), q); err != nil {
			t.Fatalf("%T: %v", q, err)
		}
		for _, f := range faults {
			if err := q.verify(t.Context()); err != nil {
				t.Errorf("%T: %v", q, err)
			}
			if err := shop.Execute(t.Context(), q.databaseURL(), f.fault); err != nil {
				t.Fatal(err)
			}
			if err := q.verify(t.Context()); err == nil {
				t.Errorf("%T: nothing was found after %s", q, f.fault)
			}
			if err := shop.Execute(t.Context(), q.databaseURL(), f.undo); err != nil {
				t.Fatal(err)
			}
		}
	}
}
