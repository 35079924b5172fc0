package bunmodels_test

import (
	"slices"
	"testing"

	"github.com/uptrace/bun"

	"github.com/habeas-data/habeas/adapters/persistence/bunmodels"
)

// topic goes with its author. A topic may answer another topic.
type topic struct {
	bun.BaseModel `bun:"table:topics"`
	ID            int64    `bun:"id,pk"`
	AuthorID      int64    `bun:"author_id"`
	Author        *account `bun:"rel:belongs-to,join:author_id=id" subject:"path,erasure:delete"`
	AskedID       int64    `bun:"asked_id"`
	Asked         *account `bun:"rel:belongs-to,join:asked_id=id" subject:"path"`
	AnswersID     int64    `bun:"answers_id"`
	Answers       *topic   `bun:"rel:belongs-to,join:answers_id=id" subject:"erasure:null"`
	QuotesID      int64    `bun:"quotes_id" subject:"references:topics.id,erasure:null"`
}

// star has only columns that link.
type star struct {
	bun.BaseModel `bun:"table:stars" subject:"owned,via:'Giver,Topic.Author'"`
	ID            int64    `bun:"id,pk"`
	TopicID       int64    `bun:"topic_id"`
	Topic         *topic   `bun:"rel:belongs-to,join:topic_id=id" subject:"path"`
	GiverID       int64    `bun:"giver_id"`
	Giver         *account `bun:"rel:belongs-to,join:giver_id=id" subject:"path"`
}

func TestAnOwnedModelNamesThePathsThatDeleteItsRows(t *testing.T) {
	dataMap, err := bunmodels.Read(unconnected(), append(accountModels(), (*topic)(nil), (*star)(nil)), nil)
	must(t, err)
	stars, _ := dataMap.Table("stars")
	var deleting []string
	for _, path := range dataMap.Paths("stars") {
		if dataMap.RowsDeleted(stars, path) {
			deleting = append(deleting, path.Via)
		}
	}
	if !stars.Owned || stars.Via != "Giver,Topic.Author" || !slices.Equal(deleting, []string{"Giver", "Topic.Author"}) {
		t.Errorf("got owned %t, via %q, deleting %q", stars.Owned, stars.Via, deleting)
	}
}

func TestAModelClearsItsReferencesToItself(t *testing.T) {
	dataMap, err := bunmodels.Read(unconnected(), append(accountModels(), (*topic)(nil)), nil)
	must(t, err)
	topics, _ := dataMap.Table("topics")
	var clears []string
	for _, reference := range dataMap.SelfReferences(topics) {
		clears = append(clears, reference.ClearedColumns...)
	}
	slices.Sort(clears)
	if !slices.Equal(clears, []string{"answers_id", "quotes_id"}) {
		t.Errorf("got %q", clears)
	}
}

func TestWrongTagsOfOwnedModelsAndReferencesToThemselvesAreRefused(t *testing.T) {
	type row struct {
		ID        int64    `bun:"id,pk"`
		AccountID int64    `bun:"account_id"`
		Account   *account `bun:"rel:belongs-to,join:account_id=id" subject:"path"`
	}
	type Other struct {
		bun.BaseModel `bun:"table:wrong" subject:"owned,for:Account"`
		row
	}
	type Empty struct {
		bun.BaseModel `bun:"table:wrong" subject:"owned,via:"`
		row
	}
	type Twice struct {
		bun.BaseModel `bun:"table:wrong" subject:"owned,via:Account,Other"`
		row
	}
	type Quote struct {
		bun.BaseModel `bun:"table:wrong" subject:"owned,via:'Account"`
		row
	}
	type Single struct {
		bun.BaseModel `bun:"table:wrong" subject:"owned,via:Account"`
		row
	}
	for says, model := range map[string]any{
		`found "owned,for:Account"`: (*Other)(nil), `found "owned,via:"`: (*Empty)(nil),
		`found "owned,via:Account,Other"`: (*Twice)(nil), `found "owned,via:'Account"`: (*Quote)(nil),
		"has only one path": (*Single)(nil),
	} {
		_, err := bunmodels.Read(unconnected(), append(accountModels(), model), nil)
		wantManifestError(t, err, "wrong: ", says)
	}

	type NotNull struct {
		bun.BaseModel `bun:"table:wrong" subject:"owned"`
		row
		ParentID int64    `bun:"parent_id,notnull"`
		Parent   *NotNull `bun:"rel:belongs-to,join:parent_id=id" subject:"erasure:null"`
	}
	type Deleted struct {
		bun.BaseModel `bun:"table:wrong" subject:"owned"`
		row
		ParentID int64    `bun:"parent_id"`
		Parent   *Deleted `bun:"rel:belongs-to,join:parent_id=id" subject:"erasure:delete"`
	}
	type Marked struct {
		bun.BaseModel `bun:"table:wrong" subject:"owned"`
		row
		ParentID int64   `bun:"parent_id"`
		Parent   *Marked `bun:"rel:belongs-to,join:parent_id=id" subject:"path,erasure:null"`
	}
	for says, model := range map[string]any{
		"bun tag says that it is never": (*NotNull)(nil), "erasure:delete would delete rows of other people": (*Deleted)(nil),
		"is marked as a path, but leads to its own table": (*Marked)(nil),
	} {
		_, err := bunmodels.Read(unconnected(), append(accountModels(), model), nil)
		wantManifestError(t, err, "wrong.parent_id", says)
	}
}
