package sqltext

import (
	"testing"
	"unsafe"
)

// Held rows outlive a caller that gives up. The caller may reuse the memory of their texts.
func TestRowsThatWaitAreCopied(t *testing.T) {
	memory := []byte("news")
	text := unsafe.String(&memory[0], len(memory))
	var held Appends
	row := []any{text, true}
	held[Consents] = [][]any{row}
	if err := held.Keep(); err != nil {
		t.Fatal(err)
	}
	copy(memory, "xxxx")
	row[1] = false // by a later attempt
	if held[Consents][0][0] != "news" || held[Consents][0][1] != true {
		t.Errorf("it became %v", held[Consents][0])
	}
}
