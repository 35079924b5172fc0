package bunmodels_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/uptrace/bun"

	"github.com/habeas-data/habeas/adapters/persistence/bunmodels"
	"github.com/habeas-data/habeas/domain/datamap"
)

// account declares relations of the tables that refer to it. The models comment and remark do not declare these
// relations themselves.
type account struct {
	bun.BaseModel `bun:"table:accounts"`
	ID            int64      `bun:"id,pk" subject:"id"`
	Sent          []*letter  `bun:"rel:has-many,join:id=sender_id"`
	Comments      []*comment `bun:"rel:has-many,join:id=author_id" subject:"path,erasure:null"`
	Notes         []*remark  `bun:"rel:has-many,join:id=target_id,join:type=target_type,polymorphic:account" subject:"path"`
	Profile       *profile   `bun:"rel:has-one,join:id=account_id"`
}

type letter struct {
	bun.BaseModel `bun:"table:letters"`
	ID            int64    `bun:"id,pk"`
	SenderID      int64    `bun:"sender_id,notnull"`
	Sender        *account `bun:"rel:belongs-to,join:sender_id=id" subject:"path,erasure:delete"`
	RecipientID   *int64   `bun:"recipient_id"`
	Recipient     *account `bun:"rel:belongs-to,join:recipient_id=id" subject:"path, erasure:null"`
	Body          string   `bun:"body" pii:"communication,via:Sender"`
	Subject       string   `bun:"subject" pii:"communication,erasure:erase,via:'Sender,Recipient'"`
}

type comment struct {
	bun.BaseModel `bun:"table:comments"`
	ID            int64  `bun:"id,pk"`
	AuthorID      *int64 `bun:"author_id"`
	Text          string `bun:"text" pii:"communication"`
}

type remark struct {
	bun.BaseModel `bun:"table:remarks"`
	ID            int64    `bun:"id,pk"`
	TargetType    string   `bun:"target_type"`
	TargetID      int64    `bun:"target_id"`
	Comment       *comment `bun:"rel:belongs-to,join:target_id=id,join_on:target_type = 'comment'" subject:"path,when:'target_type=comment'"`
	Text          string   `bun:"text" pii:"communication,via:'Notes,Comment'"`
}

type profile struct {
	bun.BaseModel `bun:"table:profiles"`
	ID            int64  `bun:"id,pk"`
	AccountID     int64  `bun:"account_id"`
	Name          string `bun:"name" pii:"identity"`
}

func accountModels() []any {
	return []any{(*account)(nil), (*letter)(nil), (*comment)(nil), (*remark)(nil), (*profile)(nil)}
}

// pathsOf returns a description of the paths of a table: their names, columns, conditions and effects of an erasure.
func pathsOf(m datamap.DataMap, table string) string {
	var list []string
	for _, path := range m.Paths(table) {
		text := path.Via + ":"
		for _, r := range path.Relations {
			text += strings.Join(r.Columns, "+") + ">" + r.References
			if r.When != nil {
				text += "[" + r.When.Column + "=" + r.When.Value + "]"
			}
		}
		list = append(list, strings.TrimSpace(text+" "+string(path.OnErasure())))
	}
	return strings.Join(list, "; ")
}

func TestRelationsDefineThePaths(t *testing.T) {
	dataMap, err := bunmodels.Read(unconnected(), accountModels(), nil)
	must(t, err)
	for table, want := range map[string]string{
		"letters":  "Recipient:recipient_id>accounts null; Sender:sender_id>accounts delete",
		"comments": ":author_id>accounts null",
		"remarks": "Comment:target_id>comments[target_type=comment]author_id>accounts; " +
			"Notes:target_id>accounts[target_type=account]",
		"profiles": ":account_id>accounts",
	} {
		if got := pathsOf(dataMap, table); got != want {
			t.Errorf("the paths of %s are %q, want %q", table, got, want)
		}
	}
	letters, _ := dataMap.Table("letters")
	var vias []string
	for _, column := range letters.Personal() {
		vias = append(vias, column.Personal.Via)
	}
	if !slices.Equal(vias, []string{"Sender", "Sender,Recipient"}) {
		t.Errorf("the columns belong to %q", vias)
	}
	if notices := dataMap.Notices(); len(notices) != 0 {
		t.Errorf("got the notices %v", notices)
	}
}

func TestARelationThatBothModelsDeclareIsASingleRelation(t *testing.T) {
	dataMap, err := bunmodels.Read(unconnected(), accountModels(), nil)
	must(t, err)
	if letters, _ := dataMap.Table("letters"); len(letters.Relations) != 2 {
		t.Errorf("got %+v", letters.Relations)
	}
}

