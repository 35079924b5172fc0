package httpapi_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// For random bodies with additional spaces and unknown fields, the API must find the same fields as encoding/json.
func TestTheFieldsOfABodyAreThoseOfItsJSON(t *testing.T) {
	f := newFixture(t)
	space := rapid.SampledFrom([]string{"", " ", "\t\r\n "})
	value := rapid.SampledFrom([]string{
		`null`, `true`, `-1.5e+3`, `""`, `"a,}]\\"`, `"\"},{"`, `[]`, `{}`, `[1, "]", {"x" : [ "}" ] }]`,
		`{"a,":"{","b":[[]]}`,
	})
	rapid.Check(t, func(r *rapid.T) {
		text := rapid.SampledFrom([]string{"v", "a,b", "}", `\`, `"`, "ä", "\n", `\",`, "{", "null"})
		version, purpose := text.Draw(r, "version"), text.Draw(r, "purpose")
		granted := rapid.Bool().Draw(r, "granted")
		members := []string{
			fmt.Sprintf(`"granted"%s:%s%v`, space.Draw(r, "space"), space.Draw(r, "space"), granted),
			fmt.Sprintf(`"policy_version":%s%s`, quoted(r, version), space.Draw(r, "space")),
			fmt.Sprintf(`%s"purpose":%s`, space.Draw(r, "space"), quoted(r, purpose)),
		}
		unknown := rapid.SliceOfNDistinct(rapid.StringMatching(`[xyz_]{1,3}`), 0, 3, rapid.ID).Draw(r, "unknown")
		for i, name := range unknown {
			at := 2*i + 1 // not at the end, so that the order is known
			member := fmt.Sprintf(`%q%s:%s`, name, space.Draw(r, "space"), value.Draw(r, "value"))
			members = slices.Insert(members, min(at, len(members)), member)
		}
		body := space.Draw(r, "space") + "{" + strings.Join(members, space.Draw(r, "space")+","+space.Draw(r, "space")) + "}"

		response := f.call(t, "recordConsent", jsonBody(body))
		if len(unknown) > 0 {
			var want []string
			for _, name := range unknown {
				want = append(want, name+" unknown")
			}
			if got := faults(problemOf(t, response)); response.Status != 422 || got != strings.Join(want, ", ") {
				r.Fatalf("%s: %d [%s]", body, response.Status, got)
			}
			return
		}
		if response.Status != 200 {
			r.Fatalf("%s: %d %s", body, response.Status, response.Body)
		}
		recorded := f.sessions.Consents[len(f.sessions.Consents)-1]
		if recorded.PolicyVersion != version || recorded.Purpose != purpose || recorded.Granted != granted {
			r.Fatalf("%s: recorded %+v", body, recorded)
		}
	})
}

// quoted returns a JSON string for s, in which each character may be written as an escape.
func quoted(r *rapid.T, s string) string {
	if rapid.Bool().Draw(r, "escaped") {
		return `"` + escaped(s) + `"`
	}
	text, err := json.Marshal(s)
	if err != nil {
		r.Fatal(err)
	}
	return string(text)
}
