package porttest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports"
)

// resolverMethods are the names of a method that exports and of a method that erases.
type resolverMethods struct{ export, erase string }

func (m resolverMethods) all() []string { return []string{m.export, m.erase} }

var (
	subjectMethods = resolverMethods{"ExportSubject", "EraseSubject"} // of ports.Resolver
	keyMethods     = resolverMethods{"ExportKeys", "EraseKeys"}       // of ports.KeyResolver
)

// resolverCall is the name of a called method, and the error that the method returned.
type resolverCall struct {
	method string
	err    error
}

// callMethod calls the method for the subject of ResolverSystem.Populated or for the keys ResolverKeys.Populated. It
// calls ExportKeys or EraseKeys only if the resolver implements ports.KeyResolver.
func (s ResolverSystem) callMethod(ctx context.Context, method string) resolverCall {
	var err error
	switch method {
	case subjectMethods.export:
		_, err = s.Resolver.ExportSubject(ctx, s.Populated)
	case subjectMethods.erase:
		_, err = s.Resolver.EraseSubject(ctx, s.Populated, callOf("entry-1"))
	}
	if resolver, ok := s.Resolver.(ports.KeyResolver); ok {
		switch method {
		case keyMethods.export:
			_, err = resolver.ExportKeys(ctx, slices.Clone(s.Keys.Populated))
		case keyMethods.erase:
			_, err = resolver.EraseKeys(ctx, slices.Clone(s.Keys.Populated), callOf("entry-1"))
		}
	}
	return resolverCall{method, err}
}

// callFailing calls each of the two methods, except a method that the fault spares.
func (s ResolverSystem) callFailing(methods resolverMethods, fault ResolverFault) (all []resolverCall) {
	if !fault.SparesExport {
		all = append(all, s.callMethod(context.Background(), methods.export))
	}
	if !fault.SparesErase {
		all = append(all, s.callMethod(context.Background(), methods.erase))
	}
	return all
}

// records returns the records that the export method returns.
func (s ResolverSystem) records(t testing.TB, methods resolverMethods) []domain.ExportRecord {
	t.Helper()
	if methods == subjectMethods {
		return s.export(t, s.Populated)
	}
	return s.exportKeys(t, s.Keys.Populated...)
}

// underEachFault opens a system for each fault in faultsOf(system), injects the fault and calls fn. It returns the
// number of faults.
func (h ResolverHarness) underEachFault(
	t testing.TB, faultsOf func(ResolverSystem) []ResolverFault, fn func(s ResolverSystem, fault ResolverFault),
) (faults int) {
	t.Helper()
	faults = len(faultsOf(h.open(t)))
	for i := range faults {
		s := h.open(t)
		fault := faultsOf(s)[i]
		fault.Inject()
		fn(s, fault)
	}
	return faults
}

func transient(s ResolverSystem) []ResolverFault { return s.Transient }
func permanent(s ResolverSystem) []ResolverFault { return s.Permanent }

func resolverTransientFaultIsTriedAgain(t testing.TB, h ResolverHarness) {
	checkTransientFaults(t, h, subjectMethods)
}

