package syntax

import "testing"

// The text that replaces a placeholder may contain braces, for example in a name of the application. Fill must not
// replace these braces.
func TestOnlyTheNamesOfAStatementAreFilledIn(t *testing.T) {
	got := Tables{Consents: "c"}.Fill(`
		SELECT '{}', "{" FROM {consents} WHERE {name} ~ '^[0-9]{4}$' AND {other} = {name}`, "name", `"{consents}"`)
	const want = `SELECT '{}', "{" FROM c WHERE "{consents}" ~ '^[0-9]{4}$' AND {other} = "{consents}"`
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
