package check

import "strings"

// edits are the edits of a data map that remedies name in braces, such as {null}: each in the words of struct tags, and
// in those of a manifest.
var edits = []struct{ name, tag, manifest string }{
	{"{anonymize}", `erasure:anonymize`, `"erasure": "anonymize"`},
	{"{delete}", `erasure:delete`, `"erasure": "delete"`},
	{"{null}", `erasure:null`, `"erasure": "null"`},
	{"{always}", `always:'…'`, `"always": true, "surrogate": "…"`},
	{"{none}", `pii:"none"`, `"not_personal": true`},
	{"{owned}", `subject:"owned"`, `"owned": true`},
	{"{export no}", `export:no`, `"export": "no"`},
	{"{export yes}", `export:yes`, `"export": "yes"`},
	{"{anon}", `surrogate:'anon-{}'`, `"surrogate": "anon-{}"`},
	{"{unique surrogate}", `surrogate:'{}@erased.invalid'`, `"surrogate": "{}@erased.invalid"`},
	{"{when}", `when:`, `"when"`},
	{"{path}", `subject:"path"`, `"path": true`},
	{"{path that clears}", `subject:"path,erasure:null"`, `"path": true, "erasure": "null"`},
	{"{relation that clears}", `subject:"erasure:null"`, `"erasure": "null" of the relation`},
	{
		"{decide}", "Add its model to the data map, or name the table, its columns and a reason in app.Config.LeftOut.",
		"Run habeas scaffold with --update, and answer its question with habeas decide.",
	},
	{
		"{annotate}", `Annotate it, or declare that it holds no personal data (pii:"none").`,
		`Annotate it, or declare that it holds no personal data ("not_personal": true).`,
	},
	{
		"{see again}", "Add the model to the data map, or the columns to the entry in app.Config.LeftOut.",
		"Run habeas scaffold with --update, and answer its question with habeas decide.",
	},
}

// inWords returns a remedy with the words of its edits.
func inWords(remedy string, manifest bool) string {
	for _, e := range edits {
		words := e.tag
		if manifest {
			words = e.manifest
		}
		remedy = strings.ReplaceAll(remedy, e.name, words)
	}
	return remedy
}