// checkTransientFaults checks that each transient fault makes the methods return an error that allows a retry.
func checkTransientFaults(t testing.TB, h ResolverHarness, methods resolverMethods) {
	t.Helper()
	h.underEachFault(t, transient, func(s ResolverSystem, fault ResolverFault) {
		for _, attempt := range s.callFailing(methods, fault) {
			var final *domain.ResolverError
			var later *domain.RetryLaterError
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
	checkRetryOfErasure(t, h, subjectMethods)
}

// checkRetryOfErasure checks that an erasure fails during each transient fault, and that its retry after the fault
// erases everything.
func checkRetryOfErasure(t testing.TB, h ResolverHarness, methods resolverMethods) {
	t.Helper()
	h.underEachFault(t, transient, func(s ResolverSystem, fault ResolverFault) {
		if fault.SparesErase {
			return
		}
		assert(t, s.callMethod(context.Background(), methods.erase).err != nil, "%s: %s succeeded", fault.Name, methods.erase)
		s.Heal()
		err := s.callMethod(context.Background(), methods.erase).err
		assert(t, err == nil, "%s: the retry failed after the fault had passed: %v", fault.Name, err)
		records := s.records(t, methods)
		assert(t, len(records) == 0, "%s: %d records are left after the retry", fault.Name, len(records))
	})
}

func resolverPermanentFaultIsAResolverError(t testing.TB, h ResolverHarness) {
	checkPermanentFaults(t, h, subjectMethods)
}

// checkPermanentFaults checks that each permanent fault makes the methods return a ResolverError.
func checkPermanentFaults(t testing.TB, h ResolverHarness, methods resolverMethods) {
	t.Helper()
	faults := h.underEachFault(t, permanent, func(s ResolverSystem, fault ResolverFault) {
		for _, attempt := range s.callFailing(methods, fault) {
			var final *domain.ResolverError
			assert(t, errors.As(attempt.err, &final),
				"%s: %s returned a %T, want a ResolverError", fault.Name, attempt.method, attempt.err)
		}
	})
	if faults == 0 {
		t.Skip("skipped: ResolverSystem.Permanent is not set")
	}
}

func resolverErrorsContainNoSecrets(t testing.TB, h ResolverHarness) {
	checkTextsOfErrors(t, h, subjectMethods)
}

// checkTextsOfErrors checks that the errors of the methods contain no identifier, key, URL or secret, and that a
// ResolverError or RetryLaterError names the resolver.
func checkTextsOfErrors(t testing.TB, h ResolverHarness, methods resolverMethods) {
	t.Helper()
	check := func(s ResolverSystem, fault ResolverFault) {
		secrets := slices.Concat([]string{s.Populated.Value, s.Bystander.Value, s.Absent.Value, "://"}, s.Secrets)
		if methods == keyMethods {
			secrets = slices.Concat(secrets, s.Keys.Populated, []string{s.Keys.Bystander, s.Keys.Absent})
		}
		for _, attempt := range s.callFailing(methods, fault) {
			text := fmt.Sprintf("%v %+v", attempt.err, attempt.err)
			for i, secret := range secrets {
				assert(t, !strings.Contains(text, secret),
					"%s: the error of %s contains an identifier, a key, a URL or a secret (number %d)", fault.Name, attempt.method, i)
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
	var later *domain.RetryLaterError
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
	checkEndedContext(t, h, subjectMethods)
}

// checkEndedContext checks that the methods return the error of a context that has ended, and erase nothing.
func checkEndedContext(t testing.TB, h ResolverHarness, methods resolverMethods) {
	t.Helper()
	s := h.open(t)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for _, method := range methods.all() {
		checkEnding(t, s.callMethod(ctx, method), context.Canceled)
	}
	assert(t, len(s.records(t, methods)) != 0, "%s erased although the context had ended", methods.erase)
}

// shortDeadline is a deadline that is long enough for a system to accept a call.
const shortDeadline = 50 * time.Millisecond

func resolverDeadlineIsHonoured(t testing.TB, h ResolverHarness) {
	checkDeadline(t, h, subjectMethods)
}

// checkDeadline checks that the methods return at their deadline although the system sends no response.
func checkDeadline(t testing.TB, h ResolverHarness, methods resolverMethods) {
	t.Helper()
	s := h.open(t)
	if s.Hang == nil {
		t.Skip("skipped: ResolverSystem.Hang is not set")
	}
	s.Hang()
	for _, method := range methods.all() {
		ctx, cancel := context.WithTimeout(context.Background(), shortDeadline)
		defer cancel()
		done := make(chan resolverCall, 1)
		go func() { done <- s.callMethod(ctx, method) }()
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
