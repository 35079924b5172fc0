package scaffold_test

import (
	"slices"
	"strings"
	"testing"
)

func TestStoredFilesOfDeletedRowsAreAsked(t *testing.T) {
	for column, want := range map[string]bool{
		"fileName": true, "storage_key": true, "object_key": true, "file_path": true, "s3_key": true, "blob": true,
		"file_type": false, "storage_class": false, "profile": false, "key": false, "size": false,
	} {
		p := propose(t, schema(users+`
			assets: id*, user_id>users=cascade, content_type, `+column+`
			boards: id*, title
			messages: id*, user_id>users, board_id>boards, body, `+column))
		if slices.Contains(p.asked(), "assets."+column) != want || slices.Contains(p.asked(), "messages."+column) {
			t.Errorf("%s: asked about %v", column, p.asked())
		}
		if want && !strings.Contains(p.column(t, "assets."+column).Note, "external system") {
			t.Errorf("the note of %s is %q", column, p.column(t, "assets."+column).Note)
		}
	}
}

func TestInitialsAreNoFile(t *testing.T) {
	p := propose(t, schema("users: id*, email, avatar_initials, avatar_url"))
	if asked := p.asked(); slices.Contains(asked, "users.avatar_initials") || !slices.Contains(asked, "users.avatar_url") {
		t.Errorf("asked %v", p.Decisions)
	}
}
