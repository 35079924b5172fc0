package httptestsuite

import (
	"testing"

	"github.com/habeas-data/habeas/adapters/http/httpapi"
	"github.com/habeas-data/habeas/internal/tests/promise"
)

// Harness describes the adapter under test.
type Harness struct {
	// Serve starts a server of the framework on the loopback interface, with api mounted under the prefix. The prefix is
	// "/me", "/a/b/me", or "" for the root. Serve must not change api. It returns the URL of the server without the
	// prefix, such as "http://127.0.0.1:40001".
	//
	// The server must get its subjects from Subject and must stop in t.Cleanup. Serve is called at least once for each
	// case. Required.
	Serve func(t testing.TB, api *httpapi.API, prefix string) (serverURL string)

	// Waive lists the cases that the adapter cannot pass: the name of each case, and the reason. Test skips these cases
	// and prints the reasons. Test fails if a name is not the name of a case, or if a reason is empty. By default, no case
	// is waived.
	Waive map[string]string

	// crowd is the number of subjects that send requests concurrently. The default is 100. The tests of this package use
	// fewer subjects.
	crowd int
	// golden receives the body of each response that has a golden file. If golden is set, bodies are not compared with the
	// golden files.
	golden func(name, body string)
}

// Test runs the suite for an adapter. It checks the promises that promises.md lists.
func Test(t *testing.T, harness Harness) {
	t.Helper()
	harness.check(t)
	promise.Hold(t, promises, harness, harness.Waive)
}

// check reports errors in the harness itself.
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
		"Each successful consent response has the specified status and, byte by byte, the specified body."),
	that(restrictionResponsesAreExact,
		"Each successful restriction response has the specified status and, byte by byte, the specified body."),
	that(exportResponsesAreExact,
		"Each successful export response has the specified status and, byte by byte, the specified body."),
	that(erasureResponsesAreExact,
		"Each successful erasure response has the specified status and, byte by byte, the specified body."),
	that(problemResponsesAreExact,
		"Each problem response has the specified status and, byte by byte, the specified body."),
	that(resultsAreUncachedJSON,
		"A success has the Content-Type application/json, Cache-Control: no-store and X-Content-Type-Options: nosniff."),
	that(problemsAreUncachedProblemJSON,
		"A problem has the Content-Type application/problem+json. Its other headers are those of a success."),
	that(headIsGetWithoutTheBody, "HEAD returns the status and the headers of GET without a body."),
	that(optionsNamesTheMethods, "OPTIONS on the path of an endpoint returns 204 with Allow, also without a subject."),
	that(otherMethodsAreRefused, "A method that a path does not support returns 405 with Allow."),
	that(otherPathsAreNotFound, "A path without an endpoint returns 404, also if the path is percent-encoded."),
	that(erasureIsAtThePrefixItself, "DELETE on the prefix erases, with and without a slash at its end."),
	that(everyPrefixWillDo, "A prefix may be empty or have several segments."),
	that(restrictionRoutesAreOptional, "Without the option WithRestriction, the paths of the restriction return 404."),
	that(onlyApplicationJSONIsRead, "A body must be application/json, with or without parameters."),
	that(contentCodingsAreRefused, "A content coding other than identity returns 415."),
	that(bodiesHaveALimit, "A body of 65,536 bytes is accepted and a larger body returns 413, also in chunks."),
	that(unreadBodyIsNotParsedAsARequest,
		"The part of a body that the handler has not read is never parsed as another request."),
	that(invalidJSONIsRefused, "A body that is not one complete JSON value in UTF-8 returns 400."),
	that(fieldsAreTakenOnceAndByExactName, "Each field must be known, must have its exact name and must occur once."),
	that(purposeInAPathIsDecodedOnce, "The last segment of a path is percent-decoded once, and a plus stays a plus."),
	that(purposeInAPathIsChecked, "An invalid purpose returns 422."),
	that(purposeInAQueryIsDecoded, "The query parameter purpose is percent-decoded, and a plus becomes a space."),
	that(purposesThatAreDeclaredAreListed, "Declared purposes are listed, and an undeclared purpose returns 422."),
	that(purposeOfThePastCanBeEnded,
		"A consent in force for an undeclared purpose is listed and withdrawn, and a restriction is lifted."),
	that(providerDecidesOnTheStatus,
		"A StatusError of the provider sets the status, and any other error or panic returns 500."),
	that(providerIsCalledFirst, "The provider is called before the input is read."),
	that(providerAloneNamesTheSubject, "No header, query, path or body can select the subject."),
	that(headerOfARefusalIsSentAlong,
		"If the provider returns a StatusError, the response has the headers in StatusError.Header."),
	that(largeExportIsStreamed, "An export may be larger than the buffers of the API."),
	that(failureHalfwayAbortsTheResponse,
		"If an export fails after its first bytes were sent, the client detects an incomplete response."),
	that(unreadResponseIsAborted, "The adapter stops an export when the client has disconnected."),
	that(exportOverHTTP10IsWholeOrFails,
		"Over HTTP/1.0, the response to an export that fails does not look like a complete export."),
	that(unreachableStoreIs503, "If the store cannot be reached, the response is 503 with Retry-After."),
	that(grantsOfErasedPeopleAre409,
		"A consent of a person who was erased, and whose row is still there, returns 409 with the type erased."),
	that(deadlineIs504, "A request that exceeds its timeout returns 504."),
	that(bodyThatNeverArrivesIs504,
		"If a chunked body, or the second half of a body with a Content-Length, does not arrive within the timeout, the "+
			"response is 504."),
	that(failuresShowNoErrorText, "No response contains the text of an error."),
	that(panicEndsOneRequestOnly, "A panic ends only the request in which it occurs."),
	that(requestsShareNoStrings, "No string of a request appears in another request."),
	that(requestResponsesAreExact,
		"Each response of the register has the specified status and, byte by byte, the specified body."),
	that(requestsAreFoundAsPeopleWriteThem,
		"The number of a request is read in any case and grouping, and a foreign or wrong one returns 404."),
	that(requestRoutesAreOptional,
		"Without the option WithRequests, the paths of the register return 404, and without a register 500."),
	that(rightsAreRecordedAsRequests,
		"With a register, an export, an erasure and a new restriction are recorded as requests."),
	that(requestsHaveALimit, "The eleventh request of a person on a day returns 429, but not an export."),
	that(requestsThatAreDecidedStay, "The withdrawal of a request that is closed otherwise returns 409 with its state."),
	that(heldErasuresAre409, "An erasure of a person with a legal hold returns 409 with the type legal-hold."),
}
