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
)

var update = flag.Bool("update", false, "write the golden files instead of comparing with them")

// serving is the harness of package nethttp, with something between its handler and the server.
func serving(wrap func(http.Handler) http.Handler) Harness {
	return Harness{crowd: 40, Serve: func(t testing.TB, api *httpapi.API, prefix string) string {
		t.Helper()
		subject := func(r *http.Request) (domain.Subject, error) { return Subject(r.Header.Get) }
		server := httptest.NewUnstartedServer(wrap(nethttp.Handler(prefix, api, subject)))
		server.Config.ErrorLog = log.New(io.Discard, "", 0) // which defects write to
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

// Every golden file is compared with something.
func TestNoGoldenFileIsLeftOver(t *testing.T) {
	used := map[string]bool{}
	harness := serving(unchanged)
	harness.golden = func(name, _ string) { used[name+".json"] = true }
	for _, p := range promises {
		watch(t, func(t testing.TB) { p.check(t, harness) })
	}
	files, err := testdata.ReadDir("testdata")
	require(t, err)
	for _, file := range files {
		if !used[file.Name()] {
			t.Errorf("%s is compared with nothing", file.Name())
		}
	}
	if len(used) != len(files) {
		t.Errorf("%d golden files for %d answers", len(files), len(used))
	}
}

func TestTheTableOfPromisesIsThatOfTheSuite(t *testing.T) {
	table := &strings.Builder{}
	fmt.Fprint(table, "# Promises\n\nMade by `go test ./adapters/http/httptestsuite -run TheTable -update`.\n\n",
		"| case | promise |\n|---|---|\n")
	for _, p := range promises {
		fmt.Fprintf(table, "| %s | %s |\n", p.name, p.says)
	}
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
	harness.Waive = map[string]string{promises[0].name: "its framework has no bodies"}
	if waived := watch(t, func(t testing.TB) { promises[0].hold(t, harness) }); !strings.Contains(waived.skipped, "no bodies") {
		t.Errorf("skipped with %q", waived.skipped)
	}
	if other := watch(t, func(t testing.TB) { promises[1].hold(t, harness) }); other.skipped != "" {
		t.Errorf("skipped with %q", other.skipped)
	}
}

func TestAHarnessThatIsWrongFails(t *testing.T) {
	serve := serving(unchanged).Serve
	for name, test := range map[string]struct {
		harness Harness
		want    string
	}{
		"without Serve":        {Harness{}, "Serve is required"},
		"unknown waiver":       {Harness{Serve: serve, Waive: map[string]string{"of nothing": "because"}}, `no case "of nothing"`},
		"waiver for no reason": {Harness{Serve: serve, Waive: map[string]string{promises[0].name: ""}}, "without a reason"},
	} {
		checked := watch(t, func(t testing.TB) { test.harness.check(t) })
		if !strings.Contains(checked.text(), test.want) {
			t.Errorf("%s: %q", name, checked.text())
		}
	}
	sound := serving(unchanged)
	sound.Waive = map[string]string{promises[0].name: "because"}
	if got := watch(t, func(t testing.TB) { sound.check(t) }).text(); got != "" {
		t.Errorf("a sound harness fails: %s", got)
	}
	withPath := Harness{Serve: func(t testing.TB, api *httpapi.API, prefix string) string { return serve(t, api, prefix) + "/me" }}
	if got := watch(t, func(t testing.TB) { withPath.open(t) }).text(); !strings.Contains(got, "Serve must return") {
		t.Errorf("a URL with a path is taken: %s", got)
	}
}
