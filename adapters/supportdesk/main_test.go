package supportdesk_test

import (
	"testing"

	"go.uber.org/goleak"
)

// No call may leave a goroutine behind, and an idle connection is two.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
