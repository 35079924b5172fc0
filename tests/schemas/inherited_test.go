package schemas

import (
	"errors"
	"strings"
	"testing"

	"github.com/uptrace/bun"

	"github.com/habeas-data/habeas/app"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/internal/tests/databases"
)

// These are the models of a forum. A post goes with its author. It stays if the person whom it answers is erased.

type poster struct {
	bun.BaseModel `bun:"table:posters"`
	ID            int64  `bun:"id,pk" subject:"id"`
	Email         string `bun:"email" pii:"contact,erasure:anonymize"`
}

type thread struct {
	bun.BaseModel `bun:"table:posts"`
	ID            int64   `bun:"id,pk"`
	AuthorID      int64   `bun:"author_id"`
	Author        *poster `bun:"rel:belongs-to,join:author_id=id" subject:"path,erasure:delete"`
	AnsweredID    *int64  `bun:"answered_id"`
	Answered      *poster `bun:"rel:belongs-to,join:answered_id=id" subject:"path,erasure:null"`
	ReplyTo       *int64  `bun:"reply_to"`
	Reply         *thread `bun:"rel:belongs-to,join:reply_to=id" subject:"erasure:null"`
	Body          string  `bun:"body" pii:"communication,via:Author"`
}

type like struct {
	bun.BaseModel `bun:"table:likes"`
	PostID        int64   `bun:"post_id,pk"`
	Post          *thread `bun:"rel:belongs-to,join:post_id=id" subject:"path,erasure:delete"`
	LikerID       int64   `bun:"liker_id,pk"`
	Liker         *poster `bun:"rel:belongs-to,join:liker_id=id" subject:"path,erasure:delete"`
}

// bookmark has only columns that link, so the table names the paths that delete its rows.
type bookmark struct {
	bun.BaseModel `bun:"table:bookmarks" subject:"owned,via:'Reader,Post.Author'"`
	PostID        int64   `bun:"post_id,pk"`
	Post          *thread `bun:"rel:belongs-to,join:post_id=id" subject:"path"`
	ReaderID      int64   `bun:"reader_id,pk"`
	Reader        *poster `bun:"rel:belongs-to,join:reader_id=id" subject:"path"`
}

var board = []any{(*poster)(nil), (*thread)(nil), (*like)(nil), (*bookmark)(nil)}

// boardTables returns the tables of the forum. Poster 1 wrote post 10, poster 2 answered with post 20, and poster 3
// answered that with post 30. Poster 4 likes and keeps all posts.
func boardTables() []string {
	return []string{
		"CREATE TABLE posters (id bigint PRIMARY KEY, email text)",
		"CREATE TABLE posts (id bigint PRIMARY KEY, author_id bigint NOT NULL REFERENCES posters," +
			" answered_id bigint REFERENCES posters, reply_to bigint REFERENCES posts, body text)",
		"CREATE TABLE likes (post_id bigint REFERENCES posts, liker_id bigint REFERENCES posters," +
			" PRIMARY KEY (post_id, liker_id))",
		"CREATE TABLE bookmarks (post_id bigint REFERENCES posts, reader_id bigint REFERENCES posters," +
			" PRIMARY KEY (post_id, reader_id))",
		"INSERT INTO posters VALUES (1, 'a'), (2, 'b'), (3, 'c'), (4, 'd')",
		"INSERT INTO posts VALUES (10, 1, NULL, NULL, 'one'), (20, 2, 1, 10, 'two'), (30, 3, 2, 20, 'three')," +
			" (31, 3, 3, 30, 'x')",
		"INSERT INTO likes VALUES (10, 4), (20, 4), (30, 4), (20, 1), (10, 1)",
		"INSERT INTO bookmarks VALUES (10, 4), (20, 4), (30, 4), (20, 1)",
	}
}

