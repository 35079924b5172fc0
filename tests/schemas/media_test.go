package schemas

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/uptrace/bun"

	"github.com/habeas-data/habeas/app"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/domain/plan"
	"github.com/habeas-data/habeas/internal/tests/databases"
	"github.com/habeas-data/habeas/internal/tests/fixture"
	"github.com/habeas-data/habeas/ports"
)

// gallery is an application with two external systems for files.
type gallery struct {
	*application
	media, scans *shelf
}

func openGallery(t *testing.T, db *bun.DB, more ...string) gallery {
	t.Helper()
	return openGalleryOf(t, db, mediaModels, append(mediaTables(), more...)...)
}

func openGalleryOf(t *testing.T, db *bun.DB, models []any, statements ...string) gallery {
	t.Helper()
	media, scans := &shelf{name: "media"}, &shelf{name: "scans"}
	config := app.Config{Models: models, Resolvers: []ports.Resolver{media, scans}}
	return gallery{open(t, db, config, statements...), media, scans}
}

// settle processes the outbox until no entry is due.
func (g gallery) settle(t *testing.T) {
	t.Helper()
	for {
		settled, err := g.Stack().Runner.RunOnce(t.Context())
		must(t, err)
		if settled == 0 {
			return
		}
	}
}

// count returns the number of events with the given type in the audit trail of a subject, and the payload of the last
// such event.
func (g gallery) count(t *testing.T, id string, eventType domain.EventType) (n int, last domain.Payload) {
	t.Helper()
	must(t, g.Stack().Sessions.Do(t.Context(), func(ctx context.Context, s ports.Session) error {
		subject, err := domain.NewSubjectID(id)
		if err != nil {
			return err
		}
		events, err := s.Audit().Trail(ctx, subject)
		n = 0
		for _, event := range events {
			if event.EventType == eventType {
				n++
				last = event.Payload
			}
			for _, value := range event.Payload {
				if text := fmt.Sprint(value); strings.Contains(text, "u/") || strings.Contains(text, "avatars") {
					t.Errorf("an event has a key: %v", event.Payload)
				}
			}
		}
		return err
	}))
	return n, last
}

var issuedLate = time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)

func expectShelf(t *testing.T, s *shelf, want ...string) {
	t.Helper()
	if got := s.keys(); !slices.Equal(got, want) {
		t.Errorf("%s was given the keys %q, want %q", s.name, got, want)
	}
}

func TestFilesAreErasedWithTheRowsThatNameThem(t *testing.T) {
	t.Parallel()
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		g := openGallery(t, db)
		result, err := g.erase(t.Context(), "1")
		must(t, err)
		if !slices.Equal(result.EnqueuedExternal, []string{"media", "scans"}) || result.Deleted["uploads"] != 5 {
			t.Errorf("got %+v", result)
		}
		if n, payload := g.count(t, "1", domain.EventErasureLocalCompleted); n != 1 ||
			fmt.Sprint(payload["keys"], payload["enqueued"], payload["skipped_resolvers"]) != "8 2" {
			t.Errorf("got %v", payload)
		}
		if n, _ := g.count(t, "1", domain.EventErasureCompleted); n != 0 {
			t.Error("the erasure is complete before the files are gone")
		}
		g.settle(t)
		if n, _ := g.count(t, "1", domain.EventErasureCompleted); n != 1 {
			t.Errorf("the erasure was completed %d times", n)
		}
		expectShelf(t, g.media, "avatars/1", "banners/1", "card/1", "thanks/1", "thanks/2", "u/1", "u/2")
		expectShelf(t, g.scans, "old")
		if g.text(t, "SELECT count(*) FROM habeas_outbox WHERE ref IS NOT NULL") != "0" {
			t.Error("keys are left in the outbox")
		}

		result, err = g.erase(t.Context(), "1")
		must(t, err)
		g.settle(t)
		expectShelf(t, g.media) // the default picture stays
		if got := g.scans.keys(); len(got) > 0 || len(result.EnqueuedExternal) > 0 {
			t.Errorf("a second erasure hands over %q, %v", got, result.EnqueuedExternal)
		}
	})
}

