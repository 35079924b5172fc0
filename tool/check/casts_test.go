package check_test

import (
	"testing"

	"github.com/habeas-data/habeas/domain/datamap"
)

var castCases = cases{
	"surrogate-cast": {
		viewing("u.email::integer"), []string{"surrogate-cast users.email mails"},
	},
	"surrogate-cast in brackets": {
		viewing("(email)::date"), []string{"surrogate-cast users.email mails"},
	},
	"surrogate-cast not of a text":                {viewing("email::character varying(9)"), nil},
	"surrogate-cast not of another column":        {viewing("theme::integer, some_email::integer"), nil},
	"surrogate-cast not of a column that is NULL": {viewing("nick::integer"), nil},
	"surrogate-cast of a generated column": {
		both(fixed("gone"), generated("(theme)::bigint")), []string{"surrogate-cast users.theme computed"},
	},
}

// viewing adds a view of users with the expression.
func viewing(expression string) func(*world) {
	return func(w *world) {
		w.catalog.Tables = append(w.catalog.Tables, datamap.CatalogTable{
			Name: "mails", Kind: datamap.KindView, Reads: []string{"users"}, Rows: -1,
			Definition: " SELECT id, " + expression + " AS x FROM users u;",
		})
	}
}

// fixed gives theme of users a surrogate.
func fixed(surrogate string) func(*world) {
	return func(w *world) {
		w.field("users", "theme").Personal, w.field("users", "theme").Surrogate = personal(anonymize), surrogate
	}
}

// generated adds a generated column to users.
func generated(expression string) func(*world) {
	return func(w *world) {
		live := w.live("users")
		live.Columns = append(live.Columns, datamap.CatalogColumn{
			Name: "computed", Type: datamap.TypeBigInt, Declared: "bigint", Generated: true, Expression: expression,
		})
	}
}

// The severity of these findings depends on whether lint can prove that an erasure fails.
func TestAFailureThatLintCanProveIsAnError(t *testing.T) {
	for name, test := range map[string]struct {
		change func(*world)
		want   datamap.Severity
	}{
		"a number that no text is": {both(fixed("gone"), generated("(theme)::bigint")), datamap.SeverityError},
		"a number that the text may be": {
			both(fixed("0x10"), generated("(theme)::bigint")), datamap.SeverityWarning,
		},
		"a number of a part of the text": {
			both(fixed("gone"), generated("COALESCE((theme)::bigint, 0)")), datamap.SeverityWarning,
		},
		"a text with random digits": {generated("(email)::numeric"), datamap.SeverityError},
		"an empty date": {
			both(fixed(datamap.EmptySurrogate), generated("(theme)::date")), datamap.SeverityError,
		},
		"a date": {both(fixed("gone"), generated("(theme)::date")), datamap.SeverityWarning},
	} {
		w := newWorld()
		test.change(w)
		if found := w.findings(t); len(found) != 1 || found[0].Severity != test.want {
			t.Errorf("%s: got %v, want one %s", name, found, test.want)
		}
	}
}
