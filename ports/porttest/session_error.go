package porttest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/ports"
)

func sessionReportsAStoreThatCannotBeReached(t testing.TB, h StoreHarness) {
	store := h.open(t)
	requireHook(t, store.Unreachable != nil, "Unreachable")
	id := subject(t, "acme", 1)
	for what, fn := range map[string]func(context.Context, ports.Session) error{
		"a read": func(ctx context.Context, s ports.Session) error { return errOf(s.Audit().Trail(ctx, id)) },
		"a read whose error is swallowed": func(ctx context.Context, s ports.Session) error {
			_, _ = s.Audit().Trail(ctx, id)
			return nil
		},
		"an append": func(ctx context.Context, s ports.Session) error { return s.Audit().Append(ctx, event("lost", id)) },
		"evidence, appended": func(ctx context.Context, s ports.Session) error {
			return s.Audit().AppendEvidence(ctx, event("lost", id))
		},
	} {
		if err := store.Unreachable(t).Sessions.Do(t.Context(), fn); !errors.Is(err, domain.ErrUnavailable) {
			t.Errorf("%s returned %v, which is not %v", what, err, domain.ErrUnavailable)
		}
	}
}

func sessionErrorsContainNoPersonalData(t testing.TB, h StoreHarness) {
	store := h.open(t)
	id := subjectOf(t, "secret-tenant", "4711471147")
	cancelled, cancel := context.WithCancel(t.Context())
	defer cancel()
	errs := map[string]error{}
	provoke := func(what string, sessions ports.SessionFactory, fn func(context.Context, ports.Session) error) {
		if errs[what] = sessions.Do(t.Context(), fn); errs[what] == nil {
			t.Errorf("%s returned no error", what)
		}
	}
	var session ports.Session
	do(t, store, func(ctx context.Context, s ports.Session) error {
		session = s
		return writeSecrets(ctx, s, id)
	})
	errs["use after the end"] = writeSecrets(t.Context(), session, id)
	provoke("a conflict", store.Sessions, func(ctx context.Context, s ports.Session) error {
		return writeSecrets(ctx, s, id)
	})
	provoke("an entry that is there already", store.Sessions, func(ctx context.Context, s ports.Session) error {
		return s.Outbox().Enqueue(ctx, erasureAt("secret-resolver", "secret-entry", id))
	})
	provoke("evidence that cannot be written", store.Sessions, func(ctx context.Context, s ports.Session) error {
		return errors.Join(errFailure, s.Audit().AppendEvidence(ctx, event("secret-event", id)))
	})
	provoke("a nested Do", store.Sessions, func(ctx context.Context, s ports.Session) error {
		return store.Sessions.Do(ctx, func(context.Context, ports.Session) error { return nil })
	})
	provoke("a context that has ended", store.Sessions, func(_ context.Context, s ports.Session) error {
		if err := writeSecrets(cancelled, s, id); err != nil {
			return err
		}
		cancel()
		_, err := s.Audit().Trail(cancelled, id)
		return err
	})
	store.Insert(t, "people", Row{"tenant": "secret-tenant", "number": int64(4711471147), "email": "secret-email"})
	store.Insert(t, "orders", Row{"id": int64(1), "tenant": "secret-tenant", "person": int64(4711471147)})
	provoke("a row that others refer to", store.Sessions, func(ctx context.Context, s ports.Session) error {
		return errOf(s.Subjects().Apply(ctx, id, []datamap.Step{{Target: "people", Strategy: domain.StrategyDelete}}))
	})
	provoke("a key that the subject cannot have", store.Sessions, func(ctx context.Context, s ports.Session) error {
		return errOf(s.Subjects().Lock(ctx, subjectOf(t, "secret-tenant", "secret-number"), noon))
	})
	if store.Unreachable != nil {
		away := store.Unreachable(t).Sessions
		provoke("a store that cannot be reached", away, func(ctx context.Context, s ports.Session) error {
			return errOf(s.Audit().Trail(ctx, id))
		})
	}
	for what, err := range errs {
		text := fmt.Sprintf("%v %+v", err, err)
		for _, secret := range []string{"secret", "4711471147"} {
			assert(t, !strings.Contains(text, secret), "the error of %s contains a value that was written", what)
		}
	}
}

// writeSecrets appends records whose values no error may contain.
func writeSecrets(ctx context.Context, s ports.Session, id domain.SubjectID) error {
	consent, restriction := grant(id, "secret-purpose", 0), restrict(id, pointer("secret-purpose"), 0)
	consent.PolicyVersion, restriction.Reason = "secret-version", pointer("secret-reason")
	made := event("secret-event", id)
	made.Payload = domain.Payload{"secret": "secret-value"}
	return errors.Join(
		s.Consents().Append(ctx, consent), s.Restrictions().Append(ctx, restriction),
		s.Outbox().Enqueue(ctx, erasureAt("secret-resolver", "secret-entry", id)), s.Audit().Append(ctx, made),
	)
}