// A voucher must be kept, and an annex with the same file is deleted. The file must stay until the end of the duty to
// keep the voucher.
func TestAFileStaysAsLongAsARetainedRowNamesIt(t *testing.T) {
	t.Parallel()
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		g := openGalleryOf(t, db, []any{(*archivist)(nil), (*voucher)(nil), (*annex)(nil)},
			"CREATE TABLE archivists (id bigint PRIMARY KEY, name text)",
			"CREATE TABLE vouchers (id bigint PRIMARY KEY, archivist_id bigint REFERENCES archivists, scan text, "+
				"issued_at timestamp)",
			"CREATE TABLE annexes (id bigint PRIMARY KEY, archivist_id bigint REFERENCES archivists, file text)",
			"INSERT INTO archivists VALUES (1, 'Ann')",
			"INSERT INTO vouchers VALUES (1, 1, 'old', '2001-01-01 00:00:00'), (2, 1, 'new', '2099-01-01 00:00:00'), "+
				"(3, 1, 'both', '2001-01-01 00:00:00'), (4, 1, 'both', '2099-01-01 00:00:00')",
			"INSERT INTO annexes VALUES (1, 1, 'new'), (2, 1, 'old'), (3, 1, 'letter'), (4, 1, 'both')")
		_, err := g.erase(t.Context(), "1")
		must(t, err)
		g.settle(t)
		expectShelf(t, g.scans, "letter", "old")

		execute(t, db, "UPDATE vouchers SET issued_at = '2001-01-01 00:00:00' WHERE id = 2")
		execute(t, db, "INSERT INTO annexes VALUES (5, 1, 'new')")
		g.sweep(t)
		expectShelf(t, g.scans)
		if got := g.cells(t, "SELECT scan FROM vouchers ORDER BY id"); got != "anon; anon; anon; both" {
			t.Errorf("the vouchers are %s", got)
		}

		execute(t, db, "UPDATE vouchers SET issued_at = '2001-01-01 00:00:00' WHERE id = 4")
		g.sweep(t)
		expectShelf(t, g.scans, "both")
		_, err = g.erase(t.Context(), "1")
		must(t, err)
		g.settle(t)
		expectShelf(t, g.scans, "new")
	})
}

// sweep sweeps all subjects and settles the outbox.
func (g gallery) sweep(t *testing.T) {
	t.Helper()
	_, err := g.Operator().Sweep(t.Context(), nil)
	must(t, err)
	g.settle(t)
}

func TestFilesAreExportedWithTheRowsThatNameThem(t *testing.T) {
	t.Parallel()
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		g := openGallery(t, db)
		bundle, err := g.export(t.Context(), "1")
		must(t, err)
		expectShelf(t, g.media, "avatars/1", "banners/1", "card/1", "thanks/2", "u/1", "u/2")
		expectShelf(t, g.scans, "new", "old")
		files := slices.DeleteFunc(bundle.Records, func(r domain.ExportRecord) bool {
			return r.Source != "media" && r.Source != "scans"
		})
		if len(files) != 8 || len(bundle.IncompleteSources) > 0 || files[0].Row != "avatars/1" {
			t.Errorf("got %+v, incomplete %v", files, bundle.IncompleteSources)
		}
		g.scans.failingKey = "old"
		bundle, err = g.export(t.Context(), "1")
		if err != nil || !slices.Equal(bundle.IncompleteSources, []string{"scans"}) {
			t.Errorf("got %v, %v", bundle.IncompleteSources, err)
		}
		if _, payload := g.count(t, "1", domain.EventExportCompleted); payload["skipped_resolvers"] != "" ||
			payload["incomplete_sources"] != "scans" {
			t.Errorf("got %v", payload)
		}
	})
}

// An external system fails to delete one file. The erasure must not be complete. The outbox entry with this file keeps
// its list of file names for the next attempt. The other entries have succeeded and no longer have their lists.
func TestAnErasureWaitsForAllItsFiles(t *testing.T) {
	t.Parallel()
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		inserts := make([]string, 250)
		for i := range inserts {
			inserts[i] = fmt.Sprintf("INSERT INTO uploads VALUES (%d, 2, 'v/%d')", 100+i, i)
		}
		g := openGallery(t, db, inserts...)
		g.media.failingKey = "v/42"
		_, err := g.erase(t.Context(), "2")
		must(t, err)
		g.settle(t)
		if n, _ := g.count(t, "2", domain.EventErasureCompleted); n != 0 {
			t.Error("the erasure is complete before all files are gone")
		}
		for _, keys := range g.media.calls {
			if len(keys) > datamap.MaxKeys {
				t.Errorf("a call has %d keys", len(keys))
			}
		}
		if got := g.media.keys(); len(got) != 250+5 || len(slices.Compact(got)) != 250+5 {
			t.Errorf("%d keys were handed over", len(got))
		}
		if g.text(t, "SELECT count(*) FROM habeas_outbox WHERE ref IS NOT NULL") != "1" {
			t.Error("not just the entry that failed keeps its keys")
		}
	})
}

