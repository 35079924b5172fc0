package datamap_test

import (
	"errors"
	"testing"

	"github.com/habeas-data/habeas/domain"
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

func TestFindingsThatAreErrorsAreAnError(t *testing.T) {
	if err := datamap.Errors([]datamap.Finding{unindexed}); err != nil {
		t.Errorf("warnings are %v", err)
	}
	err := datamap.Errors([]datamap.Finding{unindexed, missing})
	wantCode(t, err, domain.ErrManifest)
	const want = "habeas: check: users.email: column-missing: The database lacks the column. An erasure fails; " +
		"Add the column."
	if err.Error() != want {
		t.Errorf("got %q, want %q", err, want)
	}
	problems := domain.Problems(err)
	if len(problems) != 1 || problems[0].Where() != "users.email" || problems[0].Remedy != "Add the column." {
		t.Errorf("got %+v", problems)
	}
	if err := datamap.Errors([]datamap.Finding{missing, missing}); !errors.Is(err, domain.ErrManifest) ||
		len(domain.Problems(err)) != 2 {
		t.Errorf("two errors are %v", err)
	}
}
