package bunmodels_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/uptrace/bun"

	"github.com/habeas-data/habeas/adapters/persistence/bunmodels"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
)

// These models have no relations. Instead, subject tags of columns define the references. Only the first model has a
// bun.BaseModel.

type plainAccount struct {
	bun.BaseModel `bun:"table:accounts"`

	ID   string `bun:"id,pk" subject:"id"`
	Name string `bun:"name" pii:"identity"`
}

type block struct {
	ID        string `bun:"id,pk"`
	AccountID string `bun:"account_id" subject:"path,references:accounts.id,erasure:delete"`
	TargetID  string `bun:"target_id" subject:"path,references:accounts.id,erasure:delete" pii:"behavioral,via:AccountID"`
}

type filter struct {
	ID        string `bun:"id,pk"`
	AccountID string `bun:"account_id" subject:"path,references:accounts.id"`
	BlockID   string `bun:"block_id" subject:"same,references:blocks.id"`
	Title     string `bun:"title" pii:"behavioral"`
	Action    int    `bun:"action"`
}

type keyword struct {
	ID       string `bun:"id,pk"`
	FilterID string `bun:"filter_id" subject:"path,references:filters.id,erasure:delete"`
	Word     string `bun:"word" pii:"behavioral"`
	Whole    bool   `bun:"whole"`
}

func TestASubjectTagOfAColumnDeclaresAReference(t *testing.T) {
	models := []any{(*plainAccount)(nil), (*block)(nil), (*filter)(nil), (*keyword)(nil)}
	m, err := bunmodels.Read(unconnected(), models, nil)
	must(t, err)
	for name, want := range map[string][]datamap.Relation{
		"blocks": {
			{
				Name: "AccountID", Columns: []string{"account_id"}, References: "accounts",
				ReferencedColumns: []string{"id"}, Path: true, OnErasure: domain.StrategyDelete,
			},
			{
				Name: "TargetID", Columns: []string{"target_id"}, References: "accounts",
				ReferencedColumns: []string{"id"}, Path: true, OnErasure: domain.StrategyDelete,
			},
		},
		"filters": {
			{Columns: []string{"account_id"}, References: "accounts", ReferencedColumns: []string{"id"}, Path: true},
			{Columns: []string{"block_id"}, References: "blocks", ReferencedColumns: []string{"id"}, SamePerson: true},
		},
		"keywords": {{
			Columns: []string{"filter_id"}, References: "filters", ReferencedColumns: []string{"id"}, Path: true,
			OnErasure: domain.StrategyDelete,
		}},
	} {
		table, _ := m.Table(name)
		if len(table.Relations) != len(want) {
			t.Fatalf("%s has %+v", name, table.Relations)
		}
		for i, relation := range table.Relations {
			if !relation.Equals(want[i]) || relation.Name != want[i].Name || relation.Path != want[i].Path ||
				relation.OnErasure != want[i].OnErasure || relation.SamePerson != want[i].SamePerson {
				t.Errorf("%s has %+v, want %+v", name, relation, want[i])
			}
		}
	}
	if paths := m.Paths("keywords"); len(paths) != 1 || len(paths[0].Relations) != 2 {
		t.Errorf("keywords have the paths %+v", paths)
	}
}

func TestAnInvalidReferenceIsRefused(t *testing.T) {
	type noDot struct {
		ID        string `bun:"id,pk"`
		AccountID string `bun:"account_id" subject:"path,references:accounts"`
	}
	type noColumn struct {
		ID        string `bun:"id,pk"`
		AccountID string `bun:"account_id" subject:"references:accounts."`
	}
	type twice struct {
		ID        string `bun:"id,pk"`
		AccountID string `bun:"account_id" subject:"references:accounts.id,references:accounts.id"`
	}
	type open struct {
		ID        string `bun:"id,pk"`
		AccountID string `bun:"account_id" subject:"path,references:'accounts.id"`
	}
	type erased struct {
		ID        string `bun:"id,pk"`
		AccountID string `bun:"account_id" subject:"path,references:accounts.id,erasure:anonymize"`
	}
	type related struct {
		ID        string        `bun:"id,pk"`
		AccountID string        `bun:"account_id" subject:"path,references:accounts.id"`
		Account   *plainAccount `bun:"rel:belongs-to,join:account_id=id"`
	}
	type unknown struct {
		ID        string `bun:"id,pk"`
		AccountID string `bun:"account_id" subject:"path,references:accounts.number"`
	}
	type misspelled struct {
		ID        string `bun:"id,pk"`
		AccountID string `bun:"account_id" subject:"references:acounts.id"`
	}
	for says, model := range map[string]any{
		"refers to a table that no model has": (*misspelled)(nil),
		"is not like references:table.column": (*noDot)(nil),
		"like references:table.column":        (*noColumn)(nil),
		"an unknown or repeated option":       (*twice)(nil),
		"a quote that is not closed":          (*open)(nil),
		"use delete to delete the row":        (*erased)(nil),
		"mark the relation Account":           (*related)(nil),
		"number":                              (*unknown)(nil),
	} {
		_, err := bunmodels.Read(unconnected(), []any{(*plainAccount)(nil), model}, nil)
		said := slices.ContainsFunc(domain.Problems(err), func(p domain.Problem) bool {
			return (p.Column == "account_id" || p.Column == "number") && strings.Contains(p.String(), says)
		})
		if !said {
			t.Errorf("%T: got %v, want %q", model, err, says)
		}
	}
	_, err := bunmodels.Read(unconnected(), []any{(*plainAccount)(nil), (*struct {
		bun.BaseModel `bun:"table:strays"`
		ID            string `bun:"id,pk"`
		AccountID     string `bun:"account_id" subject:"references:elsewhere.id" pii:"contact"`
	})(nil)}, nil)
	if err == nil {
		t.Error("a relation to an unknown table is a path")
	}
}
