package lives

import (
	"bytes"
	"context"
	"fmt"
	"regexp"
	"time"

	"pgregory.net/rapid"

	"github.com/habeas-data/habeas/app/stack"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/journal"
	"github.com/habeas-data/habeas/domain/replay"
	"github.com/habeas-data/habeas/domain/sweep"
	"github.com/habeas-data/habeas/internal/system"
	"github.com/habeas-data/habeas/ports"
)

// clock is the clock of the process that carries out the current step.
type clock struct{ at time.Time }

func (c *clock) Now() time.Time { return c.at }

// game is a sequence of events. The embedded state is what the model expects in the database.
type game struct {
	*rapid.T
	kind
	state
	db      database
	seen    tally
	clock   clock
	ids     system.IDs
	engines stack.Stack

	now     time.Time // the correct time
	people  int       // who exists or existed
	values  int       // the number of values that people gave
	erased  map[int]bool
	gone    map[int]bool // people whose rows vanished without an erasure, see vanish
	backups []backup
	// behind is true after a restore of the whole database, until the replay.
	behind bool
	// tablesAt is the instant of the backup from which the tables were restored last. It is zero if there was no such
	// restore, or if somebody registered since under an id whose erasure the restore may have undone: a replay with this
	// instant cannot tell her from a restored person. After the first replay, an erasure is known to be a later one.
	tablesAt time.Time
	restores int
	lines    []line
	journal  bytes.Buffer
}

func newGame(t *rapid.T, open func(tb, kind) database, seen tally) *game {
	k := rapid.SampledFrom(kinds).Draw(t, "kind")
	g := &game{
		T: t, kind: k, state: newState(), db: open(t, k), seen: seen,
		now:    time.Date(2024, 3, 1, 12, 0, 0, 123456000, time.UTC),
		erased: map[int]bool{}, gone: map[int]bool{},
	}
	dataMap, err := k.dataMap()
	must(t, err)
	g.engines, err = stack.New(stack.Config{Sessions: g.db.sessions(), DataMap: dataMap, Clock: &g.clock})
	must(t, err)
	return g
}

// pass lets time pass, so that no two events have the same instant.
func (g *game) pass(d time.Duration) { g.now = g.now.Add(d + time.Second + 1001*time.Microsecond) }

// skew returns by how much the clock of a process is wrong.
func (g *game) skew(label string) time.Duration {
	return rapid.SampledFrom([]time.Duration{0, 6 * time.Hour, -6 * time.Hour}).Draw(g.T, label)
}

// step carries out fn in a process whose clock may be wrong by hours. fn must not use the model, because a restore of
// the memory repeats it. It returns the time of the process.
func (g *game) step(fn func(ctx context.Context) error) (at time.Time, err error) {
	g.pass(0)
	at = domain.Instant(g.now.Add(g.skew("skew")))
	run := func() {
		g.clock.at = at
		err = fn(g.Context())
	}
	g.db.record(run)
	run()
	return at, err
}

// session carries out fn in a session, in a process whose clock may be wrong.
func (g *game) session(fn func(ctx context.Context, s ports.Session) error) (at time.Time, err error) {
	return g.step(func(ctx context.Context) error { return g.db.sessions().Do(ctx, fn) })
}

func (g *game) read(fn func(ctx context.Context, s ports.Session) error) {
	g.Helper()
	must(g, g.db.sessions().Do(g.Context(), fn))
}

func (g *game) subject(id string) domain.Subject { return domain.Subject{ID: subjectID(g, id)} }

// value returns a new value of a person.
func (g *game) value(person int) string {
	g.values++
	return fmt.Sprintf("p%d-%d", person, g.values)
}

// erase carries out an erasure.
func (g *game) erase(ctx context.Context, s ports.Session, subject domain.Subject) error {
	_, err := g.engines.Eraser.Erase(ctx, s, subject)
	return err
}

func (g *game) sweeper() *sweep.Sweeper {
	sweeper, err := sweep.NewSweeper(sweep.Config{
		Sessions: g.db.sessions(), Clock: &g.clock, IDs: &g.ids, DataMap: g.engines.DataMap,
		Plan: g.engines.Eraser.Plan(), Batch: 1,
	})
	must(g, err)
	return sweeper
}

// installation matches the member of a line. A memory that is built again has another installation.
var installation = regexp.MustCompile(`"installation":"[^"]*"`)

// replayed replays the lines in the current database.
func (g *game) replayed(ctx context.Context, lines []byte, to time.Time) (report domain.ReplayReport, err error) {
	err = g.db.sessions().Do(ctx, func(ctx context.Context, s ports.Session) error {
		own, err := s.Installation().Read(ctx)
		lines = installation.ReplaceAll(lines, []byte(`"installation":"`+own.ID+`"`))
		return err
	})
	if err != nil {
		return report, err
	}
	replayer, err := replay.NewReplayer(replay.Config{
		Sessions: g.db.sessions(), Clock: &g.clock, IDs: &g.ids, Erase: g.engines.Eraser.Repeat, RestoredTo: to, Workers: 1,
	})
	if err != nil {
		return report, err
	}
	return replayer.Replay(ctx, bytes.NewReader(lines), nil)
}

// write appends the lines of new erasures to the journal. The marks get the numbers of their lines.
func (g *game) write() {
	after := int64(0)
	if len(g.lines) > 0 {
		after = g.lines[len(g.lines)-1].number
	}
	var text bytes.Buffer
	_, err := journal.Write(g.Context(), g.db.sessions(), &text, journal.From{After: after})
	must(g, err)
	g.journal.Write(text.Bytes())
	for raw := range bytes.Lines(text.Bytes()) {
		entry, _, err := domain.ParseJournalLine(raw)
		must(g, err)
		id := entry.SubjectID.String()
		g.lines = append(g.lines, line{id, entry.Number, entry.AddedAt})
		m := g.marks[id]
		m.number = entry.Number
		g.marks[id] = m
		if !entry.AddedAt.Equal(m.added) || !entry.ErasedAt.Equal(m.at) {
			g.Fatalf("the line of %s has the instants %v and %v, want %+v", id, entry.AddedAt, entry.ErasedAt, m)
		}
	}
}
