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

// Test checks that an adapter keeps the promises in promises.md.
func Test(t *testing.T, harness Harness) {
	t.Helper()
	harness.check(t)
	for _, p := range promises {
		t.Run(p.name, func(t *testing.T) {
			defer func() {
				if t.Failed() {
					t.Logf("the promise is: %s", p.says)
				}
			}()
			p.hold(t, harness)
		})
	}
}

// check finds what is wrong with the harness itself.
func (h Harness) check(t testing.TB) {
	t.Helper()
	if h.Serve == nil {
		t.Fatalf("the harness is incomplete: Serve is required")
	}
	for name, reason := range h.Waive {
		assert(t, slices.ContainsFunc(promises, func(p promise) bool { return p.name == name }),
			"there is no case %q to be waived", name)
		assert(t, reason != "", "%q is waived without a reason", name)
	}
}

// promise is a case: its name, what it holds, and the check, which takes a testing.TB, so that the suite's own tests can
// watch it fail.
type promise struct {
	name, says string
	check      func(t testing.TB, harness Harness)
}

func promised(name, says string, check func(testing.TB, Harness)) promise {
	return promise{name, says, check}
}

// hold runs the check unless it is waived.
func (p promise) hold(t testing.TB, harness Harness) {
	t.Helper()
	if reason, waived := harness.Waive[p.name]; waived {
		t.Skipf("waived: %s", reason)
	}
	p.check(t, harness)
}

var promises = []promise{
	promised("consent is answered exactly", "each success has its status and, byte by byte, its body",
		consentIsAnsweredExactly),
	promised("restriction is answered exactly", "each success has its status and, byte by byte, its body",
		restrictionIsAnsweredExactly),
	promised("export is answered exactly", "each success has its status and, byte by byte, its body",
		exportIsAnsweredExactly),
	promised("erasure is answered exactly", "each success has its status and, byte by byte, its body",
		erasureIsAnsweredExactly),
	promised("problems are answered exactly", "each problem has its status and, byte by byte, its body",
		problemsAreAnsweredExactly),
	promised("results are JSON that is not stored", "successes are application/json, no-store and nosniff",
		resultsAreJSONThatIsNotStored),
	promised("problems are problem JSON that is not stored", "so are problems, as application/problem+json",
		problemsAreProblemJSONThatIsNotStored),
	promised("head is get without the body", "HEAD has the status and the headers of GET and no body",
		headIsGetWithoutTheBody),
	promised("options names the methods", "OPTIONS is 204, with Allow, for whoever asks", optionsNamesTheMethods),
	promised("other methods are refused", "another method is 405, with Allow", otherMethodsAreRefused),
	promised("other paths are not found", "another path is 404, however it is escaped", otherPathsAreNotFound),
	promised("erasure is at the prefix itself", "the erasure is at the prefix, with and without a slash",
		erasureIsAtThePrefixItself),
	promised("every prefix will do", "a prefix may be empty or have several segments", everyPrefixWillDo),
	promised("restriction is there when asked for", "restriction has no routes without WithRestriction",
		restrictionIsThereWhenAskedFor),
	promised("only application/json is read", "a body is application/json, with parameters or without",
		onlyApplicationJSONIsRead),
	promised("no content coding is undone", "a content coding but identity is 415; nothing is unpacked",
		noContentCodingIsUndone),
	promised("64 KiB are read and no more", "65,536 bytes are read, one more is 413, chunked or not", bodiesHaveALimit),
	promised("what is left of a body is no request", "what is left of a body is never taken for a request",
		whatIsLeftOfABodyIsNoRequest),
	promised("what is no JSON is refused", "a body that is not JSON, whole and in UTF-8, is 400", whatIsNoJSONIsRefused),
	promised("fields are taken once and by exact name", "a field is given once, by its exact name, and is known",
		fieldsAreTakenOnceAndByExactName),
	promised("purpose in a path is unescaped once", "a path's last segment is unescaped once; a plus is a plus",
		purposeInAPathIsUnescapedOnce),
	promised("purpose in a path is checked", "a purpose that cannot be is 422", purposeInAPathIsChecked),
	promised("purpose in a query selects", "a query's purpose is unescaped; a plus is a space", purposeInAQuerySelects),
	promised("purposes that are declared are listed", "declared purposes are listed, and any other one is 422",
		purposesThatAreDeclaredAreListed),
	promised("provider decides on the status", "a Refusal is its status; other errors and panics are 500",
		providerDecidesOnTheStatus),
	promised("provider comes first", "the provider is asked before the input is looked at", providerComesFirst),
	promised("provider alone names the subject", "no header, query, path or body names the subject",
		providerAloneNamesTheSubject),
	promised("header of a refusal is sent along", "a Refusal's header is sent along", headerOfARefusalIsSentAlong),
	promised("large export is streamed", "an export may be larger than what is held in memory", largeExportIsStreamed),
	promised("failure halfway breaks the answer off", "an answer that cannot be completed does not look whole",
		failureHalfwayBreaksTheAnswerOff),
	promised("answer that nobody reads is given up", "a client that has gone ends what it asked for",
		answerThatNobodyReadsIsGivenUp),
	promised("export over HTTP/1.0 is whole or fails", "a client of HTTP/1.0 takes no broken export for whole",
		exportOverHTTP10IsWholeOrFails),
	promised("unreachable store is 503", "an unreachable store is 503, with Retry-After", unreachableStoreIs503),
	promised("deadline is 504", "a deadline that has passed is 504", deadlineIs504),
	promised("body that never arrives is 504", "a body is part of the request's time", bodyThatNeverArrivesIs504),
	promised("failures give nothing away", "no answer shows the text of an error", failuresGiveNothingAway),
	promised("panic ends one request only", "a panic ends its request and nothing else", panicEndsOneRequestOnly),
	promised("requests keep to themselves", "no string of a request ends up in another", requestsKeepToThemselves),
}
