package objectstore_test

import (
	"context"
	"database/sql"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect/sqlitedialect"
	"gocloud.dev/blob"
	_ "modernc.org/sqlite" // driver "sqlite"

	"github.com/habeas-data/habeas/adapters/objectstore"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore"
	"github.com/habeas-data/habeas/app"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports"
)

type Member struct {
	bun.BaseModel `bun:"table:members"`

	ID      int64  `bun:"id,pk" subject:"id"`
	Name    string `bun:"name" pii:"identity,erasure:anonymize"`
	Picture string `bun:"picture" pii:"identity,surrogate:'',export:no,ref:files"`
}

type Upload struct {
	bun.BaseModel `bun:"table:uploads" subject:"owned"`

	ID       int64   `bun:"id,pk"`
	MemberID int64   `bun:"member_id"`
	Member   *Member `bun:"rel:belongs-to,join:member_id=id"`
	File     string  `bun:"file" pii:"identity,ref:files"`
}

func withFiles(db *bun.DB, bucket *blob.Bucket) (*app.Integration, error) {
	files, err := objectstore.New(bucket, objectstore.Options{})
	if err != nil {
		return nil, err
	}
	return app.New(app.Config{DB: db, Models: []any{(*Member)(nil), (*Upload)(nil)}, Resolvers: []ports.Resolver{files}})
}

func TestFilesGoWithTheirOwner(t *testing.T) {
	w := newWorld(t, true)
	w.write(t, "uploads/42/cv.pdf", "old cv", "new cv")
	w.write(t, "pictures/a1b2.png", "a picture")
	w.write(t, "uploads/7/cv.pdf", "another's cv")
	ctx, db := t.Context(), openSQLite(t)
	must(t, bunstore.Migrate(ctx, db, bunstore.Options{}))
	zoe := &Member{ID: 42, Name: "Zoe", Picture: "pictures/a1b2.png"}
	for _, row := range []any{zoe, &Upload{ID: 1, MemberID: 42, File: "uploads/42/cv.pdf"}} {
		_, err := db.NewCreateTable().Model(row).Exec(ctx)
		must(t, err)
		_, err = db.NewInsert().Model(row).Exec(ctx)
		must(t, err)
	}
	gdpr, err := withFiles(db, w.bucket)
	must(t, err)
	subject, err := domain.NewSubject("42")
	must(t, err)

	var contents, cells []string
	must(t, gdpr.Stack().Sessions.Do(ctx, func(ctx context.Context, s ports.Session) error {
		bundle, err := gdpr.Stack().Exporter.Export(ctx, s, subject)
		contents, cells = nil, nil
		for _, record := range bundle.Records {
			if content, ok := record.Value.([]byte); ok {
				contents = append(contents, record.Row+": "+string(content))
			} else if record.Source != objectstore.Name {
				cells = append(cells, fmt.Sprintf("%s.%s = %v", record.Source, record.Field, record.Value))
			}
		}
		return err
	}))
	slices.Sort(contents)
	if want := []string{"pictures/a1b2.png: a picture", "uploads/42/cv.pdf: new cv"}; !slices.Equal(contents, want) {
		t.Errorf("exported %q", contents)
	}
	if want := []string{"members.name = Zoe", "uploads.file = uploads/42/cv.pdf"}; !slices.Equal(cells, want) {
		t.Errorf("exported %q", cells)
	}

	_, err = gdpr.Operator().Erase(ctx, subject)
	must(t, err)
	for settled := 1; settled > 0; { // as a running worker does
		settled, err = gdpr.Stack().Runner.RunOnce(ctx)
		must(t, err)
	}
	if got := w.versions(t); !maps.Equal(got, map[string]int{"uploads/7/cv.pdf": 1}) {
		t.Errorf("left: %v", got)
	}
	must(t, db.NewSelect().Model(zoe).WherePK().Scan(ctx))
	uploads, err := db.NewSelect().Model((*Upload)(nil)).Count(ctx)
	must(t, err)
	if uploads != 0 || zoe.Picture != "" || !strings.HasPrefix(zoe.Name, "anon-") {
		t.Errorf("left: %v", zoe)
	}
}

func openSQLite(t *testing.T) *bun.DB {
	t.Helper()
	file := filepath.Join(t.TempDir(), "test.db") + "?_pragma=busy_timeout(10000)&_pragma=journal_mode(wal)"
	sqldb, err := sql.Open("sqlite", "file:"+file)
	must(t, err)
	t.Cleanup(func() { _ = sqldb.Close() })
	return bun.NewDB(sqldb, sqlitedialect.New())
}
