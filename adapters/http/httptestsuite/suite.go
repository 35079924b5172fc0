package httptestsuite

import (
	"testing"

	"github.com/habeas-data/habeas/adapters/http/httpapi"
	"github.com/habeas-data/habeas/internal/promise"
)

// Harness is what the suite needs of the adapter under test.
type Harness struct {
	// Serve mounts the API, as it is given, under the prefix ("/me", "/a/b/me", or nothing for the root) on a server of
	// the framework's own on loopback, and returns the server's URL without the prefix, such as "http://127.0.0.1:40001".
	// The server takes its subjects from Subject and is stopped by t.Cleanup. Serve is called at least once for each case.
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
	promise.Hold(t, promises, harness, harness.Waive)
}

// check finds what is wrong with the harness itself.
func (h Harness) check(t testing.TB) {
	t.Helper()
	if h.Serve == nil {
		t.Fatalf("the harness is incomplete: Serve is required")
	}
	promise.CheckWaivers(t, promises, h.Waive)
	for name, reason := range h.Waive {
		assert(t, reason != "", "%q is waived without a reason", name)
	}
}

var (
	assert = promise.Assert
	that   = promise.That[Harness]
)

var promises = []promise.Promise[Harness]{
	that(consentIsAnsweredExactly, "each success has its status and, byte by byte, its body"),
	that(restrictionIsAnsweredExactly, "each success has its status and, byte by byte, its body"),
	that(exportIsAnsweredExactly, "each success has its status and, byte by byte, its body"),
	that(erasureIsAnsweredExactly, "each success has its status and, byte by byte, its body"),
	that(problemsAreAnsweredExactly, "each problem has its status and, byte by byte, its body"),
	that(resultsAreJSONThatIsNotStored, "successes are application/json, no-store and nosniff"),
	that(problemsAreProblemJSONThatIsNotStored, "so are problems, as application/problem+json"),
	that(headIsGetWithoutTheBody, "HEAD has the status and the headers of GET and no body"),
	that(optionsNamesTheMethods, "OPTIONS is 204, with Allow, for whoever asks"),
	that(otherMethodsAreRefused, "another method is 405, with Allow"),
	that(otherPathsAreNotFound, "another path is 404, however it is escaped"),
	that(erasureIsAtThePrefixItself, "the erasure is at the prefix, with and without a slash"),
	that(everyPrefixWillDo, "a prefix may be empty or have several segments"),
	that(restrictionIsThereWhenAskedFor, "restriction has no routes without WithRestriction"),
	that(onlyApplicationJSONIsRead, "a body is application/json, with parameters or without"),
	that(noContentCodingIsUndone, "a content coding but identity is 415; nothing is unpacked"),
	that(bodiesHaveALimit, "65,536 bytes are read, one more is 413, chunked or not"),
	that(whatIsLeftOfABodyIsNoRequest, "what is left of a body is never taken for a request"),
	that(whatIsNoJSONIsRefused, "a body that is not JSON, whole and in UTF-8, is 400"),
	that(fieldsAreTakenOnceAndByExactName, "a field is given once, by its exact name, and is known"),
	that(purposeInAPathIsUnescapedOnce, "a path's last segment is unescaped once; a plus is a plus"),
	that(purposeInAPathIsChecked, "a purpose that cannot be is 422"),
	that(purposeInAQuerySelects, "a query's purpose is unescaped; a plus is a space"),
	that(purposesThatAreDeclaredAreListed, "declared purposes are listed, and any other one is 422"),
	that(providerDecidesOnTheStatus, "a Refusal is its status; other errors and panics are 500"),
	that(providerComesFirst, "the provider is asked before the input is looked at"),
	that(providerAloneNamesTheSubject, "no header, query, path or body names the subject"),
	that(headerOfARefusalIsSentAlong, "a Refusal's header is sent along"),
	that(largeExportIsStreamed, "an export may be larger than what is held in memory"),
	that(failureHalfwayBreaksTheAnswerOff, "an answer that cannot be completed does not look whole"),
	that(answerThatNobodyReadsIsGivenUp, "a client that has gone ends what it asked for"),
	that(exportOverHTTP10IsWholeOrFails, "a client of HTTP/1.0 takes no broken export for whole"),
	that(unreachableStoreIs503, "an unreachable store is 503, with Retry-After"),
	that(deadlineIs504, "a deadline that has passed is 504"),
	that(bodyThatNeverArrivesIs504, "a body is part of the request's time"),
	that(failuresGiveNothingAway, "no answer shows the text of an error"),
	that(panicEndsOneRequestOnly, "a panic ends its request and nothing else"),
	that(requestsKeepToThemselves, "no string of a request ends up in another"),
}