// postTrigger returns statements that add a trigger to the posts. The store then carries out the steps one by one, and
// verifies them.
func postTrigger(db *bun.DB) []string {
	if !isPostgres(db) {
		return []string{"CREATE TRIGGER touched AFTER UPDATE ON posts BEGIN SELECT 1; END"}
	}
	return []string{
		"CREATE FUNCTION touched() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END'",
		"CREATE TRIGGER touched AFTER UPDATE ON posts FOR EACH ROW EXECUTE FUNCTION touched()",
	}
}

// The erasure of the person whom a post answers keeps the post, and the likes that other people gave to the post. The
// erasure of the author deletes them, and clears the reference in the answer of another person.
func TestAnErasureReachesRowsOnlyThroughRowsThatGo(t *testing.T) {
	t.Parallel()
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		for _, trigger := range []bool{false, true} {
			execute(t, db, "DROP TABLE IF EXISTS bookmarks", "DROP TABLE IF EXISTS likes", "DROP TABLE IF EXISTS posts",
				"DROP TABLE IF EXISTS posters")
			statements := boardTables()
			if trigger {
				statements = append(statements, postTrigger(db)...)
			}
			a := open(t, db, app.Config{Models: board}, statements...)
			expect := func(who, posts, likes, bookmarks string) {
				t.Helper()
				for query, want := range map[string]string{
					"SELECT id, answered_id, reply_to, body FROM posts ORDER BY id":           posts,
					"SELECT post_id, liker_id FROM likes ORDER BY post_id, liker_id":          likes,
					"SELECT post_id, reader_id FROM bookmarks ORDER BY post_id, reader_id":    bookmarks,
					"SELECT id, email FROM posters WHERE email NOT LIKE 'anon-%' ORDER BY id": who,
				} {
					if got := a.cells(t, query); got != want {
						t.Errorf("trigger %t, %s:\n got %s\nwant %s", trigger, query, got, want)
					}
				}
			}
			// Poster 1 wrote post 10, and is the person whom post 20 answers.
			result, err := a.erase(t.Context(), "1")
			if err != nil || result.Deleted["posts"] != 1 || result.Deleted["likes"] != 3 || result.Anonymized["posts"] != 2 {
				t.Errorf("trigger %t: got %+v, %v", trigger, result, err)
			}
			const rest = "20 - - two; 30 2 20 three; 31 3 30 x"
			expect("2 b; 3 c; 4 d", rest, "20 4; 30 4", "20 4; 30 4")
			if _, err := a.erase(t.Context(), "1"); err != nil {
				t.Error(err)
			}
			expect("2 b; 3 c; 4 d", rest, "20 4; 30 4", "20 4; 30 4")
			// Poster 3 wrote the posts 30 and 31, which refer to each other.
			if _, err := a.erase(t.Context(), "3"); err != nil {
				t.Error(err)
			}
			expect("2 b; 4 d", "20 - - two", "20 4", "20 4")
		}
	})
}

type footnote struct {
	bun.BaseModel `bun:"table:footnotes" subject:"owned"`
	ID            int64   `bun:"id,pk"`
	WriterID      int64   `bun:"writer_id"`
	Writer        *poster `bun:"rel:belongs-to,join:writer_id=id" subject:"path"`
	PostID        *int64  `bun:"post_id"`
	Post          *thread `bun:"rel:belongs-to,join:post_id=id"`
	Text          string  `bun:"text" pii:"communication"`
}

func TestARelationToDeletedRowsThatIsNoPathIsRefused(t *testing.T) {
	t.Parallel()
	db := databases.SQLite(t)
	_, err := app.New(app.Config{DB: db, Models: append([]any{(*footnote)(nil)}, board...)})
	if !errors.Is(err, domain.ErrManifest) {
		t.Fatalf("got %v, want %v", err, domain.ErrManifest)
	}
	for _, says := range []string{
		"footnotes.post_id: refers to posts by the relation posts, which is not a path", `subject:"path,erasure:delete"`,
		`subject:"path,erasure:null"`, "ON DELETE SET NULL",
	} {
		if !strings.Contains(err.Error(), says) {
			t.Errorf("got %v, which does not say %q", err, says)
		}
	}
}
