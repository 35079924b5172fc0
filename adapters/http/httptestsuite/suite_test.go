package httptestsuite

import (
	"flag"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/habeas-data/habeas/adapters/http/httpapi"
	"github.com/habeas-data/habeas/adapters/http/nethttp"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/internal/tests/promise"
)

var update = flag.Bool("update", false, "write the golden files instead of comparing with them")

// serving returns the harness of package nethttp. The middleware wrap processes each request before the handler of
// nethttp.
func serving(wrap func(http.Handler) http.Handler) Harness {
	return Harness{crowd: 40, Serve: func(t testing.TB, api *httpapi.API, prefix string) string {
		t.Helper()
		subject := func(r *http.Request) (domain.Subject, error) { return Subject(r.Header.Get) }
		server := httptest.NewUnstartedServer(wrap(nethttp.Handler(prefix, api, subject)))
		server.Config.ErrorLog = log.New(io.Discard, "", 0) // defects cause log entries
		server.Start()
		t.Cleanup(server.Close)
		return server.URL
	}}
}

func unchanged(h http.Handler) http.Handler { return h }

func TestASoundAdapterPasses(t *testing.T) {
	harness := serving(unchanged)
	if *update {
		harness.golden = func(name, body string) {
			require(t, os.WriteFile(filepath.Join("testdata", name+".json"), []byte(body), 0o600))
		}
	}
	Test(t, harness)
}

// Each golden file must be used by a case.
func TestNoGoldenFileIsLeftOver(t *testing.T) {
	used := map[string]bool{}
	harness := serving(unchanged)
	harness.golden = func(name, _ string) { used[name+".json"] = true }
	for _, p := range promises {
		if !p.IsIn(slow) { // slow checks have no golden files
			promise.Watch(t, func(t testing.TB) { p.Check(t, harness) })
		}
	}
	files, err := testdata.ReadDir("testdata")
	require(t, err)
	for _, file := range files {
		if !used[file.Name()] {
			t.Errorf("%s is not used by a case", file.Name())
		}
	}
	if len(used) != len(files) {
		t.Errorf("%d golden files for %d responses", len(files), len(used))
	}
}

func TestTheTableOfPromisesIsThatOfTheSuite(t *testing.T) {
	table := &strings.Builder{}
	fmt.Fprint(table, "# Promises\n\nMade by `go test ./adapters/http/httptestsuite -run TheTable -update`.\n")
	promise.Table(t, table, map[string]bool{}, "Test", "", promises)
	if *update {
		require(t, os.WriteFile("promises.md", []byte(table.String()), 0o600))
	}
	text, err := os.ReadFile("promises.md")
	if err != nil || string(text) != table.String() {
		t.Errorf("promises.md is not the table of the suite: %v", err)
	}
}

func TestACaseThatIsWaivedIsSkippedWithItsReason(t *testing.T) {
	harness := serving(unchanged)
	waive := map[string]string{promises[0].Name(): "its framework has no bodies"}
	waived := promise.Watch(t, func(t testing.TB) { promises[0].Hold(t, harness, waive) })
	if !strings.Contains(waived.SkippedBy(), "no bodies") {
		t.Errorf("skipped with %q", waived.SkippedBy())
	}
	if other := promise.Watch(t, func(t testing.TB) { promises[1].Hold(t, harness, waive) }); other.Skipped() {
		t.Errorf("skipped with %q", other.SkippedBy())
	}
}

func TestAHarnessThatIsWrongFails(t *testing.T) {
	serve, ofNothing := serving(unchanged).Serve, map[string]string{"of nothing": "because"}
	for name, test := range map[string]struct {
		harness Harness
		want    string
	}{
		"without Serve":        {Harness{}, "Serve is required"},
		"unknown waiver":       {Harness{Serve: serve, Waive: ofNothing}, `"of nothing", which is no case`},
		"waiver for no reason": {Harness{Serve: serve, Waive: map[string]string{promises[0].Name(): ""}}, "without a reason"},
	} {
		checked := promise.Watch(t, func(t testing.TB) { test.harness.check(t) })
		if !strings.Contains(checked.Failures(), test.want) {
			t.Errorf("%s: %q", name, checked.Failures())
		}
	}
	sound := serving(unchanged)
	sound.Waive = map[string]string{promises[0].Name(): "because"}
	if got := promise.Watch(t, func(t testing.TB) { sound.check(t) }).Failures(); got != "" {
		t.Errorf("a sound harness fails: %s", got)
	}
	withPath := Harness{
		Serve: func(t testing.TB, api *httpapi.API, prefix string) string { return serve(t, api, prefix) + "/me" },
	}
	got := promise.Watch(t, func(t testing.TB) { withPath.open(t) }).Failures()
	if !strings.Contains(got, "Serve must return") {
		t.Errorf("a URL with a path is accepted: %s", got)
	}
}
