package scaffold_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/tool/scaffold"
)

// What a moderator did about a person may have to outlive her account, so that only a person may decide about it.
func TestWhatModeratorsDidAboutAPersonIsAsked(t *testing.T) {
	for _, table := range []string{"user_blocks", "bans", "mutes", "user_timeouts", "reports", "user_bans"} {
		for _, keys := range []string{
			"user_id>users=cascade, creator_id>users", "user_id>users/tenant_id, banned_by:bigint>users",
		} {
			catalog := schema("users: id*, email, tenant_id\n" + table + ": id*, " + keys + ", tenant_id, reason, ends_at:time")
			p := propose(t, catalog)
			i := slices.IndexFunc(p.Decisions, func(d scaffold.Decision) bool { return d.Table == table })
			if _, mapped := p.dataMap.Table(table); mapped || i < 0 || !strings.Contains(p.Decisions[i].Question, "reason") {
				t.Errorf("%s, %s: in the data map: %t, decisions: %v", table, keys, mapped, p.Decisions)
			}
			p = propose(t, catalog, scaffold.Options{Include: []string{table}})
			if p.column(t, table+".reason").Personal == nil {
				t.Errorf("%s, %s: the reason is not annotated", table, keys)
			}
		}
	}
}

// A block of the person's own, such as that of a follower, goes with the person.
func TestBlocksByThePersonGoWithHer(t *testing.T) {
	p := propose(t, schema(users+"blocks: id*, user_id>users=cascade, blocked_id>users=cascade"))
	if table, mapped := p.dataMap.Table("blocks"); !mapped || !table.Owned {
		t.Errorf("left out: %v", p.LeftOut)
	}
}

func TestRowsWithASecondPersonAreAskedWhateverTheirName(t *testing.T) {
	p := propose(t, schema(users+"user_grants: id*, user_id>users=cascade, granter_id>users"))
	asked := slices.ContainsFunc(p.Decisions, func(d scaffold.Decision) bool { return d.Table == "user_grants" })
	table, mapped := p.dataMap.Table("user_grants")
	if mapped && (!asked || !strings.Contains(table.Note, datamap.Decide)) {
		t.Errorf("asked about %v", p.asked())
	}
}
