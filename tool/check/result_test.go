package check_test

import (
	"errors"
	"testing"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/tool/check"
)

func TestFindingsThatAreErrorsAreAnError(t *testing.T) {
	missing := datamap.Finding{
		Code: "column-missing", Severity: datamap.SeverityError, Table: "users", Column: "email",
		Reason: "The database lacks the column. An erasure fails.", Remedy: "Add the column.",
	}
	unindexed := datamap.Finding{
		Code: "index-missing", Severity: datamap.SeverityWarning, Table: "orders", Reason: "No index.", Remedy: "Add one.",
	}
	if err := check.Errors([]datamap.Finding{unindexed}); err != nil {
		t.Errorf("warnings are %v", err)
	}
	err := check.Errors([]datamap.Finding{unindexed, missing})
	if !errors.Is(err, domain.ErrManifest) {
		t.Fatalf("got %v, want domain.ErrManifest", err)
	}
	const want = "habeas: check: users.email: column-missing: The database lacks the column. An erasure fails; " +
		"Add the column."
	if err.Error() != want {
		t.Errorf("got %q, want %q", err, want)
	}
	problems := domain.Problems(err)
	if len(problems) != 1 || problems[0].Where() != "users.email" || problems[0].Remedy != "Add the column." {
		t.Errorf("got %+v", problems)
	}
	if err := check.Errors([]datamap.Finding{missing, missing}); !errors.Is(err, domain.ErrManifest) ||
		len(domain.Problems(err)) != 2 {
		t.Errorf("two errors are %v", err)
	}
}
