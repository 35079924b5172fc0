package bunstore_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore"
	"github.com/habeas-data/habeas/domain"
)

// Another role creates an operator for texts with a limit, for which PostgreSQL has no operator of exactly these types.
// The operator would run its code in the comparisons of every statement, so habeas refuses the database.
func TestOperatorsOfAnotherRoleAreRefused(t *testing.T) {
	t.Parallel()
	theirs, admin, role := asRole(t)
	execute(t, admin, "GRANT CREATE ON SCHEMA public TO "+role)
	check := func() error {
		_, err := bunstore.ReadInstallation(t.Context(), admin, bunstore.Options{})
		return err
	}
	must(t, check())
	execute(t, theirs, "CREATE FUNCTION same(varchar, varchar) RETURNS boolean LANGUAGE sql AS 'SELECT TRUE'",
		"CREATE OPERATOR = (LEFTARG = varchar, RIGHTARG = varchar, FUNCTION = same)")
	if err := check(); !errors.Is(err, domain.ErrConfiguration) || !strings.Contains(err.Error(), "operators") {
		t.Errorf("got %v", err)
	}
	execute(t, theirs, "DROP OPERATOR = (varchar, varchar)")
	must(t, check())
}
