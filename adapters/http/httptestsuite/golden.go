package httptestsuite

import (
	"embed"
	"testing"
)

// testdata has the bodies of the API's answers, which are public API. This package's own tests write them when they are
// told to.
//
//go:embed testdata/*.json
var testdata embed.FS

// exact sends a request, and checks the status of the answer and every byte of its body.
func (w *world) exact(t testing.TB, name string, status int, r request) answer {
	t.Helper()
	got := w.expect(t, status, r)
	if w.golden != nil {
		w.golden(name, got.body)
		return got
	}
	want, err := testdata.ReadFile("testdata/" + name + ".json")
	require(t, err)
	assert(t, got.body == string(want), "%s: not what %s.json has; got\n%s\nwant\n%s", r, name, got.body, want)
	return got
}