func TestInvalidSubjectTagsOfRelationsAreRefused(t *testing.T) {
	type base struct {
		ID        int64 `bun:"id,pk"`
		AccountID int64 `bun:"account_id"`
	}
	type Unknown struct {
		base
		Account *account `bun:"rel:belongs-to,join:account_id=id" subject:"owner"`
	}
	type Option struct {
		base
		Account *account `bun:"rel:belongs-to,join:account_id=id" subject:"path,where:x"`
	}
	type Twice struct {
		base
		Account *account `bun:"rel:belongs-to,join:account_id=id" subject:"path,erasure:null,erasure:delete"`
	}
	type Erasure struct {
		base
		Account *account `bun:"rel:belongs-to,join:account_id=id" subject:"path,erasure:anonymize"`
	}
	type Condition struct {
		base
		Account *account `bun:"rel:belongs-to,join:account_id=id" subject:"path,when:account"`
	}
	type Quote struct {
		base
		Account *account `bun:"rel:belongs-to,join:account_id=id" subject:"path,when:'a=b"`
	}
	type Column struct {
		base
		Account *account `bun:"rel:belongs-to,join:account_id=id" subject:"path,when:'kind=account'"`
	}
	type Never struct {
		bun.BaseModel `bun:"table:wrong"`
		ID            int64    `bun:"id,pk"`
		AccountID     int64    `bun:"account_id,notnull"`
		Account       *account `bun:"rel:belongs-to,join:account_id=id" subject:"path,erasure:null"`
	}
	for says, c := range map[string]struct {
		model any
		where string
	}{
		`takes "path"`:                  {(*Unknown)(nil), ".Account: "},
		"possible: erasure, when":       {(*Option)(nil), ".Account: "},
		"or repeated option: erasure":   {(*Twice)(nil), ".Account: "},
		"possible: delete, null":        {(*Erasure)(nil), ".Account: "},
		"like when:'column=value'":      {(*Condition)(nil), ".Account: "},
		"a quote that is not closed":    {(*Quote)(nil), ".Account: "},
		"not among the columns":         {(*Column)(nil), ".kind: is in the condition of the relation Account"},
		"bun tag says that it is never": {(*Never)(nil), "wrong.account_id"},
	} {
		_, err := bunmodels.Read(unconnected(), append(accountModels(), c.model), nil)
		wantManifestError(t, err, c.where, says)
	}
}

func TestColumnsOfRowsAboutSeveralPeopleNameTheirPath(t *testing.T) {
	type Unsaid struct {
		bun.BaseModel `bun:"table:follows"`
		FollowerID    int64    `bun:"follower_id,pk"`
		FollowedID    int64    `bun:"followed_id,pk"`
		Follower      *account `bun:"rel:belongs-to,join:follower_id=id" subject:"path,erasure:delete"`
		Followed      *account `bun:"rel:belongs-to,join:followed_id=id" subject:"path,erasure:delete"`
		Note          string   `bun:"note" pii:"behavioral"`
	}
	type Unmarked struct {
		bun.BaseModel `bun:"table:follows"`
		FollowerID    int64    `bun:"follower_id,pk"`
		FollowedID    int64    `bun:"followed_id,pk"`
		Follower      *account `bun:"rel:belongs-to,join:follower_id=id"`
		Followed      *account `bun:"rel:belongs-to,join:followed_id=id"`
	}
	_, err := bunmodels.Read(unconnected(), append(accountModels(), (*Unsaid)(nil)), nil)
	wantManifestError(t, err, "follows.note", "possible: Followed, Follower")
	_, err = bunmodels.Read(unconnected(), append(accountModels(), (*Unmarked)(nil)), nil)
	wantManifestError(t, err, "follows", "Followed (followed_id -> accounts), Follower (follower_id -> accounts)")
}

// A notice names each table that refers to the data map but whose model was not passed to Read.
func TestTablesThatAreNotInTheMapAreNamed(t *testing.T) {
	type Session struct {
		bun.BaseModel `bun:"table:sessions"`
		ID            int64    `bun:"id,pk"`
		AccountID     int64    `bun:"account_id"`
		Account       *account `bun:"rel:belongs-to,join:account_id=id"`
	}
	type Order struct {
		bun.BaseModel `bun:"table:orders"`
		ID            int64    `bun:"id,pk"`
		BuyerID       int64    `bun:"buyer_id"`
		Buyer         *account `bun:"rel:belongs-to,join:buyer_id=id" subject:"path"`
		ClerkID       int64    `bun:"clerk_id"`
		Clerk         *account `bun:"rel:belongs-to,join:clerk_id=id"`
	}
	db := unconnected()
	db.RegisterModel((*Session)(nil))
	dataMap, err := bunmodels.Read(db, []any{(*account)(nil), (*comment)(nil), (*remark)(nil), (*Order)(nil)}, nil)
	must(t, err)
	var got []string
	for _, notice := range dataMap.Notices() {
		got = append(got, fmt.Sprint(notice.Table, ".", notice.Column))
	}
	want := []string{
		"orders.clerk_id", "letters.recipient_id", "letters.sender_id", "profiles.account_id", "sessions.account_id",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// An application may declare a reference as has-one instead of belongs-to. Read must not treat it as a reference in the
// opposite direction.
func TestAHasOneRelationToAKeyIsNotARelationOfTheOtherTable(t *testing.T) {
	type Badge struct {
		bun.BaseModel `bun:"table:badges"`
		ID            int64    `bun:"id,pk"`
		ProfileID     int64    `bun:"profile_id"`
		Profile       *profile `bun:"rel:has-one,join:profile_id=id"`
		AccountID     int64    `bun:"account_id"`
		Account       *account `bun:"rel:belongs-to,join:account_id=id"`
	}
	dataMap, err := bunmodels.Read(unconnected(), append(accountModels(), (*Badge)(nil)), nil)
	must(t, err)
	if got := pathsOf(dataMap, "profiles"); got != ":account_id>accounts" {
		t.Errorf("the paths of profiles are %q", got)
	}
}
