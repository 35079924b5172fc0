package endpoints

import (
	"bufio"
	"bytes"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/habeas-data/habeas/tests/bench/load"
	"github.com/habeas-data/habeas/tests/bench/stats"
)

func TestRequestsAreWhatTheySeem(t *testing.T) {
	want := map[string]string{
		"consent_post": "POST /me/consent", "consent_get": "GET /me/consent/newsletter",
		"export": "GET /me/export", "erase": "DELETE /me",
	}
	for _, endpoint := range All() {
		// Two, one behind the other: the first must end where it says that it does.
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

func TestPartsDoNotOverlap(t *testing.T) {
	whole := span{1, 103}
	for i := range 5 {
		if got, want := whole.part(i, 5), (span{int64(20*i + 1), int64(20*i + 20)}); got != want {
			t.Errorf("part %d = %v, want %v", i, got, want)
		}
	}
}

func TestRowsThatAreMissingOrTooManyAreFound(t *testing.T) {
	before := rows{"consent records": 10, "consent_granted": 4, "users": 5}
	answered := map[string]int{"consent_post": 3, "consent_get": 9, "export": 2}
	right := func() rows {
		return rows{
			"consent records": 13, "consent_granted": 7, "users": 5, "export_requested": 2, "export_completed": 2,
		}
	}
	if err := verify(before, right(), answered); err != nil {
		t.Error(err)
	}
	for name, change := range map[string]int64{
		"consent records": -1, "consent_granted": +1, "users": -1, "export_completed": -2, "erasure_requested": 1,
	} {
		wrong := right()
		wrong[name] += change
		if err := verify(before, wrong, answered); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: error = %v", name, err)
		}
	}
}

func result() Result {
	run := func(rate float64, p99 time.Duration) Run {
		return Run{Rate: rate, P50: time.Millisecond, P99: p99 * time.Millisecond, Server: 50 * time.Microsecond}
	}
	return Result{
		Endpoint: All()[0], Connections: 16,
		Floor:  []Run{run(100, 10), run(200, 20), run(300, 10)},
		Habeas: []Run{run(150, 10), run(200, 30), run(600, 11)},
	}
}

func TestRatiosAreThoseOfThePairs(t *testing.T) {
	r := result()
	if got, want := r.Ratio(), (stats.Spread{Median: 1.5, Min: 1, Max: 2}); got != want {
		t.Errorf("ratio = %v, want %v", got, want)
	}
	if got, want := r.Tail(), (stats.Spread{Median: 1.1, Min: 1, Max: 1.5}); got != want {
		t.Errorf("p99 ratio = %v, want %v", got, want)
	}
	if got, want := r.Noise(), (stats.Spread{Median: 1.75, Min: 1.5, Max: 2}); got != want {
		t.Errorf("noise = %v, want %v", got, want)
	}
	if got := (Result{Floor: r.Floor[:1]}).Noise(); got != (stats.Spread{}) {
		t.Errorf("noise of one run = %v", got)
	}
}

func TestTheVerdictIsForPrograms(t *testing.T) {
	alone, erase := result(), result()
	alone.Connections = 1
	erase.Endpoint, erase.Connections = All()[3], 64
	const want = "ratio consent_post 16 1.500\nratio erase 64 1.500\n"
	if got := Verdict([]Result{alone, result(), erase}); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestTheTableHasARowForEachSide(t *testing.T) {
	section := Section([]Result{result()}, Config{Pairs: 3})
	want := [][]string{
		{"POST /consent", "16", "floor", "200", "1.00", "10.00", "50", "–", "", "", "", "1.50–2.00"},
		{"POST /consent", "16", "habeas", "200", "1.00", "11.00", "50", "–", "1.50", "1.00–2.00", "1.10", ""},
	}
	if len(section.Table.Rows) != len(want) {
		t.Fatalf("rows = %q", section.Table.Rows)
	}
	for i, row := range section.Table.Rows {
		if strings.Join(row, "|") != strings.Join(want[i], "|") {
			t.Errorf("row = %q, want %q", row, want[i])
		}
	}
}
