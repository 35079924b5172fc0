package scaffold_test

import (
	"slices"
	"strings"
	"testing"
)

func TestCopiesInHistoriesAreAsked(t *testing.T) {
	for table, want := range map[string]string{
		"versions: id*, item_type, item_id, whodunnit, object:json, object_changes:json": "object, object_changes",
		"versions: id*, item_type, item_id:text, event, object?":                         "object",
		"audits: id*, auditable_type, auditable_id, user_id>users, audited_changes:json": "audited_changes",
		"audits: id*, auditable_type, auditable_id, user_id>users, ip, data:json":        "data",
		"row_log: id*, table_name, record_id, old_values:json, new_values:json":          "old_values, new_values",
		"versions: id*, item_type, item_id, size:integer":                                "",
		"versions: id*, post_id, object:json":                                            "",
		"notes: id*, item_type, item_id, meta:json":                                      "",
	} {
		p := propose(t, schema(users+table))
		name := schema(table).Tables[0].Name
		asked := p.questionsAbout(name, "earlier values of rows of other tables")
		if len(asked) != min(len(want), 1) || want != "" && !strings.Contains(asked[0].Question, "("+want+")") {
			t.Errorf("%s: asked %v", table, p.Decisions)
		}
	}
}

// The values are those of the changed rows, not of the person who changed them.
func TestTheHistoryOfOtherRowsStays(t *testing.T) {
	const history = "versions: id*, item_type, item_id, user_id>users, ip, object:json"
	p := propose(t, schema(users+history))
	if !slices.Contains(p.steps(), "anonymize versions ip") {
		t.Errorf("the steps are %v", p.steps())
	}
	p = propose(t, schema(users+strings.Replace(history, "ip, ", "", 1)))
	if _, mapped := p.dataMap.Table("versions"); mapped || !slices.Contains(p.asked(), "versions") {
		t.Errorf("the steps are %v, asked %v", p.steps(), p.asked())
	}
}
