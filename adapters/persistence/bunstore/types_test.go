package bunstore_test

import (
	"database/sql/driver"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect/pgdialect"
)

type person struct {
	bun.BaseModel `bun:"table:people"`
	ID            int64 `bun:"id,pk" subject:"id"`
}

// Custom types of an application.
type (
	nickname    string
	preferences struct{ Theme string }
	enveloped   string // encodes its values itself, like an encrypted column
)

func (s enveloped) Value() (driver.Value, error) { return "sealed:" + string(s), nil }

func (s *enveloped) Scan(value any) error {
	text, _ := value.(string)
	inner, ok := strings.CutPrefix(text, "sealed:")
	if !ok {
		return errors.New("not sealed")
	}
	*s = enveloped(inner)
	return nil
}

// unconnected returns a database handle without a connection, which is sufficient to read models.
func unconnected() *bun.DB { return bun.NewDB(nil, pgdialect.New()) }

func mustJSON(t testing.TB, value any) string {
	t.Helper()
	text, err := json.Marshal(value)
	must(t, err)
	return string(text)
}
