package bunstore_test

import (
	"context"
	"errors"
	"fmt"
	neturl "net/url"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/uptrace/bun"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/domain/erasure"
	"github.com/habeas-data/habeas/domain/journal"
	"github.com/habeas-data/habeas/domain/replay"
	"github.com/habeas-data/habeas/internal/system"
	"github.com/habeas-data/habeas/internal/tests/databases"
	"github.com/habeas-data/habeas/internal/tests/fixture"
	"github.com/habeas-data/habeas/internal/tests/postgres"
	"github.com/habeas-data/habeas/ports"
)

// member is a row of the table of members. Its key is a number, or a natural key such as a nickname.
type member struct {
	bun.BaseModel `bun:"table:members"`
	ID            string     `bun:"id,pk,type:varchar(40)"`
	Email         string     `bun:"email"`
	CreatedAt     *time.Time `bun:"created_at"`
}

// clubKind is a way in which an application keeps its members.
type clubKind struct {
	name    string
	deletes bool // an erasure deletes the row
	times   bool // the rows have creation times
	unique  bool // an erasure writes surrogates that differ in each cell
}

var clubKinds = []clubKind{
	{"deleted rows", true, true, false},
	{"kept rows", false, true, true},
	{"kept rows with constants", false, true, false},
	{"natural keys", true, false, false},
	{"natural keys of kept rows", false, false, true},
}

func (k clubKind) dataMap(t *testing.T) datamap.DataMap {
	t.Helper()
	email := datamap.Column{Name: "email", Type: datamap.TypeText, Personal: &datamap.Annotation{
		Category: domain.CategoryContact, Strategy: domain.StrategyAnonymize,
	}}
	if k.deletes {
		email.Personal.Strategy = domain.StrategyDelete
	} else if !k.unique {
		email.Surrogate = "erased"
	}
	m := fixture.MustMap(t, datamap.Table{
		Name: "members", PrimaryKey: []string{"id"}, SubjectKey: []string{"id"}, Owned: k.deletes, Columns: []datamap.Column{
			{Name: "id", Type: datamap.TypeText}, email, {Name: "created_at", Type: datamap.TypeTime},
		},
	})
	return m
}

// club is an application with members. The clock of its database is wrong by the given duration.
type club struct {
	kind   clubKind
	db     *bun.DB
	store  *bunstore.Store
	ids    system.IDs
	now    time.Time // the correct time
	skew   time.Duration
	repeat func(context.Context, ports.Session, domain.Subject, time.Time) (domain.ErasureResult, error)
}

func (c *club) Now() time.Time { return c.now.Add(c.skew) }

// began is the correct time at which the backup begins.
var began = time.Date(2024, 3, 1, 12, 0, 0, 0, time.UTC)

func openClub(t *testing.T, db *bun.DB, kind clubKind, skew time.Duration) *club {
	t.Helper()
	dataMap := kind.dataMap(t)
	store := storeOf(t, db, dataMap, bunstore.Options{})
	c := &club{kind: kind, db: db, store: store, now: began.Add(time.Hour), skew: skew}
	eraser, err := erasure.NewEraser(erasure.Config{Clock: c, IDs: &c.ids, DataMap: dataMap})
	must(t, err)
	c.repeat = eraser.Repeat
	return c
}

func newClub(t *testing.T, db *bun.DB, kind clubKind, skew time.Duration) *club {
	t.Helper()
	must(t, bunstore.Migrate(t.Context(), db, bunstore.Options{}))
	databases.Create(t, db, (*member)(nil))
	return openClub(t, db, kind, skew)
}

// put replaces the row of a member. The parameter joined is the correct time of the registration.
func (c *club) put(t *testing.T, id, email string, joined time.Time) {
	t.Helper()
	row := &member{ID: id, Email: email}
	if c.kind.times {
		joined = joined.Add(123456 * time.Microsecond)
		row.CreatedAt = &joined
	}
	_, err := c.db.NewDelete().Model(row).WherePK().Exec(t.Context())
	must(t, err)
	databases.Insert(t, c.db, row)
}

func (c *club) leave(t *testing.T, ids ...string) {
	t.Helper()
	for _, id := range ids {
		must(t, c.store.Do(t.Context(), func(ctx context.Context, s ports.Session) error {
			_, err := c.repeat(ctx, s, domain.Subject{ID: subjectID(t, id)}, time.Time{})
			return err
		}))
	}
}

func (c *club) registered(t *testing.T, id string) {
	t.Helper()
	must(t, c.store.Do(t.Context(), func(ctx context.Context, s ports.Session) error {
		return s.Subjects().Register(ctx, subjectID(t, id), c.Now())
	}))
}

func (c *club) journal(t *testing.T) string {
	t.Helper()
	var lines strings.Builder
	_, err := journal.Write(t.Context(), c.store, &lines, journal.From{})
	must(t, err)
	return lines.String()
}

