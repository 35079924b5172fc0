package supportdesk_test

import (
	"testing"

	"go.uber.org/goleak"
)

// A test fails if a call leaves a goroutine behind. An idle HTTP connection has two goroutines, so this check also
// finds connections that were not closed.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
