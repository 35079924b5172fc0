package servers

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore"
	"github.com/habeas-data/habeas/app"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports"
)

func TestAnErasureWaitsForTheStandbyIfTheApplicationSaysSo(t *testing.T) {
	servers := startPair(t)
	seed(t, servers.primary.URL())
	servers.catchUp(t)
	// With this setting, a commit does not wait for the standby.
	db := opened(t, servers.primary.URL()+"&synchronous_commit=local")
	careless := integrate(t, app.Config{DB: db})
	careful := integrate(t, app.Config{DB: db, SynchronousCommit: bunstore.CommitRemoteApply})
	resume := servers.lag(t)

	erase := func(gdpr *app.Integration, id int64, limit time.Duration) error {
		ctx, cancel := context.WithTimeout(t.Context(), limit)
		defer cancel()
		_, err := gdpr.Operator().Erase(ctx, subject(t, id))
		return err
	}
	if err := erase(careless, 1, 2*time.Second); err != nil {
		t.Errorf("without the option an erasure waited: %v", err)
	}
	if err := erase(careful, 2, 2*time.Second); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("with the option an erasure did not wait: %v", err)
	}
	if err := erase(careful, 2, time.Minute); !errors.Is(err, domain.ErrUnavailable) {
		t.Errorf("LimitSilence did not end the wait: %v", err)
	}
	must(t, careful.Stack().Sessions.Do(t.Context(), func(ctx context.Context, s ports.Session) error {
		_, err := careful.Stack().Consent.Record(ctx, s, subject(t, 3).ID, domain.ConsentDecision{
			Purpose: "newsletter", PolicyVersion: "1", Granted: true, Source: "test",
		})
		return err
	})) // a consent does not wait for the standby
	resume()
	must(t, erase(careful, 3, 2*time.Second))
	email := scalar(t, servers.standby.URL(), "SELECT email FROM customers WHERE id = 3")
	if email == "c3@example.org" {
		t.Error("the erasure was acknowledged before the standby showed it")
	}
}
