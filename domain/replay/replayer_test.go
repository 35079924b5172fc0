package replay_test

import (
	"context"
	"errors"
	"io"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/habeas-data/habeas/adapters/persistence/memory"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/domain/replay"
	"github.com/habeas-data/habeas/internal/tests/fixture"
	"github.com/habeas-data/habeas/ports"
)

var noon = time.Date(2024, 3, 1, 12, 0, 0, 0, time.UTC)

type clock struct{}

func (clock) Now() time.Time { return noon.AddDate(0, 1, 0) }

// world is a restored database. It records which subjects the replay erases.
type world struct {
	*memory.Store
	mu       sync.Mutex
	erased   []domain.Subject
	erasedAt time.Time // of the last subject, as the replay has passed it
	fail     map[string]error
	ids      fixture.IDs
}

func newWorld(t *testing.T) *world {
	t.Helper()
	store, err := memory.New(fixture.MustMap(t, fixture.Users()), memory.Options{})
	must(t, err)
	return &world{Store: store, fail: map[string]error{}}
}

// recordErasure records an erasure of the subject in the database. The erasure was made the given number of seconds
// after noon.
func (w *world) recordErasure(t *testing.T, id string, after int) {
	t.Helper()
	must(t, w.Do(t.Context(), func(ctx context.Context, s ports.Session) error {
		_, err := s.Subjects().Lock(ctx, idOf(t, id), noon.Add(time.Duration(after)*time.Second))
		return err
	}))
}

func (w *world) erase(
	ctx context.Context, s ports.Session, subject domain.Subject, erasedAt time.Time,
) (domain.ErasureResult, error) {
	w.mu.Lock()
	err := w.fail[subject.ID.String()]
	if err == nil {
		w.erased, w.erasedAt = append(w.erased, subject), erasedAt
	}
	w.mu.Unlock()
	if err != nil {
		return domain.ErasureResult{}, err
	}
	_, err = s.Subjects().Lock(ctx, subject.ID, clock{}.Now())
	return domain.ErasureResult{}, err
}

// installation returns the installation of the database.
func (w *world) installation(t *testing.T) (found datamap.Installation) {
	t.Helper()
	must(t, w.Do(t.Context(), func(ctx context.Context, s ports.Session) (err error) {
		found, err = s.Installation().Read(ctx)
		return err
	}))
	return found
}

// erasures returns the subjects that the replay has erased since the previous call of erasures.
func (w *world) erasures() (names []string) {
	for _, subject := range w.erased {
		names = append(names, subject.ID.String())
	}
	w.erased = nil
	slices.Sort(names)
	return names
}

func (w *world) replayer(t *testing.T, change func(*replay.Config)) *replay.Replayer {
	t.Helper()
	config := replay.Config{Sessions: w, Clock: clock{}, IDs: &w.ids, Erase: w.erase, Batch: 3}
	if change != nil {
		change(&config)
	}
	replayer, err := replay.NewReplayer(config)
	must(t, err)
	return replayer
}

// line returns the journal line of an erasure in the database. It covers all numbers up to the given one.
func (w *world) line(t *testing.T, id string, number int64) string {
	t.Helper()
	return numbered(t, w.installation(t).ID, id, 0, number)
}

var idOf = fixture.MustID

func is(t *testing.T, what string, got, want domain.ReplayReport, names []string, wanted ...string) {
	t.Helper()
	if want.Lines > 0 && want.LastErasedAt.IsZero() { // the cases about other properties do not repeat these
		got.LastErasedAt, got.LastNumber, got.Subjects = want.LastErasedAt, want.LastNumber, want.Subjects
	}
	if !reflect.DeepEqual(got, want) || !slices.Equal(names, wanted) {
		t.Errorf("%s: %v were erased, the report is %+v, want %v and %+v", what, names, got, wanted, want)
	}
}

func TestSubjectsErasedSinceTheBackupAreErasedAgain(t *testing.T) {
	w := newWorld(t)
	w.recordErasure(t, "1", 1)
	w.recordErasure(t, "2", 2)
	w.recordErasure(t, "9", 9)
	lines := w.line(t, "1", 1) + w.line(t, "2", 2) + w.line(t, "3", 4) + w.line(t, "2", 5) + w.line(t, "2", 4) +
		"\n" + w.line(t, "4", 6) + w.line(t, "3", 7)
	var progress []int64
	report, err := w.replayer(t, nil).Replay(t.Context(), strings.NewReader(lines), func(r domain.ReplayReport) {
		progress = append(progress, r.Current+r.Erased)
	})
	must(t, err)
	is(t, "at first", report, domain.ReplayReport{Lines: 7, Current: 1, Erased: 3}, w.erasures(), "2", "3", "4")
	if !slices.Equal(progress, []int64{3, 4}) {
		t.Errorf("the progress was %v", progress)
	}
	report, err = w.replayer(t, nil).Replay(t.Context(), strings.NewReader(lines), nil)
	must(t, err)
	is(t, "again", report, domain.ReplayReport{Lines: 7, Current: 4}, w.erasures())
}

