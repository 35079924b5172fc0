package check_test

import (
	"strings"
	"testing"

	"github.com/habeas-data/habeas/adapters/persistence/manifest"
)

// The data map accepts the remedy for a foreign key of users that refuses the deletion of chats.
func TestTheDataMapAcceptsTheRemedyOfARefusedDeletion(t *testing.T) {
	chats := strings.ReplaceAll(lettersInManifest("user_id:bigint", relationInManifest("user_id", "users")),
		"letters", "chats")
	create := []string{
		`CREATE TABLE chats (id bigint PRIMARY KEY, user_id bigint REFERENCES users)`,
		`CREATE INDEX ON chats (user_id)`,
	}
	last := `ALTER TABLE users ADD COLUMN last_viewed_chat_id bigint REFERENCES chats`
	const index = `CREATE INDEX ON users (last_viewed_chat_id)`
	const column = `, {"name": "last_viewed_chat_id", "type": "bigint"}`

	_, found := liveFindings(t, liveCase{statements: append(create, last, index), columns: column, tables: chats})
	if len(found) != 1 || found[0].Code != "delete-restricted" || strings.Contains(found[0].Remedy, "path") ||
		!strings.HasPrefix(found[0].Remedy, "Declare ON DELETE SET NULL, or change the references in the hook") {
		t.Errorf("in a cycle, got %v", found)
	}
	withPath := strings.NewReplacer("COLUMNS", column+`], "relations": [{"path": true, "erasure": "null", `+
		strings.TrimPrefix(relationInManifest("last_viewed_chat_id", "chats"), "{"), "TABLES", chats).Replace(usersInManifest)
	if _, err := manifest.Read(strings.NewReader(withPath)); err == nil || !strings.Contains(err.Error(), "cycle") {
		t.Errorf("the data map accepts the path: %v", err)
	}
	_, found = liveFindings(t, liveCase{
		statements: append(create, last+` ON DELETE SET NULL`, index), columns: column, tables: chats,
	})
	if len(found) > 0 {
		t.Errorf("with the remedy, got %v", found)
	}
}
