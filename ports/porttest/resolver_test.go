package porttest

import (
	"strings"
	"testing"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/internal/promise"
)

func none(*fakeResolver) {}

func TestAResolverThatKeepsItsPromisesPasses(t *testing.T) {
	TestResolver(t, harness(none))
}

type (
	resolverFound   = promise.Finds[ResolverHarness]
	resolverDefects = map[string]resolverDefect
	resolverDefect  struct {
		breaks func(*fakeResolver)
		found  resolverFound
	}
)

func brokenResolver(d resolverDefect) (ResolverHarness, resolverFound) {
	return harness(d.breaks), d.found
}

// Each resolver of this test breaks one or more promises. For each resolver, exactly the cases that testdata records
// must fail, for the expected reason. This proves that the suite detects broken resolvers.
func TestResolversThatBreakAPromiseFail(t *testing.T) {
	promise.ExpectDefects(t, *update, resolverPromises, brokenResolver, promise.Topics(map[string]resolverDefects{
		"export": exportDefects(), "erasure": erasureDefects(), "errors": errorDefects(), "keys": resolverKeyDefects(),
	}))
}

func TestAHarnessThatIsIncompleteFails(t *testing.T) {
	for reason, breaks := range map[string]func(*fakeResolver){
		"at least one transient fault": func(f *fakeResolver) { f.system.Transient = nil },
		"Bystander":                    func(f *fakeResolver) { f.system.Bystander = domain.SubjectRef{} },
	} {
		promise.ExpectFailures(t, resolverPromises, harness(breaks), promise.All(resolverPromises, reason))
	}
}

func TestWhatASystemCannotDoIsSkippedWithTheReason(t *testing.T) {
	limited := harness(func(f *fakeResolver) {
		f.system.Permanent, f.system.Hang, f.system.Excluded = nil, nil, nil
		f.system.Keys = ResolverKeys{}
		full := f.surface
		f.surface = func() domain.CoveredSurface {
			s := full()
			s.Exclusions = nil
			return s
		}
	})
	skips := resolverFound{
		"takes none":         {resolverKeysAreExportedAndErased, resolverKeyIsNotMatchedAsAPrefix},
		"excludes nothing":   {resolverExclusionsAreNotExported},
		"no permanent fault": {resolverPermanentFaultIsAResolverError},
		"hang":               {resolverDeadlineIsHonoured},
	}
	for _, p := range resolverPromises {
		r := promise.Watch(t, func(t testing.TB) { p.Check(t, limited) })
		reason, expected := skips.Reason(t, p)
		if r.Failed() || r.Skipped() != expected || !strings.Contains(r.SkippedBy(), reason) {
			t.Errorf("%q says %q and fails with %q, want %q and no failure", p.Name(), r.SkippedBy(), r.Failures(), reason)
		}
	}
}
