package cookbook_test

import (
	"testing"

	"github.com/uptrace/bun"

	"github.com/habeas-data/habeas/app"
	"github.com/habeas-data/habeas/internal/tests/databases"
)

type Member struct {
	bun.BaseModel `bun:"table:members"`

	ID   int64  `bun:"id,pk" subject:"id"`
	Name string `bun:"name" pii:"identity,erasure:anonymize"`
}

// Message has a text, which belongs to its sender, and a folder, which belongs to its recipient.
type Message struct {
	bun.BaseModel `bun:"table:messages"`

	ID          int64   `bun:"id,pk"`
	SenderID    *int64  `bun:"sender_id"`
	Sender      *Member `bun:"rel:belongs-to,join:sender_id=id" subject:"path,erasure:null"`
	RecipientID int64   `bun:"recipient_id"`
	Recipient   *Member `bun:"rel:belongs-to,join:recipient_id=id" subject:"path"`
	Text        string  `bun:"text" pii:"communication,via:Sender"`
	Folder      string  `bun:"folder" pii:"behavioral,via:Recipient,surrogate:inbox"`
}

// Follow is deleted if either of the two people is erased. The followed account is personal data of the follower.
type Follow struct {
	bun.BaseModel `bun:"table:follows"`

	FollowerID int64   `bun:"follower_id,pk"`
	Follower   *Member `bun:"rel:belongs-to,join:follower_id=id" subject:"path,erasure:delete"`
	FollowedID int64   `bun:"followed_id,pk" pii:"behavioral,via:Follower"`
	Followed   *Member `bun:"rel:belongs-to,join:followed_id=id" subject:"path,erasure:delete"`
}

func TestARowAboutTwoPeopleLosesThePartOfOne(t *testing.T) {
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		models := []any{(*Member)(nil), (*Message)(nil), (*Follow)(nil)}
		prepare(t, db, models...)
		gdpr, err := app.New(app.Config{DB: db, Models: models})
		must(t, err)
		zoe, bob := int64(42), int64(7)
		insert(t, db, &Member{ID: zoe, Name: "Zoe"}, &Member{ID: bob, Name: "Bob"},
			&Message{ID: 1, SenderID: &zoe, RecipientID: bob, Text: "Hi Bob", Folder: "friends"},
			&Message{ID: 2, SenderID: &bob, RecipientID: zoe, Text: "Hi Zoe", Folder: "work"},
			&Follow{FollowerID: zoe, FollowedID: bob}, &Follow{FollowerID: bob, FollowedID: 9})

		expectText(t, erasing(t, db, gdpr, subject(t, "42"), "members", "messages", "follows"), `
			before    members: id=7, name=Bob
			before    members: id=42, name=Zoe
			before    messages: id=1, sender_id=42, recipient_id=7, text=Hi Bob, folder=friends
			before    messages: id=2, sender_id=7, recipient_id=42, text=Hi Zoe, folder=work
			before    follows: follower_id=7, followed_id=9
			before    follows: follower_id=42, followed_id=7
			exported  members.name = Zoe
			exported  messages.text = Hi Bob
			exported  messages.folder = work
			exported  follows.followed_id = 7
			after     members: id=7, name=Bob
			after     members: id=42, name=anon-…
			after     messages: id=1, sender_id=NULL, recipient_id=7, text=anon-…, folder=friends
			after     messages: id=2, sender_id=7, recipient_id=42, text=Hi Zoe, folder=inbox
			after     follows: follower_id=7, followed_id=9
		`)
	})
}
