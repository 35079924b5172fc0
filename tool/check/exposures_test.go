package check_test

import "github.com/habeas-data/habeas/domain/datamap"

func exposed(kind datamap.ExposureKind) func(*world) {
	return func(w *world) {
		w.catalog.Exposures = []datamap.Exposure{
			{Kind: kind, Tables: []string{"habeas_audit_events", "habeas_outbox"}, By: "mallory"},
		}
	}
}

var exposureCases = cases{
	"own-tables-owned":                 {exposed("owned"), []string{"own-tables-owned habeas_audit_events mallory"}},
	"own-tables-owned not if others":   {exposed("owner"), []string{"own-tables-owner habeas_audit_events mallory"}},
	"own-tables-owner not of a grant":  {exposed("granted"), []string{"own-tables-granted habeas_audit_events mallory"}},
	"own-tables-granted not of CREATE": {exposed("create"), []string{"own-schema-open habeas_audit_events mallory"}},
	"own-schema-open not of a trigger": {exposed("trigger"), []string{"own-table-trigger habeas_audit_events mallory"}},
	"own-table-trigger not by itself":  {func(*world) {}, nil},
}
