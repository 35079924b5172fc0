package porttest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/habeas-data/habeas/domain"
)

// These methods of a resolver call the external system.
const (
	exportMethod = "ExportSubject"
	eraseMethod  = "EraseSubject"
)

// resolverCall is the name of a method that was called for the subject Populated, and the error that it returned.
type resolverCall struct {
	method string
	err    error
}

func (s ResolverSystem) attempt(ctx context.Context, method string) resolverCall {
	var err error
	switch method {
	case exportMethod:
		_, err = s.Resolver.ExportSubject(ctx, s.Populated)
	case eraseMethod:
		_, err = s.Resolver.EraseSubject(ctx, s.Populated, "entry-1")
	}
	return resolverCall{method, err}
}

// attempts calls the methods that fail under the fault.
func (s ResolverSystem) attempts(fault ResolverFault) (all []resolverCall) {
	if !fault.SparesExport {
		all = append(all, s.attempt(context.Background(), exportMethod))
	}
	if !fault.SparesErase {
		all = append(all, s.attempt(context.Background(), eraseMethod))
	}
	return all
}

// underEachFault calls check for each fault that pick returns. Each fault has its own system, into which it was
// injected before. underEachFault returns the number of faults.
func (h ResolverHarness) underEachFault(
	t testing.TB, pick func(ResolverSystem) []ResolverFault, check func(s ResolverSystem, fault ResolverFault),
) (faults int) {
	t.Helper()
	faults = len(pick(h.open(t)))
	for i := range faults {
		s := h.open(t)
		fault := pick(s)[i]
		fault.Inject()
		check(s, fault)
	}
	return faults
}

func transient(s ResolverSystem) []ResolverFault { return s.Transient }
func permanent(s ResolverSystem) []ResolverFault { return s.Permanent }

func resolverTransientFaultIsTriedAgain(t testing.TB, h ResolverHarness) {
	h.underEachFault(t, transient, func(s ResolverSystem, fault ResolverFault) {
		for _, attempt := range s.attempts(fault) {
			var final *domain.ResolverError
			var later *domain.RetryLater
			switch {
			case attempt.err == nil:
				t.Errorf("%s: %s succeeded", fault.Name, attempt.method)
			case errors.As(attempt.err, &final):
				t.Errorf("%s: %s returned a ResolverError, which is never retried", fault.Name, attempt.method)
			case errors.As(attempt.err, &later) && later.After < 0:
				t.Errorf("%s: %s returned a time to retry in the past", fault.Name, attempt.method)
			}
		}
	})
}

func resolverErasureSucceedsOnceTheFaultHasPassed(t testing.TB, h ResolverHarness) {
	h.underEachFault(t, transient, func(s ResolverSystem, fault ResolverFault) {
		if fault.SparesErase {
			return
		}
		assert(t, s.attempt(context.Background(), eraseMethod).err != nil, "%s: EraseSubject succeeded", fault.Name)
		s.Heal()
		err := s.attempt(context.Background(), eraseMethod).err
		assert(t, err == nil, "%s: the retry failed after the fault had passed: %v", fault.Name, err)
		records := s.export(t, s.Populated)
		assert(t, len(records) == 0, "%s: %d records are left after the retry", fault.Name, len(records))
	})
}

func resolverPermanentFaultIsAResolverError(t testing.TB, h ResolverHarness) {
	faults := h.underEachFault(t, permanent, func(s ResolverSystem, fault ResolverFault) {
		for _, attempt := range s.attempts(fault) {
			var final *domain.ResolverError
			assert(t, errors.As(attempt.err, &final),
				"%s: %s returned a %T, want a ResolverError", fault.Name, attempt.method, attempt.err)
		}
	})
	if faults == 0 {
		t.Skip("skipped: the harness has no permanent fault")
	}
}

func resolverErrorsContainNoSecrets(t testing.TB, h ResolverHarness) {
	check := func(s ResolverSystem, fault ResolverFault) {
		secrets := append([]string{s.Populated.Value, s.Bystander.Value, s.Absent.Value, "://"}, s.Secrets...)
		for _, attempt := range s.attempts(fault) {
			text := fmt.Sprintf("%v %+v", attempt.err, attempt.err)
			for i, secret := range secrets {
				assert(t, !strings.Contains(text, secret),
					"%s: the error of %s contains an identifier, a URL or a secret (number %d)", fault.Name, attempt.method, i)
			}
			if named := resolverOf(attempt.err); named != "" && named != s.Resolver.Name() {
				t.Errorf("%s: the error of %s names the resolver %q", fault.Name, attempt.method, named)
			}
		}
	}
	h.underEachFault(t, transient, check)
	h.underEachFault(t, permanent, check)
}

// resolverOf returns the name of the resolver that an error contains, or "" if the error contains none.
func resolverOf(err error) string {
	var final *domain.ResolverError
	var later *domain.RetryLater
	switch {
	case errors.As(err, &final):
		return final.Resolver
	case errors.As(err, &later):
		return later.Resolver
	default:
		return ""
	}
}

func resolverEndedContextEndsTheCall(t testing.TB, h ResolverHarness) {
	s := h.open(t)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for _, method := range []string{exportMethod, eraseMethod} {
		checkEnding(t, s.attempt(ctx, method), context.Canceled)
	}
	assert(t, len(s.export(t, s.Populated)) != 0, "the subject was erased although the context had ended")
}

// shortDeadline is a deadline that is long enough for a system to accept a call.
const shortDeadline = 50 * time.Millisecond

func resolverDeadlineIsHonoured(t testing.TB, h ResolverHarness) {
	s := h.open(t)
	if s.Hang == nil {
		t.Skip("skipped: the harness can't make the system hang")
	}
	s.Hang()
	for _, method := range []string{exportMethod, eraseMethod} {
		ctx, cancel := context.WithTimeout(context.Background(), shortDeadline)
		defer cancel()
		done := make(chan resolverCall, 1)
		go func() { done <- s.attempt(ctx, method) }()
		select {
		case attempt := <-done:
			checkEnding(t, attempt, context.DeadlineExceeded)
		case <-time.After(shortDeadline + h.patience()):
			t.Errorf("%s had a deadline of %v and did not return within %v after it", method, shortDeadline, h.patience())
		}
	}
}

// checkEnding checks that a call has returned the error of its context, and that this error allows a retry.
func checkEnding(t testing.TB, attempt resolverCall, want error) {
	t.Helper()
	var final *domain.ResolverError
	switch {
	case !errors.Is(attempt.err, want):
		t.Errorf("%s returned %v, which is not %v", attempt.method, attempt.err, want)
	case errors.As(attempt.err, &final):
		t.Errorf("%s returned a ResolverError, which is never retried", attempt.method)
	}
}
