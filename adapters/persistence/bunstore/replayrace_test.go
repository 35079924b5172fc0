package bunstore_test

import (
	"context"
	"testing"
	"time"

	"github.com/uptrace/bun"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/internal/tests/databases"
	"github.com/habeas-data/habeas/ports"
)

// While a replay has locked a member, the session of a registration waits. The replay judges before it.
func TestARegistrationIsNotBetweenTheJudgementAndTheErasure(t *testing.T) {
	t.Parallel()
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		c := newClub(t, db, clubKinds[2], 0)
		c.put(t, "back", old, began)
		c.leave(t, "back")
		lines := c.journal(t)
		c.put(t, "back", newcomer, began) // the same creation time: only Registered tells
		repeat, ended := c.repeat, make(chan error, 1)
		c.repeat = func(
			ctx context.Context, s ports.Session, subject domain.Subject, at time.Time,
		) (domain.ErasureResult, error) {
			go func() {
				ended <- c.store.Do(context.WithoutCancel(t.Context()), func(ctx context.Context, s ports.Session) error {
					return s.Subjects().Register(ctx, subject.ID, c.now)
				})
			}()
			select {
			case err := <-ended:
				t.Errorf("the registration has ended before the erasure: %v", err)
				ended <- err
			case <-time.After(200 * time.Millisecond):
			}
			return repeat(ctx, s, subject, at)
		}
		report, err := c.replay(t, lines, began)
		if err != nil || report.Erased != 1 {
			t.Errorf("got %+v, %v", report, err)
		}
		must(t, <-ended)
	})
}
