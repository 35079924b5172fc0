package scaffold_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/habeas-data/habeas/adapters/persistence/memory"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/tool/scaffold"
)

// An audit trail says who acted. The thing may be another person's.
func TestAnIncludedTableGoesByThePersonWhoActed(t *testing.T) {
	options := scaffold.Options{Include: []string{"audit"}}
	for column, want := range map[string]string{
		"actor_id":                           "",
		"actor_id>users":                     "",
		"created_by:bigint>users":            "",
		"creator_id":                         "",
		"user_id":                            "",
		"actor_id, actor_type":               "the person of a row seems to be in actor_id",
		"actor_id:uuid":                      "the person of a row seems to be in actor_id",
		"user_id:bigint>users, creator_id":   "",
		"performed_by_id>users, approver_id": "",
	} {
		for _, of := range []string{"owner_id", "created_by:bigint"} {
			catalog := schema(users + `
				projects: id*, ` + of + `>users, title
				audit: id*, ` + column + `, event, project_id>projects, changes:json, ip_address`)
			_, err := scaffold.Propose(t.Context(), memory.NewSchema(catalog), options)
			if want != "" {
				if !errors.Is(err, domain.ErrInvalid) || !strings.Contains(err.Error(), want) {
					t.Errorf("%s, %s: %v", column, of, err)
				}
				continue
			}
			p := propose(t, catalog, options)
			audit, ok := p.dataMap.Table("audit")
			if !ok || len(audit.Relations) == 0 || audit.Relations[0].References != "users" {
				t.Errorf("%s, %s: the relations of the audit trail are %+v", column, of, audit.Relations)
			}
		}
	}
}

func TestRowsThroughAThingOfOthersAreAsked(t *testing.T) {
	p := propose(t, schema(users+`
		projects: id*, created_by:bigint>users, title
		audit: id*, event, project_id>projects, changes:json, ip_address`), scaffold.Options{Include: []string{"audit"}})
	audit, _ := p.dataMap.Table("audit")
	if !strings.Contains(audit.Note, "only through rows of projects") {
		t.Errorf("the note is %q", audit.Note)
	}
}
