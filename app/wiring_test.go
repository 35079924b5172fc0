package app_test

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"

	"github.com/uptrace/bun"

	"github.com/habeas-data/habeas/app"
	"github.com/habeas-data/habeas/internal/tests/databases"
	"github.com/habeas-data/habeas/internal/tests/shop"
)

type Visit struct {
	bun.BaseModel `bun:"table:visits"`
	ID            int64          `bun:"id,pk"`
	CustomerID    int64          `bun:"customer_id"`
	Customer      *shop.Customer `bun:"rel:belongs-to,join:customer_id=id" subject:"path"`
	HostID        int64          `bun:"host_id"`
	Host          *shop.Customer `bun:"rel:belongs-to,join:host_id=id"`
}

func TestTablesWithoutAPathAreLoggedAtStartUp(t *testing.T) {
	var log bytes.Buffer
	_, err := app.New(app.Config{
		DB: databases.SQLite(t), Models: append(models, (*Visit)(nil)), Logger: slog.New(slog.NewTextHandler(&log, nil)),
	})
	must(t, err)
	lines := strings.Split(strings.TrimSpace(log.String()), "\n")
	if len(lines) != 1 || !strings.Contains(lines[0], "level=WARN") ||
		!strings.Contains(lines[0], "table=visits column=host_id") {
		t.Errorf("logged %q", lines)
	}
}
