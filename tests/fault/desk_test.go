package fault_test

import (
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/uptrace/bun"

	"github.com/habeas-data/habeas/adapters/supportdesk"
	"github.com/habeas-data/habeas/adapters/supportdesk/desktest"
	"github.com/habeas-data/habeas/app"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/internal/tests/databases"
)

func TestWhatADeskDoesDecidesWhatBecomesOfAnErasure(t *testing.T) {
	slow := desktest.NewLatch()
	t.Cleanup(slow.Open)
	const healed, given = true, false
	for name, test := range map[string]struct {
		fault      desktest.Fault
		status     domain.OutboxStatus
		class      string // class of the error in the outbox entry
		heals      bool   // a later attempt succeeds
		incomplete bool   // if true, an export during the fault is incomplete
	}{
		"slow": {slow.Hold, domain.OutboxFailed, "timeout", healed, true},
		"401":  {desktest.Status(http.StatusUnauthorized), domain.OutboxAbandoned, "refused", given, true},
		"403":  {desktest.Status(http.StatusForbidden), domain.OutboxAbandoned, "refused", given, true},
		"404":  {desktest.Status(http.StatusNotFound), domain.OutboxSucceeded, "", given, false},
		"410":  {desktest.Status(http.StatusGone), domain.OutboxAbandoned, "refused", given, true},
		"429":  {desktest.Status(http.StatusTooManyRequests), domain.OutboxFailed, "retry_later", healed, true},
		"500": {
			desktest.Status(http.StatusInternalServerError), domain.OutboxFailed, "retry_later", healed, true,
		},
		"hangs up":           {desktest.HangUp, domain.OutboxFailed, "retry_later", healed, true},
		"cut body":           {desktest.CutBody, domain.OutboxFailed, "retry_later", healed, true},
		"lost answer":        {desktest.LoseResponse, domain.OutboxFailed, "retry_later", healed, true},
		"truncated JSON":     {desktest.TruncateJSON, domain.OutboxFailed, "retry_later", healed, true},
		"wrong content type": {desktest.WrongContentType, domain.OutboxFailed, "retry_later", healed, true},
		"redirect": {
			desktest.Redirect(http.StatusFound, "http://127.0.0.1:1/"), domain.OutboxFailed, "retry_later", healed, true,
		},
		"not deleted":     {desktest.NotDeleted(), domain.OutboxFailed, "retry_later", healed, true},
		"repeated cursor": {desktest.RepeatCursor, domain.OutboxSucceeded, "", given, true},
	} {
		t.Run(name, func(t *testing.T) {
			databases.Each(t, func(t *testing.T, db *bun.DB) {
				w := newWorld(t, db)
				w.desk.Always(test.fault)
				var bundle domain.ExportBundle
				w.send(http.MethodGet, "/me/export", &bundle)
				if slices.Contains(bundle.IncompleteSources, supportdesk.Name) != test.incomplete {
					t.Errorf("incomplete sources %v", bundle.IncompleteSources)
				}
				w.erase()
				settled, err := w.run()
				must(t, err)
				if settled != 1 {
					t.Errorf("%d settled", settled)
				}
				if test.status == domain.OutboxSucceeded {
					w.expectCompletion(1, 2)
					return
				}
				w.expect(test.status, 1, test.class, 1)
				w.desk.Always(desktest.OK)
				w.clock.Advance(2 * time.Hour)
				settled, err = w.run()
				must(t, err)
				if !test.heals {
					if settled != 0 {
						t.Error("an abandoned entry was tried again")
					}
					return
				}
				w.expectCompletion(2, 3)
				if w.desk.Knows(contact) {
					t.Error("the desk still knows the contact")
				}
			})
		})
	}
}

// The worker calls a failing desk again and again for one week. It then abandons the outbox entry.
func TestADeskThatIsDownIsTriedForAWeek(t *testing.T) {
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		w := newWorld(t, db)
		w.server.Close()
		w.erase()
		for attempt := 1; attempt <= 15; attempt++ {
			_, err := w.run()
			must(t, err)
			status := domain.OutboxFailed
			if attempt == 15 {
				status = domain.OutboxAbandoned
			}
			w.expect(status, attempt, "retry_later", attempt)
			w.clock.Advance(12 * time.Hour)
		}
	})
}

func TestADeskThatIsDownIsTriedUntilTheAttemptsAreUsedUp(t *testing.T) {
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		w := newWorld(t, db, func(c *app.Config) { c.Saga.MaxAttempts = 8 })
		w.server.Close()
		w.erase()
		for attempt := 1; attempt <= 8; attempt++ {
			_, err := w.run()
			must(t, err)
			status := domain.OutboxFailed
			if attempt == 8 {
				status = domain.OutboxAbandoned
			}
			w.expect(status, attempt, "retry_later", attempt)
			if settled, err := w.run(); err != nil || settled != 0 {
				t.Fatalf("tried again at once: %d, %v", settled, err)
			}
			w.clock.Advance(2 * time.Hour)
		}
		var bundle domain.ExportBundle
		w.send(http.MethodGet, "/me/export", &bundle)
		if !slices.Equal(bundle.IncompleteSources, []string{supportdesk.Name}) {
			t.Errorf("incomplete sources %v", bundle.IncompleteSources)
		}
	})
}

func TestADeskThatSetsARetryTimeIsNotCalledBefore(t *testing.T) {
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		w := newWorld(t, db)
		w.desk.Script(desktest.Status(http.StatusTooManyRequests).With("Retry-After", "600"))
		w.erase()
		_, err := w.run()
		must(t, err)
		w.clock.Advance(599 * time.Second) // much longer than the first backoff
		if settled, err := w.run(); err != nil || settled != 0 {
			t.Errorf("came back too early: %d, %v", settled, err)
		}
		w.clock.Advance(2 * time.Second)
		_, err = w.run()
		must(t, err)
		w.expectCompletion(2, 3)
	})
}
