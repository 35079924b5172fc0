package maps

import (
	"testing"

	"github.com/uptrace/bun"

	"github.com/habeas-data/habeas/app"
	"github.com/habeas-data/habeas/internal/tests/databases"
)

func TestHealthAndStatusNameTheirDataMap(t *testing.T) {
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		w := newWorld(t, db)
		for name, gdpr := range map[string]*app.Integration{"": w.shop, "staff": w.people} {
			status, err := gdpr.Operator().Status(t.Context())
			must(t, err)
			if health := gdpr.Health(t.Context()); health.Map != name || status.Map != name {
				t.Errorf("the health of %q is of %q, and the status of %q", name, health.Map, status.Map)
			}
		}
	})
}
