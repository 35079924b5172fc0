package supportdesk_test

import (
	"context"
	"net/url"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/habeas-data/habeas/adapters/supportdesk/desktest"
)

func TestInvalidContactIDsAreRefusedBeforeAnyRequest(t *testing.T) {
	w := newWorld(t)
	for _, id := range []string{"", ".", "..", "a\nb", "\n", "a\x00", "\x7f", "\u0085", "a\xffb", "\xed\xa0\x80"} {
		_, err := w.ExportSubject(t.Context(), ref(id))
		mustBeFinal(t, err, "not a valid contact id")
		_, err = w.EraseSubject(t.Context(), ref(id), entry)
		mustBeFinal(t, err, "not a valid contact id")
	}
	if requests := w.desk.Requests(); len(requests) > 0 {
		t.Errorf("%d requests were made, the first to %q", len(requests), requests[0].Path)
	}
}

// oneSegment checks all requests of the desk except the first n. The path of each request must be the path of the
// search, or /contacts/ and then the id as one segment.
func oneSegment(t rapid.TB, desk *desktest.Desk, n int, id string) {
	t.Helper()
	requests := desk.Requests()[n:]
	for _, request := range requests {
		if request.Path == "/conversations/search" {
			continue
		}
		segment, ok := strings.CutPrefix(request.Path, "/contacts/")
		unescaped, err := url.PathUnescape(segment)
		if !ok || strings.Contains(segment, "/") || err != nil || unescaped != id || request.Query != "" {
			t.Errorf("%q went to %s %s?%s", id, request.Method, request.Path, request.Query)
		}
	}
	if len(requests) == 0 {
		t.Errorf("%q was not refused, and no request was made", id)
	}
}

func TestEveryOtherIDIsOneSegment(t *testing.T) {
	w := newWorld(t)
	for _, id := range []string{
		"a/b", "a?b", "a#b", "%2e%2e", "%2E", "%00", "%", "%zz", "...", ". .", "a b", " ", "a+b", "a;b=c", "a:b", "//", "/",
		"/..",
		"../conversations/search", "a/../b", `a\b`, "{id}", "{}", "ü", "日本", "\u2028", "search", strings.Repeat("x", 10_000),
		strings.Repeat("/", 10_000),
		"http://elsewhere.example/", "@elsewhere.example", "a&b", "*", `"quoted"`, "<b>",
	} {
		before := len(w.desk.Requests())
		w.desk.Add(desktest.Contact{ID: id, Name: id}, conversation("700"))
		records, err := w.ExportSubject(t.Context(), ref(id))
		if err != nil {
			t.Errorf("%.40q: ExportSubject failed: %v", id, err)
		} else if got := values(records)["contact.name"]; got != id || len(records) != 4 {
			t.Errorf("%.40q was exported as %.40q, with %d records", id, got, len(records))
		}
		if absent, err := w.EraseSubject(t.Context(), ref(id), entry); absent || err != nil {
			t.Errorf("%.40q: EraseSubject = %v, %v", id, absent, err)
		}
		oneSegment(t, w.desk, before, id)
	}
	if !w.desk.Knows(zoeID) {
		t.Error("another contact was deleted")
	}
}

func TestAnyIDIsRefusedOrOneSegment(t *testing.T) {
	w := newWorld(t)
	id := rapid.OneOf(
		rapid.String(),
		rapid.Map(rapid.SliceOf(rapid.Byte()), func(bytes []byte) string { return string(bytes) }),
		rapid.Map(rapid.SliceOf(rapid.SampledFrom([]string{
			".", "..", "/", `\`, "%2e", "%2f", "%", "?", "#", ":", "@", ";", "&", "+", " ", "{", "}", "a", "ä", "\r\n", "\x00",
			"contacts",
		})), func(parts []string) string { return strings.Join(parts, "") }),
	)
	rapid.Check(t, func(t *rapid.T) {
		id := id.Draw(t, "id")
		before := len(w.desk.Requests())
		_, exported := w.ExportSubject(context.Background(), ref(id))
		_, erased := w.EraseSubject(context.Background(), ref(id), entry)
		refused := id == "" || id == "." || id == ".." || !utf8.ValidString(id) || strings.ContainsFunc(id, unicode.IsControl)
		if (exported != nil) != refused || (erased != nil) != refused {
			t.Fatalf("%q: ExportSubject = %v, EraseSubject = %v", id, exported, erased)
		}
		if refused {
			if made := len(w.desk.Requests()) - before; made > 0 {
				t.Fatalf("%q was refused after %d requests", id, made)
			}
			return
		}
		oneSegment(t, w.desk, before, id)
	})
}
