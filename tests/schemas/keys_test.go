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

type member struct {
	bun.BaseModel `bun:"table:members" subject:"owned"`
	Handle        string `bun:"handle,pk" subject:"id"`
	Email         string `bun:"email" pii:"contact"`
}

type post struct {
	bun.BaseModel `bun:"table:posts" subject:"owned"`
	ID            int64   `bun:"id,pk"`
	Handle        string  `bun:"handle"`
	Member        *member `bun:"rel:belongs-to,join:handle=handle"`
	Body          string  `bun:"body" pii:"communication"`
}

type remark struct {
	bun.BaseModel `bun:"table:remarks" subject:"owned"`
	ID            int64  `bun:"id,pk"`
	PostID        int64  `bun:"post_id"`
	Post          *post  `bun:"rel:belongs-to,join:post_id=id"`
	Body          string `bun:"body" pii:"communication"`
}

var forum = []any{(*member)(nil), (*post)(nil), (*remark)(nil)}

// In each case, the database treats two different texts, such as Ada and ada, as equal keys. One of them is stored. An
// operation on the subject with the other text must change no row.
func TestTheIDOfASubjectMustEqualTheStoredText(t *testing.T) {
	t.Parallel()
	const uuid = "6ba7b810-9dad-11d1-80b4-00c04fd430c8"
	for name, test := range map[string]struct{ postgres, sqlite, stored, other string }{
		"citext":                      {"citext", "text COLLATE NOCASE", "Ada", "ada"},
		"char(n)":                     {"char(8)", "text COLLATE RTRIM", "Ada", "Ada "},
		"a collation without case":    {"text COLLATE loose", "text COLLATE NOCASE", "Ada", "ADA"},
		"a UUID whose model is texts": {"uuid", "text COLLATE NOCASE", uuid, strings.ToUpper(uuid)},
		"a number":                    {"text", "integer", "7", "007"},
	} {
		t.Run(name, func(t *testing.T) {
			databases.Each(t, func(t *testing.T, db *bun.DB) {
				key, prepare := test.sqlite, []string(nil)
				if isPostgres(db) {
					key, prepare = test.postgres, []string{
						"CREATE EXTENSION IF NOT EXISTS citext",
						"CREATE COLLATION loose (provider = icu, locale = 'und-u-ks-level2', deterministic = false)",
					}
				}
				a := open(t, db, app.Config{Models: forum}, append(prepare,
					"CREATE TABLE members (handle "+key+" PRIMARY KEY, email text)",
					"CREATE TABLE posts (id bigint PRIMARY KEY, handle "+key+" REFERENCES members, body text)",
					"CREATE TABLE remarks (id bigint PRIMARY KEY, post_id bigint REFERENCES posts, body text)",
					"INSERT INTO members VALUES ('"+test.stored+"', 'a@example.org')",
					"INSERT INTO posts VALUES (1, '"+test.stored+"', 'x')", "INSERT INTO remarks VALUES (1, 1, 'x')")...)
				_, erasing := a.erase(t.Context(), test.other)
				if rows := a.count(t, "SELECT (SELECT count(*) FROM members) + (SELECT count(*) FROM posts)"+
					" + (SELECT count(*) FROM remarks)"); rows != 3 {
					t.Errorf("%d rows are left (%v)", rows, erasing)
				}
				bundle, exporting := a.export(t.Context(), test.other)
				if len(bundle.Records) > 0 {
					t.Errorf("exported %v, %v", bundle.Records, exporting)
				}
				_, correcting := a.rectify(t.Context(), test.other, domain.Corrections{domain.CategoryContact: "c@example.org"})
				if a.text(t, "SELECT email FROM members") != "a@example.org" {
					t.Error("rectified")
				}
				for what, err := range map[string]error{"erased": erasing, "exported": exporting, "rectified": correcting} {
					if (!isPostgres(db) || name != "a number") && !errors.Is(err, domain.ErrSubject) {
						t.Errorf("%s: %v", what, err)
					}
				}
				if bundle, err := a.export(t.Context(), test.stored); err != nil || len(bundle.Records) != 3 {
					t.Errorf("exported %d records, %v", len(bundle.Records), err)
				}
				result, err := a.erase(t.Context(), test.stored)
				if err != nil || result.Deleted["members"] != 1 || result.Deleted["posts"] != 1 || result.Deleted["remarks"] != 1 {
					t.Errorf("erased %v, %v (%v)", result.Deleted, err, errors.Unwrap(err))
				}
			})
		})
	}
}

// The database treats Ada and ADA as equal keys. An erasure of the subject Ada also deletes the rows whose foreign key
// is ADA.
func TestRowsWithAnotherSpellingOfTheKeyAreErased(t *testing.T) {
	t.Parallel()
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		key, prepare := "text COLLATE NOCASE", []string(nil)
		if isPostgres(db) {
			key, prepare = "citext", []string{"CREATE EXTENSION IF NOT EXISTS citext"}
		}
		a := open(t, db, app.Config{Models: forum}, append(prepare,
			"CREATE TABLE members (handle "+key+" PRIMARY KEY, email text)",
			"CREATE TABLE posts (id bigint PRIMARY KEY, handle "+key+" REFERENCES members, body text)",
			"CREATE TABLE remarks (id bigint PRIMARY KEY, post_id bigint REFERENCES posts, body text)",
			"INSERT INTO members VALUES ('Ada', 'a@example.org'), ('Bob', 'b@example.org')",
			"INSERT INTO posts VALUES (1, 'ADA', 'x'), (2, 'Bob', 'x')",
			"INSERT INTO remarks VALUES (1, 1, 'x'), (2, 2, 'x')")...)
		result, err := a.erase(t.Context(), "Ada")
		if err != nil || result.Deleted["posts"] != 1 || result.Deleted["remarks"] != 1 {
			t.Errorf("erased %v, %v", result.Deleted, err)
		}
	})
}

type tenant struct {
	bun.BaseModel `bun:"table:tenants"`
	Tenant        int64  `bun:"tenant,pk"`
	ID            int64  `bun:"id,pk" subject:"id"`
	Email         string `bun:"email" pii:"contact,erasure:anonymize"`
}

type wholeTenant struct {
	bun.BaseModel `bun:"table:tenants"`
	Tenant        int64  `bun:"tenant,pk" subject:"id"`
	ID            int64  `bun:"id,pk" subject:"id"`
	Email         string `bun:"email" pii:"contact,erasure:anonymize"`
}

type bill struct {
	bun.BaseModel `bun:"table:bills"`
	ID            int64        `bun:"id,pk"`
	TenantID      int64        `bun:"tenant_id"`
	Tenant        *wholeTenant `bun:"rel:belongs-to,join:tenant_id=id"`
	Sum           string       `bun:"sum" pii:"financial,erasure:anonymize"`
}

func TestAPartOfACompositeKeyIsRefused(t *testing.T) {
	t.Parallel()
	for name, models := range map[string][]any{
		"subject":  {(*tenant)(nil)},
		"relation": {(*wholeTenant)(nil), (*bill)(nil)},
	} {
		_, err := app.New(app.Config{DB: databases.SQLite(t), Models: models})
		if !errors.Is(err, domain.ErrManifest) || !strings.Contains(err.Error(), "tenant") {
			t.Errorf("%s: got %v", name, err)
		}
	}
}
