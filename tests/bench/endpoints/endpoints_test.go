package endpoints

import (
	"bufio"
	"bytes"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/habeas-data/habeas/tests/bench/load"
)

func TestRequestsAreWhatTheySeem(t *testing.T) {
	want := map[string]string{
		"consent_post": "POST /me/consent", "consent_get": "GET /me/consent/newsletter",
		"export": "GET /me/export", "erase": "DELETE /me",
	}
	for _, endpoint := range All() {
		// The text contains two requests, one after the other. The second request can be read only if the Content-Length of
		// the first request is correct.
		text := endpoint.append(endpoint.append(nil, 42), 43)
		reader := bufio.NewReader(bytes.NewReader(text))
		for _, user := range []string{"42", "43"} {
			request, err := http.ReadRequest(reader)
			if err != nil {
				t.Fatalf("%s: %v", endpoint.Name, err)
			}
			if got := request.Method + " " + request.URL.Path; got != want[endpoint.Name] {
				t.Errorf("%s: %s", endpoint.Name, got)
			}
			if got := request.Header.Get("Authorization"); got != "Bearer "+user {
				t.Errorf("%s: authorization %q", endpoint.Name, got)
			}
			if _, err := io.Copy(io.Discard, request.Body); err != nil {
				t.Errorf("%s: %v", endpoint.Name, err)
			}
		}
		if written[endpoint.Name] == nil {
			t.Errorf("nothing says what %s writes", endpoint.Name)
		}
	}
}

func all(requests load.Requests, atMost int) (lines []string) {
	for range atMost {
		request, more := requests(nil)
		if !more {
			break
		}
		lines = append(lines, string(request))
	}
	return lines
}

func TestAUserIsConsumedOnce(t *testing.T) {
	erase := All()[3]
	run := erase.requests(span{11, 30}, 1)
	seen := map[string]bool{}
	for _, request := range append(all(run(0), 5), all(run(1), 100)...) {
		seen[request] = true
	}
	if len(seen) != 20 {
		t.Errorf("%d different requests, want 20", len(seen))
	}
	for user := int64(11); user <= 30; user++ {
		if !seen[string(erase.append(nil, user))] {
			t.Errorf("user %d was not asked for", user)
		}
	}
}

func TestBothSidesGetTheSameRequests(t *testing.T) {
	for _, endpoint := range All() {
		one := all(endpoint.requests(span{1, 1000}, 7)(3), 50)
		two := all(endpoint.requests(span{1, 1000}, 7)(3), 50)
		if strings.Join(one, "") != strings.Join(two, "") {
			t.Errorf("%s: the same seed made different requests", endpoint.Name)
		}
		if other := all(endpoint.requests(span{1, 1000}, 8)(3), 50); strings.Join(one, "") == strings.Join(other, "") {
			t.Errorf("%s: the seed makes no difference", endpoint.Name)
		}
	}
}

func TestRowsThatAreMissingOrTooManyAreFound(t *testing.T) {
	before := rows{"consent records": 10, "consent_granted": 4, "users": 5}
	completed := map[string]int{"consent_post": 3, "consent_get": 9, "export": 2}
	right := func() rows {
		return rows{
			"consent records": 13, "consent_granted": 7, "users": 5, "export_requested": 2, "export_completed": 2,
		}
	}
	if err := verify(before, right(), completed); err != nil {
		t.Error(err)
	}
	for name, change := range map[string]int64{
		"consent records": -1, "consent_granted": +1, "users": -1, "export_completed": -2, "erasure_requested": 1,
	} {
		wrong := right()
		wrong[name] += change
		if err := verify(before, wrong, completed); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: error = %v", name, err)
		}
	}
}
