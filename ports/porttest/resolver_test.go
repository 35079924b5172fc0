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

// defect is a way to break promises, and the cases that find it, each with a part of what it says.
type defect struct {
	inject func(*fake)
	found  map[string]string
}

// A suite is worth something once it has failed: each of these resolvers breaks promises, and is found out for what it
// broke and for nothing else.
func TestResolversThatBreakAPromiseFail(t *testing.T) {
	for name, defects := range map[string]map[string]defect{
		"export": exportDefects(), "erasure": erasureDefects(), "errors": errorDefects(),
	} {
		for defect, test := range defects {
			t.Run(name+"/"+defect, func(t *testing.T) {
				t.Parallel()
				expectFailures(t, resolverCases, harness(test.inject), test.found)
			})
		}
	}
}

func TestAHarnessThatIsIncompleteFails(t *testing.T) {
	for name, test := range map[string]defect{
		"an incomplete harness": {
			func(f *fake) { f.system.Transient = nil },
			everyCase("at least one transient fault"),
		},
		"a harness without a bystander": {
			func(f *fake) { f.system.Bystander = domain.SubjectRef{} },
			everyCase("Bystander"),
		},
	} {
		t.Run(name, func(t *testing.T) { expectFailures(t, resolverCases, harness(test.inject), test.found) })
	}
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
	skipped := map[string]string{}
	for _, c := range resolverCases {
		r := watch(t, c, limited)
		if r.Failed() {
			t.Errorf("%q failed: %q", c.name, r.failures)
		}
		if r.Skipped() {
			skipped[c.name] = r.skipped
		}
	}
	for name, reason := range map[string]string{
		"exclusions are not exported":         "excludes nothing",
		"permanent fault is a resolver error": "no permanent fault",
		"deadline is honoured":                "hang",
	} {
		if !strings.Contains(skipped[name], reason) {
			t.Errorf("%q says %q, want %q", name, skipped[name], reason)
		}
		delete(skipped, name)
	}
	if len(skipped) > 0 {
		t.Errorf("skipped as well: %q", skipped)
	}
}

func everyCase(reason string) map[string]string {
	want := map[string]string{}
	for _, c := range resolverCases {
		want[c.name] = reason
	}
	return want
}
