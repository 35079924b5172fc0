package ledger

import (
	"testing"
	"unsafe"

	"github.com/habeas-data/habeas/internal/tests/fixture"
)

// A lookup that waits for a batch must copy its strings. The batch may run after the context of its caller has ended,
// and the caller may then reuse the memory of the strings.
func TestAWaitingLookupCopiesItsStrings(t *testing.T) {
	memory := []byte("news")
	text := unsafe.String(&memory[0], len(memory))
	id := fixture.MustID(t, text)
	q := &lookup{subject: id, purpose: text}
	if err := q.keep(); err != nil {
		t.Fatal(err)
	}
	copy(memory, "xxxx")
	if q.subject.String() != "news" || q.purpose != "news" || q.pair != `["news","news"]` {
		t.Errorf("it became %+v", q)
	}
}
