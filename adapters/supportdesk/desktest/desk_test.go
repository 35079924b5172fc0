package desktest_test

import (
	"encoding/json"
	"go/parser"
	gotoken "go/token"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/habeas-data/habeas/adapters/supportdesk/desktest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// start returns a running desk with one contact and three conversations.
func start(t *testing.T) *desktest.Server {
	t.Helper()
	server, err := desktest.Start(t.Context(), "token")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Close(); err != nil {
			t.Error(err)
		}
	})
	server.Add(desktest.Contact{ID: "c1", Email: "zoe@example.org", Fields: map[string]any{"phone": 49}},
		desktest.Conversation{ID: "1", CreatedAt: time.Unix(1734537546, 0), Body: "hello"},
		desktest.Conversation{ID: "2", State: "open"}, desktest.Conversation{ID: "3"})
	return server
}

// call sends a request to the desk. The functions in change can modify the request before it is sent. call returns
// the status and the decoded JSON of the response.
func call(
	t *testing.T, s *desktest.Server, method, path, body string, change ...func(*http.Request),
) (int, map[string]any, error) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, s.URL+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	request.Close = true
	request.Header.Set("Authorization", "Bearer token")
	request.Header.Set("Accept", "application/json")
	request.Header.Set("Intercom-Version", "2.16")
	if body != "" {
		request.Header.Set("Content-Type", "application/json")
	}
	for _, c := range change {
		c(request)
	}
	client := &http.Client{
		Transport:     &http.Transport{DisableKeepAlives: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	response, err := client.Do(request)
	if err != nil {
		return 0, nil, err
	}
	defer func() { _ = response.Body.Close() }()
	content, err := io.ReadAll(response.Body)
	if err != nil {
		return response.StatusCode, nil, err
	}
	var document map[string]any
	err = json.Unmarshal(content, &document)
	return response.StatusCode, document, err
}

// mustCall sends a request like call. It fails the test if the response is not JSON.
func mustCall(
	t *testing.T, s *desktest.Server, method, path, body string, change ...func(*http.Request),
) (int, map[string]any) {
	t.Helper()
	status, document, err := call(t, s, method, path, body, change...)
	if err != nil {
		t.Fatal(err)
	}
	return status, document
}

func TestTheDeskSharesNoCodeWithTheResolverAndNeedsNoTestingPackage(t *testing.T) {
	names, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(gotoken.NewFileSet(), name, nil, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		for _, imported := range file.Imports {
			if path := strings.Trim(imported.Path.Value, `"`); strings.Contains(path, ".") || path == "testing" ||
				path == "net/http/httptest" {
				t.Errorf("%s imports %s", name, path)
			}
		}
	}
}

func TestAnInvalidRequestIsRefused(t *testing.T) {
	s := start(t)
	search := `{"query":{"field":"contact_ids","operator":"=","value":"c1"},"pagination":{"per_page":150}}`
	header := func(name, value string) func(*http.Request) {
		return func(r *http.Request) { r.Header.Set(name, value) }
	}
	for name, test := range map[string]struct {
		method, path, body string
		change             func(*http.Request)
		want               int
	}{
		"another token":        {"GET", "/contacts/c1", "", header("Authorization", "Bearer other"), 401},
		"no bearer":            {"GET", "/contacts/c1", "", header("Authorization", "token"), 401},
		"anything accepted":    {"GET", "/contacts/c1", "", header("Accept", "*/*"), 406},
		"no version":           {"GET", "/contacts/c1", "", header("Intercom-Version", ""), 400},
		"a query":              {"GET", "/contacts/c1?a=b", "", nil, 400},
		"another path":         {"GET", "/contact/c1", "", nil, 404},
		"two segments":         {"GET", "/contacts/c1/c1", "", nil, 404},
		"no segment":           {"GET", "/contacts/", "", nil, 404},
		"another method":       {"PUT", "/contacts/c1", "{}", nil, 405},
		"a deletion with body": {"DELETE", "/contacts/c1", "{}", nil, 400},
		"a search by GET":      {"GET", "/conversations/search", "", nil, 405},
		"a search of no type":  {"POST", "/conversations/search", search, header("Content-Type", ""), 400},
		"a search as a form": {
			"POST", "/conversations/search", search, header("Content-Type", "application/x-www-form-urlencoded"), 400,
		},
		"a search for all": {"POST", "/conversations/search", `{}`, nil, 400},
		"a search by name": {
			"POST", "/conversations/search", strings.Replace(search, "contact_ids", "name", 1), nil, 400,
		},
		"a search for a number": {"POST", "/conversations/search", strings.Replace(search, `"c1"`, `1`, 1), nil, 400},
		"a page of 151":         {"POST", "/conversations/search", strings.Replace(search, "150", "151", 1), nil, 400},
		"a page of 0":           {"POST", "/conversations/search", strings.Replace(search, "150", "0", 1), nil, 400},
		"an unknown field":      {"POST", "/conversations/search", strings.Replace(search, "per_page", "page", 1), nil, 400},
		"a garbled cursor": {
			"POST", "/conversations/search", strings.Replace(search, `150`, `150,"starting_after":"?"`, 1), nil, 400,
		},
		"a search as it is":  {"POST", "/conversations/search", search, nil, 200},
		"a contact as it is": {"GET", "/contacts/c1", "", nil, 200},
		"an absent contact":  {"GET", "/contacts/c2", "", nil, 404},
	} {
		t.Run(name, func(t *testing.T) {
			change := test.change
			if change == nil {
				change = func(*http.Request) {}
			}
			status, document := mustCall(t, s, test.method, test.path, test.body, change)
			if status != test.want || status != 200 && document["type"] != "error.list" {
				t.Errorf("got status %d %v, want %d", status, document, test.want)
			}
		})
	}
}

func TestAContactIsShownAndDeletedOnce(t *testing.T) {
	s := start(t)
	status, contact := mustCall(t, s, "GET", "/contacts/c1", "")
	if status != 200 || contact["email"] != "zoe@example.org" || contact["name"] != nil || contact["phone"] != 49.0 {
		t.Errorf("got status %d %v", status, contact)
	}
	status, deleted := mustCall(t, s, "DELETE", "/contacts/c1", "")
	if status != 200 || deleted["deleted"] != true || s.Knows("c1") {
		t.Errorf("got status %d %v", status, deleted)
	}
	if status, _ := mustCall(t, s, "DELETE", "/contacts/c1", ""); status != 404 {
		t.Errorf("the second deletion got status %d", status)
	}
}

func TestAMergedContactIsGone(t *testing.T) {
	s := start(t)
	s.Merge("c1", "c2")
	for _, method := range []string{"GET", "DELETE"} {
		if status, document := mustCall(t, s, method, "/contacts/c1", ""); status != 410 || document["type"] != "error.list" {
			t.Errorf("%s got status %d %v", method, status, document)
		}
	}
	_, page := mustCall(t, s, "POST", "/conversations/search",
		`{"query":{"field":"contact_ids","operator":"=","value":"c2"}}`)
	if page["total_count"] != 3.0 {
		t.Errorf("the other contact has the conversations %v", page)
	}
}

func TestASearchHasPages(t *testing.T) {
	s := start(t)
	s.SetPageSizes(2, 0)
	var found []any
	pages, after := 0, ""
	for ; pages < 5; pages++ {
		_, page := mustCall(t, s, "POST", "/conversations/search",
			`{"query":{"field":"contact_ids","operator":"=","value":"c1"},"pagination":{"per_page":150`+after+`}}`)
		for _, conversation := range page["conversations"].([]any) {
			found = append(found, conversation.(map[string]any)["id"])
		}
		next, ok := page["pages"].(map[string]any)["next"].(map[string]any)
		if !ok {
			break
		}
		after = `,"starting_after":"` + next["starting_after"].(string) + `"`
	}
	if pages != 2 || len(found) != 3 || found[0] != "1" || found[2] != "3" { // 2, 0 and 1
		t.Errorf("found %v, %d pages before the last", found, pages)
	}
}

func TestAFaultAppliesToOneRequestOrToAll(t *testing.T) {
	s := start(t)
	s.Script(desktest.Status(500), desktest.OK)
	s.Always(desktest.Status(429).With("Retry-After", "7"))
	for i, want := range []int{500, 200, 429, 429} {
		if status, _ := mustCall(t, s, "GET", "/contacts/c1", ""); status != want {
			t.Errorf("request %d got status %d, want %d", i, status, want)
		}
	}
	s.Always(desktest.OK)
	if status, _ := mustCall(t, s, "GET", "/contacts/c1", ""); status != 200 {
		t.Errorf("got status %d", status)
	}
	if got := s.Requests(); len(got) != 5 || got[0].Method != "GET" || got[0].Path != "/contacts/c1" {
		t.Errorf("received %v", got)
	}
}

func TestFaultsThatBreakTheResponse(t *testing.T) {
	for name, test := range map[string]struct {
		fault    desktest.Fault
		status   int  // 0 means no response
		carried  bool // the deletion was carried out
		isBroken bool // the response is not complete JSON
	}{
		"hang up":            {desktest.HangUp, 0, false, true},
		"lose response":      {desktest.LoseResponse, 0, true, true},
		"cut body":           {desktest.CutBody, 200, true, true},
		"truncate JSON":      {desktest.TruncateJSON, 200, true, true},
		"HTML":               {desktest.HTML(), 200, false, true},
		"wrong content type": {desktest.WrongContentType, 200, true, false},
		"a page for 404":     {desktest.NotFoundPage(), 404, false, true},
		"404":                {desktest.Status(404), 404, false, false},
		"not deleted":        {desktest.NotDeleted(), 200, false, false},
		"redirect":           {desktest.Redirect(302, "/elsewhere"), 302, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			s := start(t)
			s.Script(test.fault)
			status, _, err := call(t, s, "DELETE", "/contacts/c1", "")
			if status != test.status || (err != nil) != test.isBroken || s.Knows("c1") == test.carried {
				t.Errorf("got status %d, %v; the desk has the contact: %v", status, err, s.Knows("c1"))
			}
		})
	}
}

func TestAWaitingRequestContinuesAfterOpen(t *testing.T) {
	s, latch := start(t), desktest.NewLatch()
	s.Script(latch.Hold)
	go func() {
		<-latch.Entered()
		latch.Open()
		latch.Open()
	}()
	if status, _ := mustCall(t, s, "GET", "/contacts/c1", ""); status != 200 {
		t.Errorf("got status %d", status)
	}
}

func TestCloseEndsWaitingRequests(t *testing.T) {
	server, err := desktest.Start(t.Context(), "token")
	if err != nil {
		t.Fatal(err)
	}
	latch := desktest.NewLatch()
	server.Always(latch.Hold)
	go func() {
		<-latch.Entered()
		if err := server.Close(); err != nil {
			t.Error(err)
		}
	}()
	if _, _, err := call(t, server, "GET", "/contacts/c1", ""); err == nil {
		t.Error("the request got a response")
	}
	<-latch.Left()
	if err := server.Close(); err != nil {
		t.Errorf("closing again: %v", err)
	}
}
