package ledger

import (
	"testing"
	"unsafe"
)

// After a call, the caller may reuse the memory of its strings. Rows that stay in the buffer must therefore hold
// copies.
func TestRowsThatWaitAreCopied(t *testing.T) {
	memory := []byte("news")
	text := unsafe.String(&memory[0], len(memory))
	var held UnsentRows
	row := []any{text, true}
	held[Consents] = [][]any{row}
	if err := held.copyStrings(); err != nil {
		t.Fatal(err)
	}
	copy(memory, "xxxx")
	row[1] = false // a later attempt of the caller changes its row
	if held[Consents][0][0] != "news" || held[Consents][0][1] != true {
		t.Errorf("the buffered row became %v", held[Consents][0])
	}
}
