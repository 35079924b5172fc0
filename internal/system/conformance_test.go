package system_test

import (
	"testing"

	"github.com/habeas-data/habeas/internal/system"
	"github.com/habeas-data/habeas/ports"
	"github.com/habeas-data/habeas/ports/porttest"
)

func TestConformance(t *testing.T) {
	porttest.TestIDSource(t, func() ports.IDSource { return &system.IDs{} })
}
