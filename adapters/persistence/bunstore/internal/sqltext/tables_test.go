package sqltext

import "testing"

// A replacement is not filled in again. It may be a name of the application that contains braces.
func TestOnlyTheNamesOfAStatementAreFilledIn(t *testing.T) {
	got := Tables{Consents: "c"}.fill(`
		SELECT '{}', "{" FROM {consents} WHERE {name} ~ '^[0-9]{4}$' AND {other} = {name}`, "name", `"{consents}"`)
	const want = `SELECT '{}', "{" FROM c WHERE "{consents}" ~ '^[0-9]{4}$' AND {other} = "{consents}"`
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