func (c *club) replay(t *testing.T, lines string, restoredTo time.Time) (domain.ReplayReport, error) {
	t.Helper()
	replayer, err := replay.NewReplayer(replay.Config{
		Sessions: c.store, Clock: c, IDs: &c.ids, Erase: c.repeat, RestoredTo: restoredTo, Workers: 2,
	})
	must(t, err)
	return replayer.Replay(t.Context(), strings.NewReader(lines), nil)
}

// emails returns the addresses that are not erased, with the ids of their members.
func (c *club) emails(t *testing.T) (found []string) {
	t.Helper()
	var rows []member
	must(t, c.db.NewSelect().Model(&rows).Where("email LIKE ?", "%@example.org").OrderExpr("id").Scan(t.Context()))
	for _, row := range rows {
		found = append(found, row.ID+" "+row.Email)
	}
	return found
}

const (
	old      = "old@example.org" // the address of an erased member
	newcomer = "new@example.org" // the address of somebody who registered after the erasure
)

// verdictOf returns how a replay must judge a member whose erasure is recorded.
func (k clubKind) verdictOf(id string, undone bool) domain.ReplayVerdict {
	switch id {
	case "back", "registered, back": // the tables were restored
		switch {
		case k.deletes && k.times:
			return domain.ReplayErase
		case id == "registered, back" && !k.times && undone:
			return domain.ReplayUnclear
		case id == "registered, back" && !k.times:
			return domain.ReplayNew // Registered was called, and the row says nothing else
		case undone:
			return domain.ReplayErase
		default:
			return domain.ReplayUnclear
		}
	case "again":
		switch {
		case k.times:
			return domain.ReplayNew
		case undone: // the operator vouches for the restore
			return domain.ReplayErase
		default:
			return domain.ReplayUnclear
		}
	case "registered":
		if !k.times && undone {
			return domain.ReplayUnclear
		}
		return domain.ReplayNew
	case "erased":
		if !k.deletes && !k.unique && !undone {
			return domain.ReplayUnclear // a row of a constant can also be a person's
		}
		if !k.deletes && !k.unique {
			return domain.ReplayErase
		}
	}
	return domain.ReplayCurrent
}

// After erasures, only the table of the application is restored. The clock of the database is right, or six hours
// ahead, or six hours behind the clock of the backup and of the creation times.
func TestAReplayAfterARestoreOfTablesAlone(t *testing.T) {
	t.Parallel()
	const ahead, behind = 6 * time.Hour, -6 * time.Hour
	for _, driver := range databases.Drivers() {
		shared := driver.Open(t, driver.NewDatabase(t))
		for _, kind := range clubKinds {
			for _, c := range []struct {
				what       string
				restoredTo time.Time
				skew       time.Duration
				undone     bool
			}{
				{"no instant", time.Time{}, 0, false},
				{"no instant, clock ahead", time.Time{}, ahead, false},
				{"no instant, clock behind", time.Time{}, behind, false},
				{"the begin of the backup", began, 0, true},
				{"the begin of the backup, clock ahead", began, ahead, true},
				{"the begin of the backup, clock behind", began, behind, false},
				{"the current instant", began.Add(3 * time.Hour), 0, false},
			} {
				t.Run(driver.Name+", "+kind.name+", "+c.what, func(t *testing.T) {
					db := emptied(t, driver, shared)
					replayTables(t, newClub(t, db, kind, c.skew), c.restoredTo, c.undone)
				})
			}
		}
	}
}

// emptied returns a database without rows and without the table of members. On PostgreSQL, it is the shared database,
// because a new one, and new connections, take long.
func emptied(t *testing.T, driver databases.Driver, shared *bun.DB) *bun.DB {
	t.Helper()
	if driver.IsSQLite() {
		return driver.Open(t, driver.NewDatabase(t))
	}
	execute(t, shared, "DROP TABLE IF EXISTS members", "DO $$ DECLARE name text; BEGIN FOR name IN SELECT tablename"+
		" FROM pg_tables WHERE schemaname = 'public' AND tablename NOT IN ('habeas_migrations', 'habeas_installation') LOOP"+
		" EXECUTE format('ALTER TABLE %1$I DISABLE TRIGGER USER; TRUNCATE %1$I RESTART IDENTITY;"+
		" ALTER TABLE %1$I ENABLE TRIGGER USER', name); END LOOP; END $$")
	return shared
}

