package scaffold_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/tool/scaffold"
)

const withTenants = `
	users: id*, tenant_id, email, name
	posts: id*, tenant_id, user_id>users/tenant_id, title`

// withTenant are tables of which only some references lead to the owner of a row. Each reference has a tenant column,
// too.
var withTenant = []string{
	"project_members: id*, tenant_id, member_id>users/tenant_id, invited_by_id>users/tenant_id",
	"memberships: id*, tenant_id, user_id>users/tenant_id, inviter_id>users/tenant_id",
	"post_tags: id*, tenant_id, tag_id, post_id>posts/tenant_id, created_by_id>users/tenant_id",
	"comments: id*, tenant_id, body, user_id>users/tenant_id, deleted_by_id?>users/tenant_id",
	"messages: id*, tenant_id, body, from_user_id>users/tenant_id=cascade, to_user_id>users/tenant_id=cascade",
	"marks: id*, tenant_id, user_id>users/tenant_id=cascade, post_id>posts/tenant_id=cascade, color",
	"papers: id*, tenant_id, author_id>users/tenant_id=cascade, editor_id?>users/tenant_id, title",
	"profiles: id*, tenant_id, user_id!>users/tenant_id=cascade, bio",
}

var shared = regexp.MustCompile(`/tenant_id`)

// A column that the references share with each other changes nothing.
func TestATenantColumnInAReferenceShowsNoRole(t *testing.T) {
	for _, table := range withTenant {
		for _, reversed := range []bool{false, true} {
			want := propose(t, schema(shared.ReplaceAllString(withTenants+"\n"+table, "")))
			composite := schema(withTenants + "\n" + table)
			if reversed {
				reverseKeys(composite)
			}
			got := propose(t, composite)
			wantLines(t, got.steps(), strings.Join(want.steps(), "\n"))
			wantLines(t, got.asked(), strings.Join(want.asked(), "\n"))
			for _, is := range got.dataMap.Tables() {
				was, _ := want.dataMap.Table(is.Name)
				for i, r := range is.Relations {
					if was.Relations[i].Name != r.Name || was.Relations[i].Path != r.Path {
						t.Errorf("%s: the relation %s has the name %s without a tenant", is.Name, r.Name, was.Relations[i].Name)
					}
				}
			}
		}
	}
}

func reverseKeys(catalog datamap.Catalog) {
	for _, table := range catalog.Tables {
		for _, key := range table.ForeignKeys {
			slices.Reverse(key.Columns)
			slices.Reverse(key.Referenced)
		}
	}
}

func TestTheColumnOfThePersonNamesACompositeReference(t *testing.T) {
	lines := withTenants + "\n" + withTenant[3]
	p := propose(t, schema(lines), scaffold.Options{Include: []string{"comments"}})
	if c := p.column(t, "comments.body"); c.Personal == nil || c.Personal.Via != "" {
		t.Errorf("a comment belongs to several people: %+v", c.Personal)
	}
	p = propose(t, schema(withTenants+"\nnotes: id*, tenant_id, color, user_id?>users/tenant_id"))
	if !slices.ContainsFunc(p.Decisions, func(d scaffold.Decision) bool {
		return d.Table == "notes" && strings.Contains(d.Question, "by user_id")
	}) {
		t.Errorf("no question names user_id: %v", p.Decisions)
	}
}