type statements struct{ n atomic.Int64 }

func (s *statements) BeforeQuery(ctx context.Context, _ *bun.QueryEvent) context.Context {
	s.n.Add(1)
	return ctx
}

func (*statements) AfterQuery(context.Context, *bun.QueryEvent) {}

func TestManyFilesTakeFewStatements(t *testing.T) {
	t.Parallel()
	const files = 100_000
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		many := fmt.Sprintf("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d) "+
			"INSERT INTO uploads SELECT 100 + i, 2, 'files/of/somebody/' || i FROM n", files)
		sent := &statements{}
		g := openGallery(t, databases.WithHook(db, sent), many)
		_, err := g.erase(t.Context(), "1") // the first erasure reads the catalog
		must(t, err)
		execute(t, db, "DELETE FROM habeas_outbox")
		g.media.calls = nil
		before := sent.n.Load()
		result, err := g.erase(t.Context(), "2")
		must(t, err)
		if took := sent.n.Load() - before; took < 10 || took > 60 {
			t.Errorf("the erasure took %d statements", took)
		}
		if !slices.Equal(result.EnqueuedExternal, []string{"media"}) {
			t.Errorf("got %v", result.EnqueuedExternal)
		}
		if got := g.text(t, "SELECT count(*) FROM habeas_outbox"); got != fmt.Sprint(files/datamap.MaxKeys+1) {
			t.Errorf("%s entries", got)
		}
		if got := g.text(t, "SELECT count(*) FROM habeas_outbox WHERE turn_at IS NULL"); got != "10" {
			t.Errorf("%s entries leave no room for those of other people", got)
		}
		_, payload := g.count(t, "2", domain.EventErasureLocalCompleted)
		if fmt.Sprint(payload["keys"]) != fmt.Sprint(files+3) {
			t.Errorf("got %v", payload)
		}
	})
}

func TestARefWithoutItsResolverIsRefusedAtStartUp(t *testing.T) {
	t.Parallel()
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		_, err := app.New(app.Config{DB: db, Models: mediaModels, Resolvers: []ports.Resolver{&shelf{name: "scans"}}})
		var places []string
		for _, p := range domain.Problems(err) {
			places = append(places, p.Where()+" "+p.Found+" "+strings.Join(p.Possible, ","))
		}
		want := []string{
			"uploaders.avatar media scans", "uploaders.banner media scans", "uploads.file media scans",
			"presents.card media scans", "presents.thanks media scans",
		}
		if !errors.Is(err, domain.ErrManifest) || !slices.Equal(places, want) {
			t.Errorf("got %q, %v", places, err)
		}
	})
}

// After an erasure has read the file names in a row, no other transaction may change these names until the erasure
// ends. Otherwise, the erasure would delete the row, but not the file with the new name.
func TestNoKeyChangesOnceAnErasureHasReadIt(t *testing.T) {
	t.Parallel()
	db := databases.PostgreSQL(t)
	g := openGallery(t, db)
	must(t, g.Stack().Sessions.Do(t.Context(), func(ctx context.Context, s ports.Session) error {
		id := fixture.MustID(t, "1")
		_, err := s.Subjects().Lock(ctx, id, issuedLate)
		must(t, err)
		keys, err := s.Subjects().Keys(ctx, id, plan.KeyQuery{Resolver: "media", ErasedAt: issuedLate, Limit: 1})
		if err != nil || !slices.Equal(keys, []string{"avatars/1"}) {
			t.Errorf("got %q, %v", keys, err)
		}
		for _, update := range []string{
			"UPDATE uploads SET file = 'u/new' WHERE id = 2", "UPDATE presents SET thanks = 'new' WHERE id = 1",
		} {
			err = db.RunInTx(ctx, nil, func(ctx context.Context, tx bun.Tx) error {
				if _, err := tx.ExecContext(ctx, "SET LOCAL lock_timeout = '50ms'"); err != nil {
					return err
				}
				_, err := tx.ExecContext(ctx, update)
				return err
			})
			if err == nil {
				t.Errorf("%s: the row was changed", update)
			}
		}
		return nil
	}))
}
