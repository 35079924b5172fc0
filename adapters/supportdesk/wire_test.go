package supportdesk_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/habeas-data/habeas/adapters/supportdesk"
	"github.com/habeas-data/habeas/adapters/supportdesk/desktest"
)

// The requests of the resolver match the vendor's description of the API. This test compares paths and bodies byte by
// byte.
func TestRequestsAreThoseOfTheVendorsAPI(t *testing.T) {
	w := newWorld(t, func(o *supportdesk.Options) { o.APIVersion = "2.14" })
	w.desk.SetPageSizes(1)
	w.export(t)
	if _, err := w.EraseSubject(t.Context(), ref(zoeID), entry); err != nil {
		t.Fatal(err)
	}

	search := `{"query":{"field":"contact_ids","operator":"=","value":"` + zoeID + `"},"pagination":{"per_page":150%s}}`
	next := `,"starting_after":"eyJPZmZzZXQiOjEsIlBhZ2UiOjF9"`
	want := []struct{ method, path, body, contentType string }{
		{http.MethodGet, "/contacts/" + zoeID, "", ""},
		{http.MethodPost, "/conversations/search", fmt.Sprintf(search, ""), "application/json"},
		{http.MethodPost, "/conversations/search", fmt.Sprintf(search, next), "application/json"},
		{http.MethodDelete, "/contacts/" + zoeID, "", ""},
	}
	got := w.desk.Requests()
	if len(got) != len(want) {
		t.Fatalf("%d requests, want %d", len(got), len(want))
	}
	for i, request := range got {
		if request.Method != want[i].method || request.Path != want[i].path || request.Query != "" ||
			request.Body != want[i].body {
			t.Errorf("request %d is %s %s?%s %s, want %+v", i, request.Method, request.Path, request.Query, request.Body,
				want[i])
		}
		for name, value := range map[string]string{
			"Authorization":    "Bearer " + token,
			"Accept":           "application/json",
			"Intercom-Version": "2.14",
			"Content-Type":     want[i].contentType,
		} {
			if sent := strings.Join(request.Header[name], ", "); sent != value {
				t.Errorf("request %d has %s: %q, want %q", i, name, sent, value)
			}
		}
		for _, name := range []string{"Cookie", "Referer", "Idempotency-Key", "Traceparent"} {
			if len(request.Header[name]) > 0 {
				t.Errorf("request %d has %s", i, name)
			}
		}
	}
}

func TestNoCookieIsKeptBetweenCalls(t *testing.T) {
	w := newWorld(t)
	w.desk.Always(desktest.Fault(desktest.OK).With("Set-Cookie", "session=1").With("Connection", "keep-alive"))
	w.export(t)
	w.export(t)
	for _, request := range w.desk.Requests() {
		if cookie := request.Header.Get("Cookie"); cookie != "" {
			t.Errorf("%s was sent with the cookie %s", request.Method, cookie)
		}
	}
}

func TestACallThatFailsIsNotRepeatedByTheResolver(t *testing.T) {
	for name, fault := range map[string]desktest.Fault{
		"500": desktest.Status(500), "429": desktest.Status(429).With("Retry-After", "0"), "cut": desktest.HangUp,
	} {
		w := newWorld(t)
		w.desk.Always(fault)
		w.exportAndErase(t.Context(), t)
		if requests := len(w.desk.Requests()); requests != 2 {
			t.Errorf("%s: two calls made %d requests", name, requests)
		}
	}
}

func TestARedirectIsNotFollowed(t *testing.T) {
	for _, status := range []int{300, 301, 302, 303, 304, 307, 308} {
		w := newWorld(t)
		w.desk.Always(desktest.Redirect(status, w.url+"/contacts/elsewhere"))
		for method, err := range w.exportAndErase(t.Context(), t) {
			mustRetry(t, err, 0, fmt.Sprintf("%s got status %d", method, status))
		}
		requests := w.desk.Requests()
		if len(requests) != 2 || requests[0].Path != requests[1].Path {
			t.Errorf("%d was followed: %d requests", status, len(requests))
		}
		if !w.desk.Knows(zoeID) {
			t.Errorf("%d: the contact is gone", status)
		}
	}
}
