package manifest_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/habeas-data/habeas/adapters/persistence/manifest"
	"github.com/habeas-data/habeas/domain"
)

func TestAllMistakesOfAManifestAreReportedInOneError(t *testing.T) {
	_, err := manifest.Read(strings.NewReader(`{"manifest_version": 2, "tables": [
		{"name": "notes", "primary_key": ["id"], "colour": 1, "columns": [
			{"name": "id", "type": "bigint"}, {"name": "text", "type": "tekst", "personal": {"category": "talk", "who": 1}}
		]},
		{"name": "users", "primary_key": ["id"], "subject_key": ["id"], "columns": [
			{"name": "id", "type": "bigint"}, {"name": "mail", "type": "text", "personal": {"category": "mail"}}
		]},
		{"name": "orders", "primary_key": "id", "columns": [{"name": "id", "type": "nothing"}]}
	], "shade": 1}`))
	var got []string
	for _, problem := range domain.Problems(err) {
		got = append(got, problem.Where()+" "+problem.Found+problem.Message[:5])
	}
	want := []string{
		" shade", "notes table", "notes.text table", "notes.text tekst" + "has n", "notes.text talk" + "has n",
		"users.mail mail" + "has n", "orders table",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q\n%v", got, want, err)
	}
}
