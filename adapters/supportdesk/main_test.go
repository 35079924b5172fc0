package supportdesk_test

import (
	"testing"

	"go.uber.org/goleak"
)

// No call may leave a goroutine behind. An idle connection has two goroutines, so the check also finds connections.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
