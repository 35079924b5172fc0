package conformance_test

import (
	"testing"

	"github.com/habeas-data/habeas/internal/tests/postgres"
)

func TestMain(m *testing.M) { postgres.Main(m) }
