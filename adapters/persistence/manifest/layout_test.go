package manifest_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/habeas-data/habeas/adapters/persistence/manifest"
	"github.com/habeas-data/habeas/domain/datamap"
)

// A draft of fifty tables has hundreds of options, and each has whole tables.
func TestEachOptionOfAQuestionIsOnOneLine(t *testing.T) {
	table := datamap.Table{
		Name: "users", PrimaryKey: []string{"id"}, SubjectKey: []string{"id"},
		Columns: []datamap.Column{{Name: "id", Type: datamap.TypeBigInt}, {Name: "theme"}},
	}
	m, err := datamap.NewDataMap(table)
	must(t, err)
	var text bytes.Buffer
	must(t, manifest.Write(&text, m.WithDecisions(datamap.Decision{
		Object: "orders", Seen: []string{"id"}, Options: []datamap.Option{
			{Name: "delete", Edit: datamap.Edit{Tables: []datamap.Table{table}}}, {Name: "not-about-people"},
		},
	})))
	const want = `
      "options": [
        {"name": "delete", "edit": {"tables": [{"name": "users", "primary_key": ["id"], "subject_key": ["id"], ` +
		`"columns": [{"name": "id", "type": "bigint"}, {"name": "theme"}]}]}},
        {"name": "not-about-people"}
      ]
    }
  ]
}
`
	if !strings.HasSuffix(text.String(), want) {
		t.Errorf("the manifest is\n%s", &text)
	}
}
