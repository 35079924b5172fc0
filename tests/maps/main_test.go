// Package maps tests two data maps in one database: customers and employees with equal ids.
package maps

import (
	"testing"

	"github.com/habeas-data/habeas/internal/tests/postgres"
)

func TestMain(m *testing.M) { postgres.Main(m) }
