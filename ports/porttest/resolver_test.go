package porttest

import (
	"strings"
	"testing"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/internal/tests/promise"
	"github.com/habeas-data/habeas/ports"
)

func none(*fakeResolver) {}

func TestAResolverThatKeepsItsPromisesPasses(t *testing.T) {
	TestResolver(t, harness(none))
}

type (
	resolverFound  = promise.Finds[ResolverHarness]
	resolverDefect struct {
		breaks func(*fakeResolver)
		found  resolverFound
	}
)

func brokenResolver(d resolverDefect) (ResolverHarness, resolverFound) {
	return harness(d.breaks), d.found
}

func TestAHarnessThatIsIncompleteFails(t *testing.T) {
	for reason, breaks := range map[string]func(*fakeResolver){
		"at least one transient fault": func(f *fakeResolver) { f.system.Transient = nil },
		"Bystander":                    func(f *fakeResolver) { f.system.Bystander = domain.SubjectRef{} },
		"ResolverSystem.Keys needs":    func(f *fakeResolver) { f.system.Keys = ResolverKeys{} },
		"Keys is set":                  func(f *fakeResolver) { f.system.Resolver = withoutKeys(f) },
	} {
		promise.ExpectFailures(t, resolverPromises, harness(breaks), promise.All(resolverPromises, reason))
	}
}

// withoutKeys returns a resolver that does not implement ports.KeyResolver.
func withoutKeys(f *fakeResolver) ports.Resolver { return struct{ ports.Resolver }{f} }

// A resolver that does not implement ports.KeyResolver and excludes no data must pass without a skipped case.
func TestAResolverWithoutKeysAndExclusionsPasses(t *testing.T) {
	expectSkips(t, resolverFound{}, harness(withoutKeysAndExclusions))
}

func withoutKeysAndExclusions(f *fakeResolver) {
	f.system.Resolver, f.system.Keys, f.system.Excluded = withoutKeys(f), ResolverKeys{}, nil
	full := f.surface
	f.surface = func() domain.CoveredSurface {
		s := full()
		s.Exclusions = nil
		return s
	}
}

func TestAMissingFieldOfTheHarnessIsTheReasonOfASkip(t *testing.T) {
	expectSkips(t, resolverFound{
		"Permanent is not set": {resolverPermanentFaultIsAResolverError, resolverPermanentFaultIsAResolverErrorForKeys},
		"Hang is not set":      {resolverDeadlineIsHonoured, resolverDeadlineIsHonouredForKeys},
	}, harness(func(f *fakeResolver) { f.system.Permanent, f.system.Hang = nil, nil }))
}

// expectSkips runs all cases. Exactly the cases in skips must be skipped, each for the given reason, and no case may
// fail.
func expectSkips(t *testing.T, skips resolverFound, harness ResolverHarness) {
	t.Helper()
	for _, p := range resolverPromises {
		r := promise.Watch(t, func(t testing.TB) { t.Helper(); p.Check(t, harness) })
		reason, expected := skips.Reason(t, p)
		if r.Failed() || r.Skipped() != expected || !strings.Contains(r.SkippedBy(), reason) {
			t.Errorf("%q says %q and fails with %q, want %q and no failure", p.Name(), r.SkippedBy(), r.Failures(), reason)
		}
	}
}
