package porttest

import (
	"strings"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
)

// cellDefects returns stores whose erasure overwrites a cell with a value that a rule of its column forbids.
func cellDefects() defects {
	hex := strings.Repeat("0123456789abcdef", 2)
	return defects{
		"a surrogate where NULL is asked for": {overwritesWith("people", "mobile", "anon-"+hex), found{
			"people.mobile is string, want NULL":                        {subjectCellsAreSetToNULL},
			"the value of people.mobile is not NULL":                    {subjectSurrogatesFitTheirColumns},
			"a cell of people.mobile has the same surrogate as a cell ": {subjectSurrogatesAreUnique},
		}},
		"two quotes for the empty text": {overwritesWith("people", "motto", datamap.EmptySurrogate), found{
			"people.motto is not the empty text but a string": {subjectSurrogatesCanBeEmpty},
			"the value of people.motto is not a surrogate":    {subjectSurrogatesFitTheirColumns},
		}},
		"NULL for the empty text": {changesRows(func(table string, row Row) {
			if table == "people" && row["motto"] == "" {
				row["motto"] = nil
			}
		}), found{
			"people.motto is not the empty text but a <nil>": {subjectSurrogatesCanBeEmpty},
			"the value of people.motto is not a surrogate":   {subjectSurrogatesFitTheirColumns},
		}},
		"a placeholder that is left": {overwritesWith("people", "login", "{}@erased.invalid"), found{
			"people.login is not its constant with digits": {subjectPlaceholdersAreFilled},
			"the value of people.login is not a surrogate": {subjectSurrogatesFitTheirColumns},
		}},
		"one filling for all": {overwritesWith("people", "login", hex+"@erased.invalid"), found{
			"people.login has the digits of another cell": {subjectPlaceholdersAreFilled},
		}},
		"a filling that is not cut": {changesRows(func(_ string, row Row) {
			if badge, ok := row["badge"].(string); ok && strings.HasPrefix(badge, "b-") {
				row["badge"] = badge + "0"
			}
		}), found{
			"people.badge is not its constant with digits": {subjectPlaceholdersAreFilled},
			"the value of people.badge is too long":        {subjectSurrogatesFitTheirColumns},
		}},
		"a secret in the export": {changesExport(func(records []domain.ExportRecord) []domain.ExportRecord {
			for i, record := range records {
				if record.Field == "email" {
					record.Field = "password_hash"
					return append(records[:i:i], append([]domain.ExportRecord{record}, records[i:]...)...)
				}
			}
			return records
		}), found{
			"people.password_hash is exported although the data map says export:no": {subjectExportOmitsSecrets},
			"the export of customer": {subjectExportIsComplete},
			"want people.email of":   {subjectExportIsInOrder},
			"including NULL values":  {subjectExportHasNULLAsNil},
		}},
		"a secret that stays": {changesRows(func(table string, row Row) {
			if table == "people" && anonymous(row["password_hash"]) {
				row["password_hash"] = "right"
			}
		}), found{
			"people.password_hash is not exported, and not erased either":     {subjectExportOmitsSecrets},
			"the value of people.password_hash is not a surrogate":            {subjectSurrogatesFitTheirColumns},
			"a cell of people.password_hash has the same surrogate as a cell": {subjectSurrogatesAreUnique},
		}},
	}
}
