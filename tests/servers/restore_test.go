package servers

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/habeas-data/habeas/adapters/journal"
	"github.com/habeas-data/habeas/app"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/internal/tests/postgres"
	"github.com/habeas-data/habeas/ports"
)

// backup makes a backup of a database. The returned function creates a database from this backup, and returns the URL
// of this database.
type backup func(t *testing.T, database string) (restore func() (database string))

func TestAReplayErasesAgainAfterARestore(t *testing.T) {
	t.Run("of pg_dump", func(t *testing.T) {
		replayAfterRestore(t, postgres.NewDatabase(t), func(t *testing.T, database string) func() string {
			file := filepath.Join(t.TempDir(), "backup")
			run(t, "pg_dump", "--format=custom", "--file="+file, "--dbname="+database)
			return func() string {
				restored := postgres.NewDatabase(t)
				run(t, "pg_restore", "--no-owner", "--exit-on-error", "--dbname="+restored, file)
				return restored
			}
		})
	})
	// This backup is a copy of the server's files. After its restore, a sequence may skip some numbers, so the next row
	// may not have the next higher number.
	t.Run("of pg_basebackup", func(t *testing.T) {
		lost := postgres.Private(t, postgres.Durable())
		replayAfterRestore(t, lost.URL(), func(t *testing.T, _ string) func() string {
			directory, err := lost.Backup(t.Context())
			must(t, err)
			return func() string {
				restored := postgres.Private(t, postgres.Durable(), postgres.FromBackup(directory))
				must(t, lost.Stop())
				return restored.URL()
			}
		})
	})
}

// replayAfterRestore tests a replay: it repeats the erasures in the journal, a file that is not part of the backup.
//
//  1. It erases customers 1 and 2, and makes a backup.
//  2. Customer 2 signs up again, and customers 2, 3 and 4 are erased.
//  3. It restores the backup, which does not have the erasures of step 2.
//  4. A replay must repeat these erasures.
func replayAfterRestore(t *testing.T, database string, take backup) {
	t.Helper()
	seed(t, database)
	path := filepath.Join(t.TempDir(), "erasures.jsonl")
	first := openShop(t, database, path)
	first.erase(t, 1, 2)
	first.awaitLines(t, 2)
	restore := take(t, database)
	scalar(t, database, "UPDATE customers SET email = 'c2@example.org' WHERE id = 2")
	first.erase(t, 2, 3, 4)
	first.awaitLines(t, 5)
	must(t, first.gdpr.Worker().Stop(time.Minute))

	restored := restore()
	named := "SELECT string_agg(id::text, ' ' ORDER BY id) FROM customers WHERE email LIKE 'c%@example.org' AND id < 7"
	if back := scalar(t, restored, named); back != "3 4 5 6" {
		t.Fatalf("the backup brings back customers %s", back)
	}
	second := openShop(t, restored, path)
	for _, want := range []domain.ReplayReport{
		{Lines: 5, Subjects: 4, Current: 1, Erased: 3, LastNumber: 5}, {Lines: 5, Subjects: 4, Current: 4, LastNumber: 5},
	} {
		file, err := os.Open(path)
		must(t, err)
		report, err := second.gdpr.Operator().Replay(t.Context(), file, app.ReplayOptions{Expect: 5})
		must(t, file.Close())
		want.LastErasedAt = report.LastErasedAt
		if err != nil || !reflect.DeepEqual(report, want) || report.LastErasedAt.IsZero() {
			t.Errorf("got %+v, %v, want %+v", report, err, want)
		}
		if want.Erased > 0 { // the worker writes the replayed erasures to the journal, too
			second.awaitLines(t, 5+3)
			must(t, os.Truncate(path, int64(len(strings.Join(second.lines(t)[:5], "")))))
		}
	}
	if back := scalar(t, restored, named); back != "5 6" {
		t.Errorf("after the replay, customers %s are not erased", back)
	}
	if n := scalar(t, restored, "SELECT count(*) FROM parcels WHERE customer_id <= 4"); n != "0" {
		t.Errorf("after the replay, %s of their parcels are left", n)
	}
	if trail := second.trail(t, 3); trail[0] != string(domain.EventErasureReplayed) ||
		trail[len(trail)-1] != string(domain.EventErasureCompleted) {
		t.Errorf("the trail of a customer is %v", trail)
	}
	// The worker of the restored database appends to the same journal. The next erasure must be in the journal.
	second.erase(t, 5)
	second.awaitLines(t, 6)
	if lines := second.lines(t); !strings.Contains(lines[5], `["5"]`) {
		t.Errorf("the last line is %s", lines[5])
	}
}

// shopWithJournal is an application whose worker writes a journal, a file with a line for each erasure.
type shopWithJournal struct {
	gdpr *app.Integration
	path string
}

func openShop(t *testing.T, database, path string) shopWithJournal {
	t.Helper()
	file, err := journal.NewFile(path, journal.Options{})
	must(t, err)
	gdpr := integrate(t, app.Config{
		DB: opened(t, database), Journal: file, JournalInterval: 5 * time.Millisecond, PollInterval: time.Hour,
	})
	gdpr.Worker().Start()
	t.Cleanup(func() { must(t, gdpr.Worker().Stop(time.Minute)) })
	return shopWithJournal{gdpr, path}
}

func (s shopWithJournal) erase(t *testing.T, ids ...int64) {
	t.Helper()
	for _, id := range ids {
		_, err := s.gdpr.Operator().Erase(t.Context(), subject(t, id))
		must(t, err)
	}
}

func (s shopWithJournal) lines(t *testing.T) []string {
	t.Helper()
	text, err := os.ReadFile(s.path)
	if os.IsNotExist(err) {
		return nil
	}
	must(t, err)
	lines := strings.SplitAfter(string(text), "\n")
	return lines[:len(lines)-1]
}

func (s shopWithJournal) awaitLines(t *testing.T, n int) {
	t.Helper()
	await(t, time.Minute, "the lines of the journal", func() bool { return len(s.lines(t)) >= n })
}

func (s shopWithJournal) trail(t *testing.T, id int64) (types []string) {
	t.Helper()
	must(t, s.gdpr.Sessions().Do(t.Context(), func(ctx context.Context, session ports.Session) error {
		trail, err := session.Audit().Trail(ctx, subject(t, id).ID)
		types = nil
		for _, event := range trail {
			types = append(types, string(event.EventType))
		}
		return err
	}))
	return types
}

func run(t *testing.T, name string, args ...string) {
	t.Helper()
	path, err := postgres.Program(name)
	must(t, err)
	if output, err := exec.CommandContext(t.Context(), path, args...).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v: %s", name, err, output)
	}
}
