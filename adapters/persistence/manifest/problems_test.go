package manifest_test

import (
	"reflect"
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

func TestAManifestOfVersion1IsStillRead(t *testing.T) {
	const tables = `"tables": [
		{"name": "users", "primary_key": ["id"], "subject_key": ["id"], "columns": [
			{"name": "id", "type": "bigint"}, {"name": "theme"},
			{"name": "mail", "type": "text", "personal": {"category": "contact", "erasure": "delete"}},
			{"name": "phone", "type": "text", "personal": {"category": "contact"}},
			{"name": "password", "type": "text", "personal": {"category": "technical", "erasure": "anonymize"}}
		]},
		{"name": "notes", "primary_key": ["id"], "columns": [
			{"name": "id", "type": "bigint"}, {"name": "user_id", "type": "bigint"},
			{"name": "text", "type": "text", "personal": {"category": "communication", "erasure": "delete"}},
			{"name": "place", "type": "text", "personal": {"category": "location"}}
		], "relations": [{"columns": ["user_id"], "references": "users", "referenced_columns": ["id"]}]}
	]}`
	m, err := manifest.Read(strings.NewReader(`{"manifest_version": 1, ` + tables))
	must(t, err)
	var got []string
	for _, table := range m.Tables() {
		for _, column := range table.Personal() {
			got = append(got, column.Name+" "+string(column.Personal.Strategy)+string(column.Personal.Export))
		}
	}
	want := []string{"mail erase", "phone erase", "password anonymizeyes", "text delete", "place erase"}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	if _, err := manifest.Read(strings.NewReader(`{"manifest_version": 2, ` + tables)); err == nil ||
		len(domain.Problems(err)) != 2 {
		t.Errorf("as version 2: %v", err)
	}
	var written strings.Builder
	must(t, manifest.Write(&written, m))
	again, err := manifest.Read(strings.NewReader(written.String()))
	if err != nil || !reflect.DeepEqual(again, m) || !strings.Contains(written.String(), `"manifest_version": 2`) {
		t.Errorf("written and read again: %v, %v\n%s", again, err, &written)
	}
}
