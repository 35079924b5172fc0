package httptestsuite

import (
	"slices"
	"testing"

	"github.com/habeas-data/habeas/adapters/http/httpapi"
)

// Harness is what the suite needs of the adapter under test.
type Harness struct {
	// Serve mounts the API, as it is given, under the prefix ("/me", "/a/b/me", or nothing for the root) on a server of the
	// framework's own on loopback, and returns the server's URL without the prefix, such as "http://127.0.0.1:40001". The
	// server takes its subjects from Subject and is stopped by t.Cleanup. Serve is called at least once for each case.
	// Required.
	Serve func(t testing.TB, api *httpapi.API, prefix string) (serverURL string)

	// Waive says which cases the adapter cannot pass and why, by the name of the case. They are skipped, and print the
	// reason. Nothing is waived by default; a name that no case has, or no reason, is a failure of Test.
	Waive map[string]string

	// crowd is how many subjects ask at the same time; 0 means 200. This package's own tests have less time.
	crowd int
	// golden takes the body of each answer that has a golden file, instead of its being compared with it.
	golden func(name, body string)
}

// Test checks that an adapter keeps the promises in the package comment.
func Test(t *testing.T, harness Harness) {
	t.Helper()
	harness.check(t)
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) { c.try(t, harness) })
	}
}

// check finds what is wrong with the harness itself.
func (h Harness) check(t testing.TB) {
	t.Helper()
	if h.Serve == nil {
		t.Fatalf("the harness is incomplete: Serve is required")
	}
	for name, reason := range h.Waive {
		if !slices.ContainsFunc(cases, func(c suiteCase) bool { return c.name == name }) {
			t.Errorf("there is no case %q to be waived", name)
		}
		if reason == "" {
			t.Errorf("%q is waived without a reason", name)
		}
	}
}

// suiteCase is a promise and how it is checked. It takes a testing.TB, so that the suite's own test can watch it fail.
type suiteCase struct {
	name string
	run  func(t testing.TB, harness Harness)
}

// try runs the case unless it is waived.
func (c suiteCase) try(t testing.TB, harness Harness) {
	t.Helper()
	if reason, waived := harness.Waive[c.name]; waived {
		t.Skipf("waived: %s", reason)
	}
	c.run(t, harness)
}

var cases = []suiteCase{
	{"consent is answered exactly", consentIsAnsweredExactly},
	{"restriction is answered exactly", restrictionIsAnsweredExactly},
	{"export is answered exactly", exportIsAnsweredExactly},
	{"erasure is answered exactly", erasureIsAnsweredExactly},
	{"problems are answered exactly", problemsAreAnsweredExactly},
	{"results are JSON that is not stored", resultsAreJSONThatIsNotStored},
	{"problems are problem JSON that is not stored", problemsAreProblemJSONThatIsNotStored},

	{"head is get without the body", headIsGetWithoutTheBody},
	{"options names the methods", optionsNamesTheMethods},
	{"other methods are refused", otherMethodsAreRefused},
	{"other paths are not found", otherPathsAreNotFound},
	{"erasure is at the prefix itself", erasureIsAtThePrefixItself},
	{"every prefix will do", everyPrefixWillDo},
	{"restriction is there when asked for", restrictionIsThereWhenAskedFor},

	{"only application/json is read", onlyApplicationJSONIsRead},
	{"no content coding is undone", noContentCodingIsUndone},
	{"64 KiB are read and no more", bodiesHaveALimit},
	{"what is left of a body is no request", whatIsLeftOfABodyIsNoRequest},
	{"what is no JSON is refused", whatIsNoJSONIsRefused},
	{"fields are taken once and by exact name", fieldsAreTakenOnceAndByExactName},

	{"purpose in a path is unescaped once", purposeInAPathIsUnescapedOnce},
	{"purpose in a path is checked", purposeInAPathIsChecked},
	{"purpose in a query selects", purposeInAQuerySelects},
	{"purposes that are declared are listed", purposesThatAreDeclaredAreListed},

	{"provider decides on the status", providerDecidesOnTheStatus},
	{"provider comes first", providerComesFirst},
	{"provider alone names the subject", providerAloneNamesTheSubject},
	{"header of a refusal is sent along", headerOfARefusalIsSentAlong},

	{"large export is streamed", largeExportIsStreamed},
	{"failure halfway breaks the answer off", failureHalfwayBreaksTheAnswerOff},
	{"answer that nobody reads is given up", answerThatNobodyReadsIsGivenUp},
	{"export over HTTP/1.0 is whole or fails", exportOverHTTP10IsWholeOrFails},

	{"unreachable store is 503", unreachableStoreIs503},
	{"deadline is 504", deadlineIs504},
	{"body that never arrives is 504", bodyThatNeverArrivesIs504},
	{"failures give nothing away", failuresGiveNothingAway},
	{"panic ends one request only", panicEndsOneRequestOnly},
	{"requests keep to themselves", requestsKeepToThemselves},
}
