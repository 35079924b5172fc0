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
	that(consentResponsesAreExact,
		"Each successful response has the specified status and, byte by byte, the specified body."),
	that(restrictionResponsesAreExact,
		"Each successful response has the specified status and, byte by byte, the specified body."),
	that(exportResponsesAreExact,
		"Each successful response has the specified status and, byte by byte, the specified body."),
	that(erasureResponsesAreExact,
		"Each successful response has the specified status and, byte by byte, the specified body."),
	that(problemResponsesAreExact,
		"Each problem response has the specified status and, byte by byte, the specified body."),
	that(resultsAreJSONThatIsNotStored, "Successful responses are application/json, no-store and nosniff."),
	that(problemsAreProblemJSONThatIsNotStored,
		"Problem responses are application/problem+json, no-store and nosniff."),
	that(headIsGetWithoutTheBody, "HEAD returns the status and the headers of GET without a body."),
	that(optionsNamesTheMethods, "OPTIONS returns 204 with Allow to every caller."),
	that(otherMethodsAreRefused, "Any other method returns 405 with Allow."),
	that(otherPathsAreNotFound, "Any other path returns 404, however it is escaped."),
	that(erasureIsAtThePrefixItself, "The erasure is at the prefix, with and without a trailing slash."),
	that(everyPrefixWillDo, "A prefix may be empty or have several segments."),
	that(restrictionRoutesAreOptional, "An adapter without WithRestriction has no restriction routes."),
	that(onlyApplicationJSONIsRead, "A body must be application/json, with or without parameters."),
	that(contentCodingsAreRefused, "A content coding other than identity returns 415."),
	that(bodiesHaveALimit, "A body of 65,536 bytes is read, and one more byte returns 413, chunked or not."),
	that(unreadBodyIsNotParsedAsARequest, "The unread rest of a body is never parsed as another request."),
	that(invalidJSONIsRefused, "A body that is not one complete JSON value in UTF-8 returns 400."),
	that(fieldsAreTakenOnceAndByExactName, "Each field must be known, must have its exact name and must occur once."),
	that(purposeInAPathIsUnescapedOnce, "The last segment of a path is unescaped once, and a plus stays a plus."),
	that(purposeInAPathIsChecked, "An invalid purpose returns 422."),
	that(purposeInAQuerySelects, "The purpose of a query is unescaped, and a plus becomes a space."),
	that(purposesThatAreDeclaredAreListed, "Declared purposes are listed, and an undeclared purpose returns 422."),
	that(providerDecidesOnTheStatus,
		"A Refusal of the provider sets the status, and any other error or panic returns 500."),
	that(providerIsCalledFirst, "The provider is called before the input is read."),
	that(providerAloneNamesTheSubject, "No header, query, path or body can select the subject."),
	that(headerOfARefusalIsSentAlong, "The response carries the header of a Refusal."),
	that(largeExportIsStreamed, "An export may be larger than the available memory."),
	that(failureHalfwayAbortsTheResponse, "A response that cannot be completed is recognizably incomplete."),
	that(unreadResponseIsAborted, "The adapter stops an export when the client has disconnected."),
	that(exportOverHTTP10IsWholeOrFails, "A client of HTTP/1.0 never takes a partial export for a complete one."),
	that(unreachableStoreIs503, "An unreachable store returns 503 with Retry-After."),
	that(deadlineIs504, "A deadline that has passed returns 504."),
	that(bodyThatNeverArrivesIs504, "The time for the body counts toward the deadline of the request."),
	that(failuresShowNoErrorText, "No response contains the text of an error."),
	that(panicEndsOneRequestOnly, "A panic ends its request and nothing else."),
	that(requestsShareNoStrings, "No string of a request appears in another request."),
}
