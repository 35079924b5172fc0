package schemas

import (
	"strings"
	"testing"
	"time"

	"github.com/uptrace/bun"

	"github.com/habeas-data/habeas/app"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/internal/tests/databases"
	"github.com/habeas-data/habeas/internal/tests/fixture"
)

func TestTheWorkerVerifiesEachErasureOnceAndSomeMinutesLater(t *testing.T) {
	t.Parallel()
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		clock := fixture.NewClock(time.Date(2024, 3, 1, 12, 0, 0, 0, time.UTC))
		config := app.Config{Models: []any{(*clubMember)(nil)}, Clock: clock, VerifyAfter: 5 * time.Minute}
		a := open(t, db, config, "CREATE TABLE members (id bigint PRIMARY KEY, email text, level int)",
			"INSERT INTO members VALUES (1, 'a@example.org', 3), (2, 'b@example.org', 2)")
		for _, id := range []string{"1", "2"} {
			_, err := a.erase(t.Context(), id)
			must(t, err)
		}
		execute(t, db, "UPDATE members SET level = 2 WHERE id = 2") // like a job that restores a value
		verifier := a.Stack().Verifier
		if early, more, err := verifier.RunOnce(t.Context(), 5*time.Minute); err != nil || more || len(early) > 0 {
			t.Fatalf("at once: %+v, %v, %v", early, more, err)
		}
		clock.Advance(6 * time.Minute)
		second := open(t, db, config)
		for _, process := range []*application{a, second} {
			process.Worker().Start()
		}
		for end := time.Now().Add(30 * time.Second); verifications(t, a, "1")+verifications(t, a, "2") < 2; {
			if time.Now().After(end) {
				t.Fatal("the erasures are not verified")
			}
			time.Sleep(time.Millisecond) // another goroutine verifies
		}
		for _, process := range []*application{a, second} {
			must(t, process.Worker().Stop(time.Minute))
		}
		again, more, err := verifier.RunOnce(t.Context(), 5*time.Minute)
		if err != nil || more || len(again) > 0 || verifications(t, a, "1") != 1 || verifications(t, a, "2") != 1 {
			t.Errorf("again: %+v, %v, %v", again, more, err)
		}
		left := a.failures(t, "2", domain.EventErasureLeftOver)
		if len(left) != 1 || left[0]["target"] != "members" || left[0]["column"] != "level" || left[0]["rows"] != int64(1) {
			t.Errorf("the trail has %v", left)
		}
		log := a.log.String() + second.log.String()
		if strings.Count(log, "table=members column=level rows=1") != 1 || strings.Contains(log, "example.org") {
			t.Errorf("the log has %s", log)
		}
	})
}

// verifications returns the number of completed verifications of a subject's erasures. A verification searches for
// values that an erasure should have removed.
func verifications(t testing.TB, a *application, id string) int {
	t.Helper()
	return len(a.failures(t, id, domain.EventErasureVerified)) + len(a.failures(t, id, domain.EventErasureLeftOver))
}
