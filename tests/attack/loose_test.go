package attack

import (
	"errors"
	"testing"

	"github.com/uptrace/bun"

	"github.com/habeas-data/habeas/app"
	"github.com/habeas-data/habeas/tests/databases"
)

type member struct {
	bun.BaseModel `bun:"table:members" subject:"owned"`
	Handle        string `bun:"handle,pk" subject:"id"`
	Email         string `bun:"email" pii:"contact"`
}

type post struct {
	bun.BaseModel `bun:"table:posts" subject:"owned"`
	ID            string  `bun:"id,pk"`
	Handle        string  `bun:"handle"`
	Member        *member `bun:"rel:belongs-to,join:handle=handle"`
	Body          string  `bun:"body" pii:"communication"`
}

type remark struct {
	bun.BaseModel `bun:"table:remarks" subject:"owned"`
	ID            int64  `bun:"id,pk"`
	PostID        string `bun:"post_id"`
	Post          *post  `bun:"rel:belongs-to,join:post_id=id"`
	Body          string `bun:"body" pii:"communication"`
}

var forum = []any{(*member)(nil), (*post)(nil), (*remark)(nil)}

// The key is strict (Ada and ada are two persons), the foreign key compares loosely.
func TestAStrictKeyWithALooseForeignKey(t *testing.T) {
	for name, types := range map[string][2]string{
		"nocase": {"citext", "text COLLATE NOCASE"},
		"loose":  {"text COLLATE loose", "text COLLATE RTRIM"},
	} {
		t.Run(name, func(t *testing.T) {
			databases.Each(t, func(t *testing.T, db *bun.DB) {
				fk, prepare, other := types[1], []string(nil), "ada"
				if name == "loose" && !isPostgres(db) {
					other = "Ada "
				}
				if isPostgres(db) {
					fk = types[0]
					prepare = []string{
						"CREATE EXTENSION IF NOT EXISTS citext",
						"CREATE COLLATION loose (provider = icu, locale = 'und-u-ks-level2', deterministic = false)",
					}
				}
				a := open(t, db, app.Config{Models: forum}, append(prepare,
					"CREATE TABLE members (handle text PRIMARY KEY, email text)",
					"CREATE TABLE posts (id text PRIMARY KEY, handle "+fk+", body text)",
					"CREATE TABLE remarks (id bigint PRIMARY KEY, post_id "+fk+", body text)",
					"INSERT INTO members VALUES ('Ada', 'a@example.org'), ('"+other+"', 'b@example.org')",
					"INSERT INTO posts VALUES ('P', 'Ada', 'of Ada'), ('p', '"+other+"', 'of ada')",
					"INSERT INTO remarks VALUES (1, 'P', 'of Ada'), (2, 'p', 'of ada')")...)
				if bundle, err := a.export(t.Context(), other); err != nil || len(bundle.Records) != 3 {
					t.Errorf("exported %v, %v", bundle.Records, err)
				}
				_, err := a.erase(t.Context(), other)
				if a.count(t, "SELECT count(*) FROM posts WHERE body = 'of Ada'") != 1 {
					t.Errorf("the other's post is erased (%v)", err)
				}
				if a.count(t, "SELECT count(*) FROM remarks WHERE body = 'of Ada'") != 1 {
					t.Errorf("the other's remark is erased (%v)", err)
				}
				if err == nil && a.count(t, "SELECT count(*) FROM posts WHERE body = 'of ada'")+
					a.count(t, "SELECT count(*) FROM remarks WHERE body = 'of ada'") != 0 {
					t.Errorf("something is left")
				}
				if err != nil {
					t.Logf("erase: %v (%v)", err, errors.Unwrap(err))
				}
			})
		})
	}
}

// Many ids are long digits (Discord, Google): a column of NUMERIC affinity ("STRING" too) holds a REAL of them.
func TestALongNumericIDWithANumericForeignKey(t *testing.T) {
	for _, fk := range []string{"STRING", "INTEGER", "NUMERIC", "REAL"} {
		for _, id := range []string{"104857600123456789012", "12345", "1e5", "007"} {
			t.Run(fk+id, func(t *testing.T) {
				a := open(t, databases.SQLite(t), app.Config{Models: forum},
					"CREATE TABLE members (handle text PRIMARY KEY, email text)",
					"CREATE TABLE posts (id text PRIMARY KEY, handle "+fk+" REFERENCES members, body text)",
					"CREATE TABLE remarks (id bigint PRIMARY KEY, post_id "+fk+", body text)",
					"PRAGMA foreign_keys = OFF",
					"INSERT INTO members VALUES ('"+id+"', 'a@example.org')",
					"INSERT INTO posts VALUES ('P', '"+id+"', 'x')",
				)
				_, err := a.erase(t.Context(), id)
				if err != nil {
					t.Fatal(err, errors.Unwrap(err))
				}
				if n := a.count(t, "SELECT count(*) FROM posts"); n > 0 {
					t.Errorf("left after success: %d", n)
				}
			})
		}
	}
}