func replayTables(t *testing.T, c *club, restoredTo time.Time, undone bool) {
	t.Helper()
	erased := []string{"back", "registered, back", "again", "registered", "erased"}
	joined := began.AddDate(-1, 0, 0)
	for _, id := range append([]string{"stays"}, erased...) {
		c.put(t, id, old, joined)
	}
	c.leave(t, erased...)
	lines := c.journal(t)
	c.now = began.Add(2 * time.Hour)
	for _, id := range []string{"registered", "registered, back", "again"} {
		c.put(t, id, newcomer, c.now)
		if id != "again" {
			c.registered(t, id)
		}
	}
	for _, id := range []string{"back", "registered, back"} { // the restore
		c.put(t, id, old, joined)
	}
	var want domain.ReplayReport
	var left []string
	for _, id := range erased {
		verdict := c.kind.verdictOf(id, undone)
		switch verdict {
		case domain.ReplayErase:
			want.Erased++
		case domain.ReplayCurrent:
			want.Current++
		case domain.ReplayNew:
			want.New++
		case domain.ReplayUnclear:
			want.Unclear++
		case domain.ReplayOtherRow:
		}
		if email := map[string]string{
			"back": old, "registered, back": old, "again": newcomer, "registered": newcomer,
		}[id]; email != "" && verdict != domain.ReplayErase {
			left = append(left, id+" "+email)
		}
	}
	left = append(left, "stays "+old)
	slices.Sort(left)
	c.now = began.Add(3 * time.Hour)
	for _, what := range []string{"at first", "again"} {
		report, err := c.replay(t, lines, restoredTo)
		got := domain.ReplayReport{
			Current: report.Current, Erased: report.Erased, New: report.New, OtherRow: report.OtherRow, Unclear: report.Unclear,
		}
		if fmt.Sprint(got) != fmt.Sprint(want) || report.Subjects != int64(len(erased)) {
			t.Errorf("%s: got %+v, want %+v", what, report, want)
		}
		if isFinding := errors.Is(err, replay.ErrIncomplete); isFinding != (want.Unclear > 0) || !isFinding && err != nil {
			t.Errorf("%s: got %v", what, err)
		}
		if got := c.emails(t); !slices.Equal(got, left) {
			t.Errorf("%s: left are %q, want %q", what, got, left)
		}
		if undone || c.kind.deletes || c.kind.unique { // who was erased now counts as current
			want.Current, want.Erased = want.Current+want.Erased, 0
		} else {
			want.Unclear, want.Erased = want.Unclear+want.Erased, 0
		}
	}
}

// After erasures, the whole database is restored. The journal repeats them, whatever the clocks say. A number that was
// given to another person after the restore is not erased.
func TestAReplayAfterARestoreOfTheDatabase(t *testing.T) {
	t.Parallel()
	for _, driver := range databases.Drivers() {
		for _, kind := range clubKinds[:4] {
			for _, skew := range []time.Duration{6 * time.Hour, -6 * time.Hour} {
				t.Run(fmt.Sprintf("%s, %s, %v", driver.Name, kind.name, skew), func(t *testing.T) {
					url := driver.NewDatabase(t)
					lost := newClub(t, driver.Open(t, url), kind, skew)
					joined := began.AddDate(-1, 0, 0)
					for _, id := range []string{"back", "before", "stays", "twice"} {
						lost.put(t, id, old, joined)
					}
					lost.leave(t, "before", "twice")
					lost.put(t, "twice", newcomer, began)
					restore := backup(t, driver, lost.db, url)
					lost.put(t, "after", newcomer, began.Add(time.Minute))
					lost.leave(t, "back", "twice", "after")

					c := openClub(t, driver.Open(t, restore), kind, -skew)
					c.put(t, "after", newcomer, began.Add(2*time.Hour)) // another person
					report, err := c.replay(t, lost.journal(t), time.Time{})
					left := []string{"stays " + old}
					if kind.times {
						left = []string{"after " + newcomer, "stays " + old}
					}
					if got := c.emails(t); !slices.Equal(got, left) {
						t.Errorf("left are %q, want %q", got, left)
					}
					unclear, other := int64(0), int64(0)
					if kind.name == "kept rows with constants" { // the member who was erased before the backup
						unclear = 1
					}
					if kind.times {
						other = 1
					}
					if report.Erased != 3-other || report.OtherRow != other || report.Unclear != unclear ||
						report.Current != 1-unclear || (unclear+other > 0) != errors.Is(err, replay.ErrIncomplete) {
						t.Errorf("got %+v, %v", report, err)
					}
				})
			}
		}
	}
}

// backup makes a backup of a database, restores it, and returns the URL of the restored database.
func backup(t *testing.T, driver databases.Driver, db *bun.DB, url string) (restored string) {
	t.Helper()
	if driver.IsSQLite() {
		path := filepath.Join(t.TempDir(), "restored.db")
		execute(t, db, "VACUUM INTO '"+path+"'")
		return databases.SQLiteURL(path)
	}
	admin, err := neturl.Parse(postgres.NewDatabase(t))
	must(t, err)
	original, err := neturl.Parse(url)
	must(t, err)
	databases.Reconnect(db)
	copied := *admin
	copied.Path += "_restored"
	at := driver.Open(t, admin.String())
	execute(t, at, // a database with connections cannot be copied
		`SELECT pg_terminate_backend(pid, 2000) FROM pg_stat_activity WHERE datname = '`+original.Path[1:]+`'`,
		`CREATE DATABASE "`+copied.Path[1:]+`" TEMPLATE "`+original.Path[1:]+`"`)
	t.Cleanup(func() {
		_, err := at.ExecContext(context.WithoutCancel(t.Context()), `DROP DATABASE "`+copied.Path[1:]+`" WITH (FORCE)`)
		must(t, err)
	})
	restored = copied.String()
	return restored
}
