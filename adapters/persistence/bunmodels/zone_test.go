package bunmodels_test

import (
	"testing"
	"time"

	"github.com/uptrace/bun"

	"github.com/habeas-data/habeas/adapters/persistence/bunmodels"
)

type (
	inBerlin struct {
		bun.BaseModel `bun:"table:invoices"`
		ID            int64     `bun:"id,pk" subject:"id"`
		Street        string    `bun:"street" pii:"location,erasure:retain,reason:law,retain:8y,since:at,from:year_end,zone:Europe/Berlin"`
		City          string    `bun:"city" pii:"location,erasure:retain,reason:law,retain:8y,since:at,from:year_end"`
		At            time.Time `bun:"at"`
	}
	inTwoZones struct {
		bun.BaseModel `bun:"table:invoices"`
		ID            int64     `bun:"id,pk" subject:"id"`
		Street        string    `bun:"street" pii:"location,erasure:retain,reason:law,retain:8y,since:at,from:year_end,zone:Europe/Berlin"`
		City          string    `bun:"city" pii:"location,erasure:retain,reason:law,retain:8y,since:at,from:year_end,zone:UTC"`
		At            time.Time `bun:"at"`
	}
	inUnknownZone struct {
		bun.BaseModel `bun:"table:invoices"`
		ID            int64     `bun:"id,pk" subject:"id"`
		Street        string    `bun:"street" pii:"location,erasure:retain,reason:law,retain:8y,since:at,from:year_end,zone:Berlin"`
		At            time.Time `bun:"at"`
	}
	withoutYears struct {
		bun.BaseModel `bun:"table:invoices"`
		ID            int64     `bun:"id,pk" subject:"id"`
		Street        string    `bun:"street" pii:"location,erasure:retain,reason:law,retain:8y,since:at,zone:UTC"`
		At            time.Time `bun:"at"`
	}
)

func TestATagNamesTheZoneOfTheDataMap(t *testing.T) {
	m, err := bunmodels.Read(unconnected(), []any{(*inBerlin)(nil)}, nil)
	if err != nil || m.Zone() != "Europe/Berlin" {
		t.Errorf("the zone is %q: %v", m.Zone(), err)
	}
	for says, model := range map[string]any{
		"invoices.city: its pii tag has another zone": (*inTwoZones)(nil),
		"invoices.street: its pii tag has an unknown": (*inUnknownZone)(nil),
		"invoices.street: its pii tag has a zone,":    (*withoutYears)(nil),
	} {
		_, err := bunmodels.Read(unconnected(), []any{model}, nil)
		wantManifestError(t, err, says)
	}
}
