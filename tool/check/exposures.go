package check

import (
	"strings"

	"github.com/habeas-data/habeas/domain/datamap"
)

// exposureRules has the rule of each kind of exposure. In its reason, {by} is the role or the trigger, and {tables} are
// the tables.
var exposureRules = map[datamap.ExposureKind]string{
	datamap.ExposureOwned:   "own-tables-owned",
	datamap.ExposureOwner:   "own-tables-owner",
	datamap.ExposureGranted: "own-tables-granted",
	datamap.ExposureCreate:  "own-schema-open",
	datamap.ExposureTrigger: "own-table-trigger",
}

// checkExposures reports how other roles and code of others reach the tables of habeas.
func (s *schema) checkExposures() {
	for _, found := range s.catalog.Exposures {
		code := exposureRules[found.Kind]
		s.report(code, place{table: found.Tables[0], object: found.By},
			strings.NewReplacer("{by}", found.By, "{tables}", list(found.Tables)).Replace(rules[indexOf(code)].texts[0]))
	}
}
