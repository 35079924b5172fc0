package datamap_test

import (
	"testing"

	"github.com/habeas-data/habeas/domain/datamap"
)

var (
	missing = datamap.Finding{
		Code: "column-missing", Severity: datamap.SeverityError, Table: "users", Column: "email",
		Reason: "The database lacks the column. An erasure fails.", Remedy: "Add the column.",
	}
	unindexed = datamap.Finding{
		Code: "index-missing", Severity: datamap.SeverityWarning, Table: "orders", Reason: "No index.", Remedy: "Add one.",
	}
)

func TestAFindingIsOneLine(t *testing.T) {
	for want, finding := range map[string]datamap.Finding{
		"error column-missing: users.email: The database lacks the column. An erasure fails. Add the column.": missing,
		"warning index-missing: orders: No index. Add one.":                                                   unindexed,
		"warning index-missing: No index. Add one.": {
			Code: "index-missing", Severity: datamap.SeverityWarning, Reason: "No index.", Remedy: "Add one.",
		},
	} {
		if got := finding.String(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
