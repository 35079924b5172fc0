package bunstore

import (
	"testing"
	"unsafe"

	"github.com/habeas-data/habeas/domain"
)

// What waits outlives a caller who gives up, and whose texts may lie in memory that is used again.
func TestTextsThatWaitAreCopied(t *testing.T) {
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
