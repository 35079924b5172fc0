package saga_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/saga"
	"github.com/habeas-data/habeas/ports"
)

func (c *company) status(t *testing.T) (status saga.Status) {
	t.Helper()
	must(t, c.store.Do(t.Context(), func(ctx context.Context, s ports.Session) (err error) {
		status, err = c.Status(ctx, s)
		return err
	}))
	return status
}

func TestTheStatusReportsTheFindings(t *testing.T) {
	codes := func(status saga.Status) (codes []string) {
		for _, finding := range status.Findings {
			codes = append(codes, finding.Code)
		}
		return codes
	}
	synctest.Test(t, func(t *testing.T) {
		c := refusing(t, 0, nil)
		status := c.status(t)
		if len(status.Findings) > 0 || len(status.Counts) != len(domain.OutboxStatuses()) || status.Backlog == nil {
			t.Errorf("an empty outbox: %+v", status)
		}
		must(t, c.enqueueAt(t, bubble.Now()))
		for _, step := range []struct {
			wait time.Duration
			want []string
		}{
			{15*time.Minute - time.Microsecond, nil},
			{time.Microsecond, []string{"outbox-stalled"}},
			{24*time.Hour - 15*time.Minute - time.Microsecond, []string{"outbox-stalled"}},
			{time.Microsecond, []string{"outbox-late", "outbox-stalled"}},
		} {
			time.Sleep(step.wait)
			if got := codes(c.status(t)); !slices.Equal(got, step.want) {
				t.Errorf("found %q, want %q", got, step.want)
			}
		}
		c.mustSettle(t, 1)
		status = c.status(t)
		n := status.Counts[domain.OutboxAbandoned]
		if got := codes(status); !slices.Equal(got, []string{"outbox-abandoned"}) || n != 1 {
			t.Errorf("found %q in %+v", got, status)
		}
		for _, remedy := range []string{
			"requeue or discard the erasures", "make the correction again and discard the entry",
		} {
			if got := status.Findings[0].Remedy; !strings.Contains(got, remedy) {
				t.Errorf("the remedy is %q, without %q", got, remedy)
			}
		}
		if !status.At.Equal(domain.Instant(bubble.Now())) || len(status.Backlog) != 1 {
			t.Errorf("got %+v", status)
		}
	})
}