func TestAReplayIsRecorded(t *testing.T) {
	w := newWorld(t)
	_, err := w.replayer(t, nil).Replay(t.Context(), strings.NewReader(w.line(t, "1", 1)), nil)
	must(t, err)
	must(t, w.Do(t.Context(), func(ctx context.Context, s ports.Session) error {
		trail, err := s.Audit().Trail(ctx, idOf(t, "1"))
		if len(trail) != 1 || trail[0].EventType != domain.EventErasureReplayed ||
			trail[0].Payload["erased_at"] != "2024-03-01T12:00:01Z" {
			t.Errorf("the trail is %v", trail)
		}
		return err
	}))
}

// An external system erases a subject again only if Refs returns the subject's id in this system.
func TestExternalSystemsEraseAgainIfThereAreRefs(t *testing.T) {
	w := newWorld(t)
	_, err := w.replayer(t, nil).Replay(t.Context(), strings.NewReader(w.line(t, "1", 1)), nil)
	if must(t, err); len(w.erased) != 1 || len(w.erased[0].Refs) > 0 {
		t.Errorf("by default there are the refs of %v", w.erased)
	}
	w = newWorld(t)
	_, err = w.replayer(t, func(c *replay.Config) {
		c.Refs = func(_ context.Context, id domain.SubjectID) ([]domain.SubjectRef, error) {
			return []domain.SubjectRef{{Kind: "desk", Value: id.String()}}, nil
		}
	}).Replay(t.Context(), strings.NewReader(w.line(t, "1", 1)), nil)
	if must(t, err); len(w.erased) != 1 || len(w.erased[0].Refs) != 1 || w.erased[0].Refs[0].Value != "1" ||
		!w.erasedAt.Equal(noon.Add(time.Second)) { // the systems get the instant of the line
		t.Errorf("with refs there are those of %v, erased at %v", w.erased, w.erasedAt)
	}
	w = newWorld(t)
	report, err := w.replayer(t, func(c *replay.Config) {
		c.Refs = func(context.Context, domain.SubjectID) ([]domain.SubjectRef, error) { return nil, io.ErrNoProgress }
	}).Replay(t.Context(), strings.NewReader(w.line(t, "1", 1)), nil)
	if !errors.Is(err, io.ErrNoProgress) {
		t.Errorf("got %v", err)
	}
	is(t, "without refs", report, domain.ReplayReport{Lines: 1, Failed: 1}, w.erasures())
}

func TestASubjectThatFailsDelaysNoOther(t *testing.T) {
	w := newWorld(t)
	w.fail["2"] = &domain.Error{Code: domain.ErrLeftOver, Op: "erase"}
	lines := ""
	for i, id := range []string{"1", "2", "3", "4", "5"} {
		lines += w.line(t, id, int64(i+1))
	}
	report, err := w.replayer(t, nil).Replay(t.Context(), strings.NewReader(lines), nil)
	if !errors.Is(err, domain.ErrLeftOver) {
		t.Errorf("got %v", err)
	}
	is(t, "but for one", report, domain.ReplayReport{Lines: 5, Erased: 4, Failed: 1}, w.erasures(), "1", "3", "4", "5")
	delete(w.fail, "2")
	report, err = w.replayer(t, nil).Replay(t.Context(), strings.NewReader(lines), nil)
	must(t, err)
	is(t, "then", report, domain.ReplayReport{Lines: 5, Current: 4, Erased: 1}, w.erasures(), "2")
}

func TestAnUnavailableDatabaseEndsTheReplay(t *testing.T) {
	w := newWorld(t)
	w.fail["4"] = &domain.Error{Code: domain.ErrUnavailable, Op: "erase"}
	lines := ""
	for id := range 9 {
		lines += w.line(t, strconv.Itoa(id+1), int64(id+1))
	}
	one := func(c *replay.Config) { c.Workers = 1 }
	report, err := w.replayer(t, one).Replay(t.Context(), strings.NewReader(lines), nil)
	if !errors.Is(err, domain.ErrUnavailable) {
		t.Errorf("got %v", err)
	}
	is(t, "until it was away", report, domain.ReplayReport{Lines: 9, Erased: 3, Failed: 1}, w.erasures(), "1", "2", "3")
	ctx, cancel := context.WithCancel(t.Context())
	report, err = w.replayer(t, one).Replay(ctx, strings.NewReader(lines), func(domain.ReplayReport) { cancel() })
	if !errors.Is(err, context.Canceled) || report.Current+report.Erased != 3 {
		t.Errorf("of a context that ended, the report is %+v: %v", report, err)
	}
}

