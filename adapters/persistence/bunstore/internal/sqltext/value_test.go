package sqltext

import "testing"

func TestTheTextOfNULLIsEmpty(t *testing.T) {
	if got := Text(nil); got != "" {
		t.Errorf("got %q", got)
	}
}
