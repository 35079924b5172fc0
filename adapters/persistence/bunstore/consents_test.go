package bunstore

import (
	"testing"
	"unsafe"

	"github.com/habeas-data/habeas/domain"
)

// A batch may run after the context of a caller has ended. The caller may then reuse the memory of its strings.
func TestAWaitingLookupCopiesItsStrings(t *testing.T) {
	memory := []byte("news")
	text := unsafe.String(&memory[0], len(memory))
	id, err := domain.NewSubjectID(text)
	if err != nil {
		t.Fatal(err)
	}
	q := &lookup{subject: id, purpose: text}
	if err := q.keep(); err != nil {
		t.Fatal(err)
	}
	copy(memory, "xxxx")
	if q.subject.String() != "news" || q.purpose != "news" || q.pair != `["news","news"]` {
		t.Errorf("it became %+v", q)
	}
}