func TestABrokenLineIsReported(t *testing.T) {
	cut, shop := string(domain.AppendTruncated(nil)), datamap.Installation{ID: "shop"}
	line := func(id string) string { return numbered(t, shop.ID, id, 0, 1) }
	for name, c := range map[string]struct {
		lines  string
		erased []string
		want   domain.ReplayReport
		err    string
	}{
		"cut off at the end": {
			line("1") + line("2")[:20],
			[]string{"1"},
			domain.ReplayReport{Lines: 2, Broken: 1},
			"the first one is line 2",
		},
		"cut off and not repeated": {
			line("1") + line("2")[:20] + "\n" + cut,
			[]string{"1"},
			domain.ReplayReport{Lines: 2, Broken: 1},
			"the first one is line 2",
		},
		"whole at the end": {
			line("1") + strings.TrimSpace(line("2")), []string{"1", "2"}, domain.ReplayReport{Lines: 2}, "",
		},
		"cut off and gone on with": {
			line("2")[:20] + "\n" + cut + line("2"), []string{"2"}, domain.ReplayReport{Lines: 1}, "",
		},
		"cut off and gone on with by two": {
			line("2")[:20] + "\n" + cut + "\n" + cut + line("2"),
			[]string{"2"},
			domain.ReplayReport{Lines: 1},
			"",
		},
		"damaged": {
			line("1") + "\n" + line("2")[9:] + line("3"),
			[]string{"1", "3"},
			domain.ReplayReport{Lines: 3, Broken: 1},
			"broken lines: 1; the first one is line 3",
		},
		"damaged twice before a cut": {
			"x\ny\n" + cut + line("3"),
			[]string{"3"},
			domain.ReplayReport{Lines: 2, Broken: 1},
			"the first one is line 1",
		},
		"damaged before the end": {
			line("1") + "x\ny",
			[]string{"1"},
			domain.ReplayReport{Lines: 3, Broken: 2},
			"broken lines: 2; the first one is line 2",
		},
		"of another version": {
			strings.Replace(line("2"), `"v":2`, `"v":1`, 1) + line("1"),
			[]string{"1"},
			domain.ReplayReport{Lines: 2, Broken: 1},
			"the first one is line 1: a line has the version 1, but this version of habeas reads only version 2",
		},
		"far too long": {
			strings.Repeat("x", 300_000) + "\n" + line("1"),
			[]string{"1"},
			domain.ReplayReport{Lines: 2, Broken: 1},
			"the first one is line 1",
		},
	} {
		w := restoredFrom(t, shop)
		report, err := w.replay(t, c.lines, func(*replay.Config) {})
		if (err != nil) != (c.err != "") ||
			err != nil && (!errors.Is(err, domain.ErrInvalid) || !errors.Is(err, replay.ErrIncomplete) ||
				!strings.Contains(err.Error(), c.err)) {
			t.Errorf("%s: got %v", name, err)
		}
		c.want.Erased = int64(len(c.erased))
		is(t, name, report, c.want, w.erasures(), c.erased...)
	}
}

func TestLinesThatCannotBeReadEndTheReplay(t *testing.T) {
	w := newWorld(t)
	lines := io.MultiReader(strings.NewReader(w.line(t, "1", 1)), unreadable{})
	_, err := w.replayer(t, nil).Replay(t.Context(), lines, nil)
	if !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("got %v", err)
	}
}

type unreadable struct{}

func (unreadable) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

func TestAReplayerWithAnInvalidConfigurationIsRefused(t *testing.T) {
	w := newWorld(t)
	for name, change := range map[string]func(*replay.Config){
		"no sessions":      func(c *replay.Config) { c.Sessions = nil },
		"no clock":         func(c *replay.Config) { c.Clock = nil },
		"no ids":           func(c *replay.Config) { c.IDs = nil },
		"no eraser":        func(c *replay.Config) { c.Erase = nil },
		"a negative batch": func(c *replay.Config) { c.Batch = -1 },
		"fewer than none":  func(c *replay.Config) { c.Workers = -1 },
		"a number below 0": func(c *replay.Config) { c.Expect = -1 },
	} {
		config := replay.Config{Sessions: w, Clock: clock{}, IDs: &fixture.IDs{}, Erase: w.erase}
		change(&config)
		if _, err := replay.NewReplayer(config); !errors.Is(err, domain.ErrConfiguration) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

var must = fixture.Must
