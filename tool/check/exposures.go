package check

import (
	"strings"

	"github.com/habeas-data/habeas/domain/datamap"
)

// exposureRules has the rule, the reason and the remedy of each kind of exposure. {by} is the role or the trigger, and
// {tables} are the tables.
var exposureRules = map[datamap.ExposureKind]struct{ code, reason, remedy string }{
	datamap.ExposureOwned: {
		"own-tables-owned",
		"The role of the connection, {by}, owns or may own tables of habeas: {tables}. It can remove the triggers that " +
			"protect the trail and the ledgers, and change their rows.",
		"Let a role that the application does not use own the tables and run Migrate. Grant the application what " +
			"habeas privileges prints.",
	},
	datamap.ExposureOwner: {
		"own-tables-owner",
		"The role {by} owns these tables of habeas, and another role owns the rest: {tables}. The owner of a table can " +
			"read and change its rows, and run code of its own at each statement.",
		"Change the owner of the tables with ALTER TABLE … OWNER TO, after you have found out who made them.",
	},
	datamap.ExposureGranted: {
		"own-tables-granted",
		"The role {by} has TRIGGER, TRUNCATE or REFERENCES on tables of habeas: {tables}. It can then run code of its own " +
			"at the statements of habeas, or make them fail.",
		"Revoke TRIGGER, TRUNCATE and REFERENCES on the tables. habeas needs none of them.",
	},
	datamap.ExposureCreate: {
		"own-schema-open",
		"The role {by} can create objects in the schema of these tables of habeas: {tables}.",
		"Revoke CREATE on the schema, or move the tables to a schema of their own.",
	},
	datamap.ExposureTrigger: {
		"own-table-trigger",
		"habeas did not create the trigger or the rule {by}, which runs at statements on these tables of habeas: {tables}.",
		"Drop it, unless it is yours. Then accept the finding.",
	},
}

// checkExposures reports how other roles and code of others reach the tables of habeas.
func (s *schema) checkExposures() {
	for _, found := range s.catalog.Exposures {
		rule := exposureRules[found.Kind]
		s.report(rule.code, place{table: found.Tables[0], object: found.By},
			strings.NewReplacer("{by}", found.By, "{tables}", list(found.Tables)).Replace(rule.reason), rule.remedy)
	}
}
