package scaffold_test

import (
	"slices"
	"strings"
	"testing"
)

// Another reference may lead to a person, too, or to a thing that a person made.
func TestEachPolymorphicReferenceThatMayNameAPersonIsAsked(t *testing.T) {
	for column, lines := range map[string]string{
		"slugs.sluggable_id":           "slugs: id*, slug, sluggable_type, sluggable_id",
		"translations.translatable_id": "translations: id*, translatable_type, translatable_id, words",
		"notices.notifier_id":          "notices: id*, user_id>users, title, notifier_type, notifier_id",
		"alarms.notifier_id":           "alarms: id*, user_id?>users=set_null, notifier_type, notifier_id",
		"files.record_id": "groups: id*, created_by:bigint>users, name\n" +
			"files: id*, group_id>groups, record_type, record_id",
	} {
		p := propose(t, schema(users+lines))
		if !slices.Contains(p.asked(), column) {
			t.Errorf("%s: asked %v", column, p.Decisions)
		}
	}
	p := propose(t, schema(users+"users_roles: user_id>users, role_id\ncountries: code, created_by:bigint>users"))
	if asked := p.asked(); !slices.Contains(asked, "users_roles") || slices.Contains(asked, "countries") {
		t.Errorf("without a key: asked %v", p.Decisions)
	}
	p = propose(t, schema(users+"keys: id*, added_by:bigint>users, owner_type, owner_id\n"+
		"shops: id*, name\nvisits: id*, shop_type, shop_id\n"+
		"groups: id*, name\ntaggings: id*, group_id>groups, taggable_type, taggable_id"))
	if asked := p.asked(); slices.Contains(asked, "taggings.taggable_id") || slices.Contains(asked, "visits.shop_id") ||
		len(p.questionsAbout("keys", "")) != 1 || !slices.Contains(asked, "keys.owner_id") {
		t.Errorf("asked %v", p.Decisions)
	}
}

func TestACopyOfOtherRowsHasOneQuestion(t *testing.T) {
	for line, want := range map[string]string{
		"versions: id*, user_id>users, item_type, item_id, object:json, ip":              "versions.object",
		"logs: id*, user_id>users, item_type, item_id, changes:json, ip":                 "logs.changes",
		"logs: id*, user_id?>users, item_type, item_id, properties:json":                 "logs.properties",
		"audits: id*, source_type, source_id, source_changes:json":                       "audits.source_changes",
		"audits: id*, source_type, source_id, source_changes:json, ip":                   "audits.source_changes",
		"logs: id*, user_id>users=cascade, board_id>boards, item_type, item_id, changes": "logs.changes",
	} {
		p := propose(t, schema(users+"boards: id*, title\n"+line))
		n := len(p.questionsAbout("audits", "personal ()"))
		for _, d := range p.Decisions {
			if slices.Contains(d.Columns(), want[strings.Index(want, ".")+1:]) || strings.Contains(d.Question, "personal (") &&
				strings.Contains(d.Question, want[strings.Index(want, ".")+1:]) {
				n++
			}
		}
		if n != 1 || !slices.Contains(p.asked(), want) {
			t.Errorf("%s: asked %v", line, p.Decisions)
		}
	}
}
