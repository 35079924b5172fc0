package cookbook_test

import (
	"testing"

	"github.com/uptrace/bun"

	"github.com/habeas-data/habeas/app"
	"github.com/habeas-data/habeas/internal/tests/databases"
)

type Speaker struct {
	bun.BaseModel `bun:"table:speakers"`

	ID   int64  `bun:"id,pk" subject:"id"`
	Name string `bun:"name" pii:"identity,erasure:anonymize"`
}

// Comment is deleted. The replies of other people to it stay, and lose their reference.
type Comment struct {
	bun.BaseModel `bun:"table:comments" subject:"owned"`

	ID        int64    `bun:"id,pk"`
	SpeakerID int64    `bun:"speaker_id"`
	Speaker   *Speaker `bun:"rel:belongs-to,join:speaker_id=id"`
	ParentID  *int64   `bun:"parent_id"`
	Parent    *Comment `bun:"rel:belongs-to,join:parent_id=id" subject:"erasure:null"`
	Text      string   `bun:"text" pii:"communication"`
}

// Answer stays without its text, so that the thread stays readable.
type Answer struct {
	bun.BaseModel `bun:"table:answers"`

	ID        int64    `bun:"id,pk"`
	SpeakerID int64    `bun:"speaker_id"`
	Speaker   *Speaker `bun:"rel:belongs-to,join:speaker_id=id"`
	ParentID  *int64   `bun:"parent_id"`
	Parent    *Answer  `bun:"rel:belongs-to,join:parent_id=id"`
	Text      string   `bun:"text" pii:"communication,erasure:anonymize,surrogate:'[deleted]'"`
}

func TestRepliesOfOthersStay(t *testing.T) {
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		models := []any{(*Speaker)(nil), (*Comment)(nil), (*Answer)(nil)}
		prepare(t, db, models...)
		gdpr, err := app.New(app.Config{DB: db, Models: models})
		must(t, err)
		first := int64(1)
		insert(t, db, &Speaker{ID: 42, Name: "Zoe"}, &Speaker{ID: 7, Name: "Bob"},
			&Comment{ID: 1, SpeakerID: 42, Text: "First"}, &Comment{ID: 2, SpeakerID: 7, ParentID: &first, Text: "Second"},
			&Answer{ID: 1, SpeakerID: 42, Text: "First"}, &Answer{ID: 2, SpeakerID: 7, ParentID: &first, Text: "Second"})
		expectText(t, erasing(t, db, gdpr, subject(t, "42"), "comments", "answers"), `
			before    comments: id=1, speaker_id=42, parent_id=NULL, text=First
			before    comments: id=2, speaker_id=7, parent_id=1, text=Second
			before    answers: id=1, speaker_id=42, parent_id=NULL, text=First
			before    answers: id=2, speaker_id=7, parent_id=1, text=Second
			exported  speakers.name = Zoe
			exported  comments.text = First
			exported  answers.text = First
			after     comments: id=2, speaker_id=7, parent_id=NULL, text=Second
			after     answers: id=1, speaker_id=42, parent_id=NULL, text=[deleted]
			after     answers: id=2, speaker_id=7, parent_id=1, text=Second
		`)
	})
}
