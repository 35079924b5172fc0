package worker_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/habeas-data/habeas/adapters/worker"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/internal/tests/fixture"
)

func TestTheMessageOfAResolverIsLogged(t *testing.T) {
	class, unclaimed := "refused", domain.LastErrorUnclaimed
	cause := fmt.Errorf("%s: %w", secret, &domain.ResolverError{
		Resolver: "desk", Message: "DELETE got status 403", Err: errors.New(secret),
	})
	id := fixture.MustID(t, secret)
	for name, c := range map[string]struct {
		entry   domain.OutboxEntry
		cause   error
		level   string
		message string
		text    any
	}{
		"tried again": {
			domain.OutboxEntry{Status: domain.OutboxFailed, LastError: &class},
			cause, "WARN",
			"habeas: call to an external system failed", "habeas: resolver desk: DELETE got status 403",
		},
		"abandoned": {
			domain.OutboxEntry{Status: domain.OutboxAbandoned, LastError: &class},
			cause, "ERROR",
			"habeas: outbox entry abandoned", "habeas: resolver desk: DELETE got status 403",
		},
		"abandoned without a call": {
			domain.OutboxEntry{Status: domain.OutboxAbandoned, LastError: &class},
			nil, "ERROR",
			"habeas: outbox entry abandoned", nil,
		},
		"more than one line": {
			domain.OutboxEntry{Status: domain.OutboxFailed, LastError: &class},
			errors.Join(errors.New(secret), &domain.RetryLaterError{
				Resolver: "desk", Message: "a\nlevel=ERROR\x1b[31m" + strings.Repeat("x", 5000), Err: errors.New(secret),
			}), "WARN",
			"habeas: call to an external system failed",
			"habeas: resolver desk: a level=ERROR [31m" + strings.Repeat("x", 300-41) + "…",
		},
		"an error of another kind": {
			domain.OutboxEntry{Status: domain.OutboxFailed, LastError: &class},
			errors.New(secret), "WARN",
			"habeas: call to an external system failed", nil,
		},
		"not claimed": {
			domain.OutboxEntry{Status: domain.OutboxPending, LastError: &unclaimed},
			nil, "ERROR",
			"habeas: outbox entry not claimed for a day", nil,
		},
	} {
		var log records
		entry := c.entry
		entry.Resolver, entry.Operation, entry.Attempts = "desk", domain.OperationErase, 3
		entry.SubjectID, entry.Ref = id, domain.SubjectRef{Kind: "desk", Value: secret}
		bubble(t, func(t *testing.T) {
			runner := newFake(nil)
			started(t, runner, worker.Options{Logger: log.logger()})
			pass(time.Second)
			runner.events.Failed(t.Context(), entry, c.cause)
		})
		all := log.Records(t)
		if len(all) != 1 {
			t.Fatalf("%s: %d records", name, len(all))
		}
		record := all[0]
		if record["level"] != c.level || record["msg"] != c.message || record["error"] != c.text ||
			record["resolver"] != "desk" || record["attempts"] != 3. || record["operation"] != "erase" {
			t.Errorf("%s: %v", name, record)
		}
		if strings.Contains(log.String(), secret) {
			t.Errorf("%s: the log holds %s", name, log.String())
		}
	}
}
