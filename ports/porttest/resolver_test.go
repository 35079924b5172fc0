package porttest

import (
	"strings"
	"testing"

	"github.com/habeas-data/habeas/domain"
)

func none(*fake) {}

func TestAResolverThatKeepsItsPromisesPasses(t *testing.T) {
	TestResolver(t, harness(none))
}

type (
	resolverFound   = finds[ResolverHarness]
	resolverDefects = map[string]defect[func(*fake), ResolverHarness]
)

// A suite is worth something once it has failed: each of these resolvers breaks promises, and is found out for what it
// broke and for nothing else.
func TestResolversThatBreakAPromiseFail(t *testing.T) {
	expectDefects(t, resolverPromises, harness, topics(map[string]resolverDefects{
		"export": exportDefects(), "erasure": erasureDefects(), "errors": errorDefects(),
	}))
}

func TestAHarnessThatIsIncompleteFails(t *testing.T) {
	expectDefects(t, resolverPromises, harness, resolverDefects{
		"an incomplete harness": {
			func(f *fake) { f.system.Transient = nil }, everyCheck(resolverPromises, "at least one transient fault"),
		},
		"a harness without a bystander": {
			func(f *fake) { f.system.Bystander = domain.SubjectRef{} }, everyCheck(resolverPromises, "Bystander"),
		},
	})
}

func TestWhatASystemCannotDoIsSkippedWithTheReason(t *testing.T) {
	limited := harness(func(f *fake) {
		f.system.Permanent, f.system.Hang, f.system.Excluded = nil, nil, nil
		full := f.surface
		f.surface = func() domain.CoveredSurface {
			s := full()
			s.Exclusions = nil
			return s
		}
	})
	skips := resolverFound{
		"excludes nothing": {resolverExclusionsAreNotExported}, "no permanent fault": {resolverPermanentFaultIsAResolverError},
		"hang": {resolverDeadlineIsHonoured},
	}
	for _, p := range resolverPromises {
		r := watch(t, p.check, limited)
		reason, expected := skips.reason(t, p)
		if r.Failed() || r.Skipped() != expected || !strings.Contains(r.skipped, reason) {
			t.Errorf("%q says %q and fails with %q, want %q and no failure", p.name, r.skipped, r.failures, reason)
		}
	}
}
