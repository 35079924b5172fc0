// Package openapi checks that the responses of the API conform to its OpenAPI document.
package openapi_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/legacy"
	"github.com/gofiber/fiber/v2"

	"github.com/habeas-data/habeas/adapters/http/fiberhttp"
	"github.com/habeas-data/habeas/adapters/http/httpapi"
	"github.com/habeas-data/habeas/domain"
)

// contract is the OpenAPI document of a router. It records which responses the tests have produced.
type contract struct {
	document *openapi3.T
	router   routers.Router
	seen     map[string]bool // each key is an operationId, a blank and a status
}

func newContract(t *testing.T, api *httpapi.API, prefix string) *contract {
	t.Helper()
	text, err := api.OpenAPI(prefix)
	require(t, err)
	loader := openapi3.NewLoader()
	document, err := loader.LoadFromData(text)
	require(t, err)
	require(t, document.Validate(loader.Context))
	router, err := legacy.NewRouter(document)
	require(t, err)
	return &contract{document, router, map[string]bool{}}
}

// check compares a request and its response with the document. If the status is 200, the request must conform to the
// document. If the status is 400, 415 or 422, the request must not conform. The response must always conform.
func (c *contract) check(t *testing.T, request *http.Request, body string, got received) {
	t.Helper()
	route, parameters, err := c.router.FindRoute(request)
	require(t, err)
	c.seen[fmt.Sprint(route.Operation.OperationID, " ", got.StatusCode)] = true

	request.Body = io.NopCloser(strings.NewReader(body))
	input := &openapi3filter.RequestValidationInput{Request: request, PathParams: parameters, Route: route}
	err = openapi3filter.ValidateRequest(t.Context(), input)
	if err != nil && got.StatusCode == 200 || err == nil && slices.Contains([]int{400, 415, 422}, got.StatusCode) {
		t.Errorf("%s %s %.100q: status %d violates the document: %v", request.Method, request.URL, body, got.StatusCode, err)
	}
	output := &openapi3filter.ResponseValidationInput{
		RequestValidationInput: input, Status: got.StatusCode, Header: got.Header,
		Options: &openapi3filter.Options{IncludeResponseStatus: true},
	}
	if err := openapi3filter.ValidateResponse(t.Context(), output.SetBodyBytes([]byte(got.body))); err != nil {
		t.Errorf("%s %s: %d %s: %v", request.Method, request.URL, got.StatusCode, got.body, err)
	}
}

// wasSeen checks that the tests have produced every status that the document lists.
func (c *contract) wasSeen(t *testing.T) {
	t.Helper()
	for path, item := range c.document.Paths.Map() {
		for method, operation := range item.Operations() {
			for status := range operation.Responses.Map() {
				if key := operation.OperationID + " " + status; status != "default" && !c.seen[key] {
					t.Errorf("%s %s never returns %s", method, path, status)
				}
			}
		}
	}
}

func TestEveryResponseMatchesTheDocument(t *testing.T) {
	store := &sessions{}
	var refusal error
	provider := func(*fiber.Ctx) (domain.Subject, error) {
		subject, err := domain.NewSubject("42")
		require(t, err)
		return subject, refusal
	}
	api := newAPI(t, store).With(httpapi.WithRestriction(), httpapi.WithTags("gdpr"))
	host := fiber.New(fiber.Config{DisableStartupMessage: true})
	host.Route("/me", fiberhttp.Router(api, provider))
	contract := newContract(t, api, "/me")
	exchangeAs := func(contentType, method, target, body string) {
		t.Helper()
		request := newRequest(method, target, body)
		request.Header.Set("Content-Type", contentType)
		contract.check(t, request, body, send(t, host, request))
	}
	exchange := func(method, target, body string) {
		t.Helper()
		exchangeAs("application/json", method, target, body)
	}
	everything := func() {
		t.Helper()
		exchange("POST", "/me/consent", decision)
		exchange("GET", "/me/consent/newsletter", "")
		exchange("GET", "/me/export", "")
		exchange("DELETE", "/me", "")
		exchange("POST", "/me/restriction", `{"restricted":true,"purpose":"ads","reason":""}`)
		exchange("GET", "/me/restriction?purpose=ads", "")
	}

	long, tooLong := strings.Repeat("ä", 255), strings.Repeat("ä", 256)
	exchange("GET", "/me/consent/newsletter", "") // before any decision exists
	exchange("GET", "/me/restriction", "")
	everything()
	for _, body := range []string{
		`{"granted":false,"policy_version":"` + long + `","purpose":"newsletter"}`,
		`{"granted":1,"policy_version":"","purpose":null}`,
		`{"granted":true,"policy_version":"v"}`,
		`{"granted":true,"policy_version":"v","purpose":"` + tooLong + `"}`,
		`{"granted":true,"policy_version":"v","purpose":"p","subject_id":"7"}`,
		`[]`, `{`, ``,
	} {
		exchange("POST", "/me/consent", body)
		exchange("GET", "/me/consent/newsletter", "")
	}
	for _, body := range []string{
		`{"restricted":false,"purpose":null,"reason":null}`,
		`{"restricted":true,"reason":"` + tooLong + `"}`,
		`{"restricted":null}`, `{"restricted":true,"purpose":""}`, `{"restricted":true,"x":1}`, `"{}"`, `{]`,
	} {
		exchange("POST", "/me/restriction", body)
		exchange("GET", "/me/restriction", "")
	}
	exchange("GET", "/me/restriction?purpose=", "")
	exchange("GET", "/me/restriction?purpose="+tooLong, "")
	exchange("GET", "/me/consent/"+tooLong, "")
	for _, path := range []string{"/me/consent", "/me/restriction"} {
		exchangeAs("text/plain", "POST", path, decision)
		exchange("POST", path, strings.Repeat(" ", httpapi.MaxBodySize)+decision)
	}
	for _, err := range []error{
		errBroken, domain.ErrUnavailable, context.DeadlineExceeded, domain.ErrErased, domain.ErrConflict,
	} {
		store.onDo = func(context.Context) error { return err }
		everything()
	}
	for _, status := range []int{401, 403, 402, 599} {
		refusal = fiber.NewError(status)
		everything()
	}
	contract.wasSeen(t)
}

func TestTheDocumentIsValidForEveryRouter(t *testing.T) {
	api := newAPI(t, &sessions{})
	group := fiber.New().Group("/:tenant").Group("/users/:user<int>")
	for _, prefix := range []string{"", "/", "/me", fiberhttp.Prefix(group)} {
		for _, api := range []*httpapi.API{api, api.With(httpapi.WithRestriction(), httpapi.WithTags("a", "b", "a"))} {
			newContract(t, api, prefix)
		}
	}
}
