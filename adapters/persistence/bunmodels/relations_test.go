package bunmodels_test

import (
	"testing"

	"github.com/uptrace/bun"

	"github.com/habeas-data/habeas/adapters/persistence/bunmodels"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
)

type person struct {
	bun.BaseModel `bun:"table:people"`
	ID            int64 `bun:"id,pk" subject:"id"`
}

type tagging struct {
	bun.BaseModel `bun:"table:taggings"`
	NoteID        int64  `bun:"note_id,pk"`
	Note          *note  `bun:"rel:belongs-to,join:note_id=id"`
	LabelID       int64  `bun:"label_id,pk"`
	Label         *label `bun:"rel:belongs-to,join:label_id=id"`
}

type label struct {
	bun.BaseModel `bun:"table:labels"`
	ID            int64 `bun:"id,pk"`
}

type cover struct {
	bun.BaseModel `bun:"table:covers"`
	ID            int64 `bun:"id,pk"`
	NoteID        int64 `bun:"note_id"`
}

// note has a relation of every kind.
type note struct {
	bun.BaseModel `bun:"table:notes"`
	ID            int64    `bun:"id,pk"`
	AuthorID      int64    `bun:"author_id"`
	Author        *person  `bun:"rel:belongs-to,join:author_id=id"`
	Cover         *cover   `bun:"rel:has-one,join:id=note_id"`
	Covers        []*cover `bun:"rel:has-many,join:id=note_id"`
	Labels        []label  `bun:"m2m:taggings,join:Note=Label"`
	Text          string   `bun:"text" pii:"communication"`
}

// withLinks returns a database on which the model of the link table of a many-to-many relation is registered.
func withLinks() *bun.DB {
	db := unconnected()
	db.RegisterModel((*tagging)(nil))
	return db
}

func TestOnlyBelongsToRelationsLeadToTheSubject(t *testing.T) {
	dataMap, err := bunmodels.Read(withLinks(), []any{(*person)(nil), (*note)(nil)}, nil)
	must(t, err)
	table, _ := dataMap.Table("notes")
	wantTables(t, []datamap.Table{table}, datamap.Table{
		Name: "notes", PrimaryKey: []string{"id"},
		Relations: []datamap.Relation{{
			Columns: []string{"author_id"}, References: "people", ReferencedColumns: []string{"id"},
		}},
		Columns: []datamap.Column{
			{Name: "id", Type: datamap.TypeBigInt},
			{Name: "author_id", Type: datamap.TypeBigInt},
			{Name: "text", Type: datamap.TypeText, Personal: &datamap.Annotation{
				Category: domain.CategoryCommunication, Strategy: domain.StrategyErase,
			}},
		},
	})
}

func TestAnotherRelationCannotBeThePath(t *testing.T) {
	type HasOne struct {
		bun.BaseModel `bun:"table:wrong"`
		ID            int64  `bun:"id,pk"`
		Cover         *cover `bun:"rel:has-one,join:id=note_id" subject:"path"`
	}
	type HasMany struct {
		bun.BaseModel `bun:"table:wrong"`
		ID            int64    `bun:"id,pk"`
		Cover         []*cover `bun:"rel:has-many,join:id=note_id" subject:"path"`
	}
	type ManyToMany struct {
		bun.BaseModel `bun:"table:wrong"`
		ID            int64   `bun:"id,pk"`
		Cover         []label `bun:"m2m:taggings,join:Note=Label" subject:"path"`
	}
	type Conditional struct {
		bun.BaseModel `bun:"table:wrong"`
		ID            int64   `bun:"id,pk"`
		Cover         *person `bun:"rel:belongs-to,join:id=id,join_on:kind = 'person'" subject:"path"`
	}
	for says, model := range map[string]any{
		"the model of covers is not among": (*HasOne)(nil),
		"covers is not among the models":   (*HasMany)(nil),
		"is not a belongs-to relation":     (*ManyToMany)(nil),
		"holds only for some rows":         (*Conditional)(nil),
	} {
		_, err := bunmodels.Read(withLinks(), []any{(*person)(nil), model}, nil)
		wantManifestError(t, err, "wrong.Cover", says)
	}
}

// A relation with a join_on condition applies only to some rows. Read must therefore refuse to derive the subject of
// every row from such a relation.
func TestAConditionalRelationIsNotAPath(t *testing.T) {
	type Comment struct {
		bun.BaseModel `bun:"table:comments"`
		ID            int64   `bun:"id,pk"`
		OwnerType     string  `bun:"owner_type"`
		OwnerID       int64   `bun:"owner_id"`
		Owner         *person `bun:"rel:belongs-to,join:owner_id=id,join_on:owner_type = 'person'"`
	}
	_, err := bunmodels.Read(unconnected(), []any{(*person)(nil), (*Comment)(nil)}, nil)
	wantManifestError(t, err, "comments", "does not reach the subject's table")
}

func TestARelationCannotBeAnnotated(t *testing.T) {
	type Personal struct {
		bun.BaseModel `bun:"table:wrong"`
		ID            int64   `bun:"id,pk"`
		Owner         *person `bun:"rel:belongs-to,join:id=id" pii:"identity"`
	}
	type Empty struct {
		bun.BaseModel `bun:"table:wrong"`
		ID            int64   `bun:"id,pk"`
		Owner         *person `bun:"rel:belongs-to,join:id=id" pii:""`
	}
	type Key struct {
		bun.BaseModel `bun:"table:wrong"`
		ID            int64   `bun:"id,pk"`
		Owner         *person `bun:"rel:belongs-to,join:id=id" subject:"id"`
	}
	for _, model := range []any{(*Personal)(nil), (*Empty)(nil)} {
		_, err := bunmodels.Read(unconnected(), []any{(*person)(nil), model}, nil)
		wantManifestError(t, err, "wrong.Owner", "is a relation and cannot be annotated")
	}
	_, err := bunmodels.Read(unconnected(), []any{(*person)(nil), (*Key)(nil)}, nil)
	wantManifestError(t, err, "wrong.Owner", `a relation takes "path"`)
}

func TestAPanicOfBunIsAnError(t *testing.T) {
	type NoColumn struct {
		bun.BaseModel `bun:"table:wrong"`
		ID            int64   `bun:"id,pk"`
		Owner         *person `bun:"rel:belongs-to,join:owner_id=id"`
	}
	type NoKind struct {
		bun.BaseModel `bun:"table:wrong"`
		ID            int64   `bun:"id,pk"`
		Owner         *person `bun:"rel:belongs"`
	}
	type NoLink struct {
		bun.BaseModel `bun:"table:wrong"`
		ID            int64   `bun:"id,pk"`
		Labels        []label `bun:"m2m:links,join:Note=Label"`
	}
	type NoStruct struct {
		bun.BaseModel `bun:"table:wrong"`
		ID            int64  `bun:"id,pk"`
		Home          string `bun:"embed:home_"`
	}
	for says, model := range map[string]any{
		"must have column owner_id": (*NoColumn)(nil),
		"unknown relation=belongs":  (*NoKind)(nil),
		"can't find m2m links":      (*NoLink)(nil),
		"wanted reflect.Struct":     (*NoStruct)(nil),
	} {
		_, err := bunmodels.Read(unconnected(), []any{(*person)(nil), model}, nil)
		wantManifestError(t, err, "bunmodels_test.", says)
	}
}
