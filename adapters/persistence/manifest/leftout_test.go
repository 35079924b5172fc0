package manifest_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/habeas-data/habeas/adapters/persistence/manifest"
	"github.com/habeas-data/habeas/domain/datamap"
)

func TestADataMapKnowsTheQuestionsAboutTablesThatADraftLeftOut(t *testing.T) {
	m, err := manifest.Read(strings.NewReader(`{"manifest_version": 2, "tables": [
		{"name": "users", "primary_key": ["id"], "subject_key": ["id"], "note": "DECIDED: Tables pins (user_id), users: Why?",
			"columns": [
			{"name": "id", "type": "bigint"}, {"name": "email", "type": "text", "personal": {"category": "contact"}}]}],
		"schema": [
			{"name": "users", "columns": ["id"], "note": "DECIDE: Is it the person's?"},
			{"name": "calls", "columns": ["id"], "note": "It leads to users. DECIDE: Is it the person's?"},
			{"name": "teams", "columns": ["id"], "note": "It leads to users. DECIDED: Is it the person's?"},
			{"name": "pins", "columns": ["id", "user_id"], "note": "It leads to users."},
			{"name": "words", "columns": ["id"], "note": "None of its columns looks personal."}]}`))
	if err != nil {
		t.Fatal(err)
	}
	want := []datamap.LeftOut{
		{Table: "calls", Columns: []string{"id"}, Note: "It leads to users. DECIDE: Is it the person's?"},
		{
			Table: "teams", Decided: true, Columns: []string{"id"}, Note: "It leads to users. DECIDED: Is it the person's?",
		},
		{Table: "pins", Decided: true, Columns: []string{"id", "user_id"}, Note: "DECIDED: user_id"},
	}
	if got := m.LeftOut(); !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if got := strings.Join(m.Reviewed(), " "); got != "users calls teams pins words" {
		t.Errorf("the draft knew %s", got)
	}
}
