package bunstore_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/internal/tests/databases"
	"github.com/habeas-data/habeas/ports"
)

// The instant of a restore is compared with the clock of the database, and not with that of the process that has erased
// a member. The keys of the members are natural, and the rows have no creation times.
func TestARestoreIsNotComparedWithTheClockOfAProcess(t *testing.T) {
	t.Parallel()
	for _, driver := range databases.Drivers() {
		for _, skew := range []time.Duration{5 * time.Hour, -5 * time.Hour} {
			t.Run(driver.Name+", "+skew.String(), func(t *testing.T) {
				c := newClub(t, driver.Open(t, driver.NewDatabase(t)), clubKinds[3], skew)
				c.now = time.Now()
				c.put(t, "before", old, c.now)
				c.leave(t, "before")
				c.put(t, "before", newcomer, c.now) // another person
				backup := time.Now()
				c.put(t, "after", old, c.now)
				c.leave(t, "after")
				c.put(t, "after", old, c.now) // the restore
				report, err := c.replay(t, "", backup)
				if got := c.emails(t); len(got) != 1 || got[0] != "before "+newcomer {
					t.Errorf("left are %q after %+v, %v", got, report, err)
				}
			})
		}
	}
}

// The restored database does not have the row of the erased member. The row comes back later, with the restore of
// tables from a newer backup.
func TestAReplayTakesTheCreationTimeFromTheLine(t *testing.T) {
	t.Parallel()
	for _, driver := range databases.Drivers() {
		t.Run(driver.Name, func(t *testing.T) {
			url := driver.NewDatabase(t)
			lost := newClub(t, driver.Open(t, url), clubKinds[0], 0)
			restore := backup(t, driver, lost.db, url)
			joined := began.Add(time.Minute)
			lost.put(t, "back", old, joined)
			lost.leave(t, "back")
			lines := lost.journal(t)

			c := openClub(t, driver.Open(t, restore), clubKinds[0], 0)
			for range 2 {
				report, err := c.replay(t, lines, time.Time{})
				must(t, err)
				if report.Erased+report.Current != 1 {
					t.Errorf("got %+v", report)
				}
			}
			c.put(t, "back", old, joined)
			var life domain.Life
			must(t, c.store.Do(t.Context(), func(ctx context.Context, s ports.Session) error {
				state, err := s.Subjects().State(ctx, subjectID(t, "back"))
				life = state.Life
				return err
			}))
			if life != domain.LifeEnded {
				t.Errorf("the life of the row that was restored later is %q", life)
			}
			report, err := c.replay(t, lines, time.Time{})
			if got := c.emails(t); len(got) != 0 || report.Erased != 1 || err != nil {
				t.Errorf("left are %q after %+v, %v", got, report, err)
			}
		})
	}
}

// The tables of habeas are lost. New ones refuse the journal until they have the former id.
func TestNewTablesTakeOverTheFormerInstallation(t *testing.T) {
	t.Parallel()
	for _, driver := range databases.Drivers() {
		t.Run(driver.Name, func(t *testing.T) {
			lost := newClub(t, driver.Open(t, driver.NewDatabase(t)), clubKinds[0], 0)
			lost.put(t, "gone", old, began)
			lost.leave(t, "gone")
			lines := lost.journal(t)
			entry, _, err := domain.ParseJournalLine([]byte(lines))
			must(t, err)

			c := newClub(t, driver.Open(t, driver.NewDatabase(t)), clubKinds[0], 0)
			c.put(t, "gone", old, began)
			c.put(t, "stays", old, began)
			if _, err := c.replay(t, lines, time.Time{}); !errors.Is(err, domain.ErrInvalid) {
				t.Errorf("lines of another installation: %v", err)
			}
			execute(t, c.db, "UPDATE habeas_installation SET installation = '"+entry.Installation+"'")
			report, err := c.replay(t, lines, time.Time{})
			if got := c.emails(t); len(got) != 1 || got[0] != "stays "+old || report.Erased != 1 || err != nil {
				t.Errorf("left are %q after %+v, %v", got, report, err)
			}
		})
	}
}
