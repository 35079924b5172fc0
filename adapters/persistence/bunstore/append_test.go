package bunstore

import (
	"errors"
	"fmt"
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
	var held appends
	row := []any{text, true}
	held[consents] = [][]any{row}
	q := &lookup{subject: id, purpose: text}
	if err := errors.Join(held.keep(), q.keep()); err != nil {
		t.Fatal(err)
	}
	copy(memory, "xxxx")
	row[1] = false // by an attempt that comes after
	if held[consents][0][0] != "news" || held[consents][0][1] != true || q.subject.String() != "news" ||
		q.purpose != "news" || q.pair != `["news","news"]` {
		t.Errorf("it became %v and %+v", held[consents][0], q)
	}
}

func TestWhatTheDatabaseRefusedIsKnown(t *testing.T) {
	for state, want := range map[string]bool{
		"23505": true, "22P05": true, "40001": true, "40P01": true, "53200": true,
		"40003": false, "08006": false, "08P01": false, "57P01": false, "57P02": false, "": false,
	} {
		if got := refused(fmt.Errorf("wrapped: %w", stateError(state))); got != want {
			t.Errorf("%q: %v", state, got)
		}
	}
}

// stateError is a driver's error with an SQLSTATE.
type stateError string

func (e stateError) Error() string    { return "an error of the database" }
func (e stateError) SQLState() string { return string(e) }
