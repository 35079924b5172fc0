package replay_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/journal"
	"github.com/habeas-data/habeas/domain/replay"
	"github.com/habeas-data/habeas/ports"
)

// numbered returns the journal line of an erasure with a number.
func numbered(t *testing.T, installation, id string, after, number int64) string {
	t.Helper()
	return string(domain.JournalEntry{
		Installation: installation, Number: number, After: after, SubjectID: idOf(t, id),
		ErasedAt: noon.Add(time.Duration(number) * time.Second),
	}.AppendLine(nil))
}

// highest returns the highest number of a mark, which is the row that records an erasure.
func (w *world) highest(t *testing.T) (number int64) {
	t.Helper()
	for _, mark := range w.marks(t) {
		number = mark.Intake
	}
	return number
}

func (w *world) marks(t *testing.T) (list []domain.ErasureMark) {
	t.Helper()
	must(t, w.Do(t.Context(), func(ctx context.Context, s ports.Session) (err error) {
		list, err = s.Erased().Marks(ctx, domain.MarkQuery{Limit: 1000})
		return err
	}))
	return list
}

func (w *world) replay(t *testing.T, lines string, change func(*replay.Config)) (domain.ReplayReport, error) {
	t.Helper()
	return w.replayer(t, change).Replay(t.Context(), strings.NewReader(lines), nil)
}

// incomplete checks the error of a replay that has findings.
func incomplete(t *testing.T, name string, err error, says ...string) {
	t.Helper()
	if !errors.Is(err, replay.ErrIncomplete) || !errors.Is(err, domain.ErrInvalid) {
		t.Errorf("%s: got %v", name, err)
		return
	}
	for _, text := range says {
		if !strings.Contains(err.Error(), text) {
			t.Errorf("%s: the error does not contain %q: %v", name, text, err)
		}
	}
}

// The instants of the lines are wrong on purpose: only the numbers decide.
func TestANumberDecidesWhetherAnErasureIsRecorded(t *testing.T) {
	w := newWorld(t)
	own := w.installation(t).ID
	for id, after := range map[string]int{"1": 0, "2": 0, "3": 0} {
		w.recordErasure(t, id, after)
	}
	marks := map[string]int64{}
	for _, mark := range w.marks(t) {
		marks[mark.SubjectID.String()] = mark.Intake
	}
	lines := numbered(t, own, "1", marks["1"]-1, marks["1"]) + numbered(t, own, "2", 3, 4) + numbered(t, own, "5", 4, 5) +
		numbered(t, own, "3", marks["3"]-1, marks["3"]) + numbered(t, own, "2", marks["2"]-1, marks["2"])
	report, err := w.replay(t, lines, nil)
	must(t, err)
	is(t, "at first", report, domain.ReplayReport{
		Lines: 5, Subjects: 4, Current: 2, Erased: 2, LastNumber: 5, LastErasedAt: noon.Add(5 * time.Second),
	}, w.erasures(), "2", "5")
	report, err = w.replay(t, lines, nil)
	must(t, err)
	is(t, "again", report, domain.ReplayReport{Lines: 5, Current: 4}, w.erasures())
}

// Without the raised sequence, the erasure of the replay would get a number that is below the number of its line.
func TestTheNextMarkIsAboveTheNumbersOfTheJournal(t *testing.T) {
	w := newWorld(t)
	w.fail["2"] = io.ErrNoProgress
	lines := numbered(t, w.installation(t).ID, "1", 0, 700) + numbered(t, w.installation(t).ID, "2", 700, 900)
	_, err := w.replay(t, lines, nil)
	if !errors.Is(err, io.ErrNoProgress) {
		t.Errorf("got %v", err)
	}
	if marks := w.marks(t); len(marks) != 1 || marks[0].Intake <= 900 {
		t.Errorf("the marks are %v", marks)
	}
}

func TestLinesOfAnotherInstallationAreRefusedBeforeTheFirstErasure(t *testing.T) {
	w := newWorld(t)
	w.recordErasure(t, "9", 0)
	former := w.installation(t).ID
	must(t, w.Do(t.Context(), func(ctx context.Context, s ports.Session) error {
		_, err := s.Installation().Renew(ctx)
		return err
	}))
	own := w.installation(t).ID
	mine := numbered(t, own, "1", 1, 2)
	for name, c := range map[string]struct {
		lines string
		says  []string
	}{
		"of another database": {
			mine + numbered(t, "another", "2", 0, 1), []string{"installation another", own, "Replay each line only in"},
		},
		"of the original, after the clone": {
			mine + numbered(t, former, "2", 1, 2), []string{former, own, "later than the clone", "number 2"},
		},
	} {
		report, err := w.replay(t, c.lines, nil)
		if !errors.Is(err, domain.ErrInvalid) || errors.Is(err, replay.ErrIncomplete) {
			t.Errorf("%s: got %v", name, err)
			continue
		}
		for _, text := range c.says {
			if !strings.Contains(err.Error(), text) {
				t.Errorf("%s: the error does not contain %q: %v", name, text, err)
			}
		}
		if erased := w.erasures(); len(erased) > 0 || report.Erased+report.Current > 0 || w.highest(t) != 1 {
			t.Errorf("%s: %v were erased, the report is %+v", name, erased, report)
		}
	}
	report, err := w.replay(t, numbered(t, former, "9", 0, 1)+mine, nil)
	must(t, err)
	is(t, "of the database and its ancestor", report, domain.ReplayReport{Lines: 2, Current: 1, Erased: 1}, w.erasures(),
		"1")
}

func TestMissingNumbersAreNamedAndTheKnownErasuresAreCarriedOut(t *testing.T) {
	type spans = [][2]int64
	for name, c := range map[string]struct {
		recorded int // erasures in the database before the replay
		lines    spans
		missing  []domain.NumberRange
		says     string
	}{
		"of a whole journal":      {0, spans{{0, 1}, {1, 2}, {2, 3}}, nil, ""},
		"with gaps in a sequence": {0, spans{{0, 5}, {5, 90}}, nil, ""},
		"in any order":            {0, spans{{4, 5}, {0, 2}, {2, 4}}, nil, ""},
		"with duplicates":         {0, spans{{0, 1}, {0, 1}, {1, 4}, {0, 1}, {1, 4}}, nil, ""},
		"of a second database":    {0, spans{{0, 3}, {3, 6}, {1, 5}, {5, 6}}, nil, ""},
		"without a line":          {0, spans{{0, 1}, {2, 3}}, []domain.NumberRange{{First: 2, Last: 2}}, "the numbers 2."},
		"without several lines": {
			0, spans{{9, 10}, {0, 1}, {4, 5}}, []domain.NumberRange{{First: 2, Last: 4}, {First: 6, Last: 9}}, "2 to 4, 6 to 9",
		},
		"after the first lines":              {0, spans{{3, 4}}, []domain.NumberRange{{First: 1, Last: 3}}, "1 to 3"},
		"after the last one of the database": {4, spans{{4, 5}}, nil, ""},
		"before the last one":                {6, spans{{4, 5}, {5, 6}}, nil, ""},
		"a bit after it":                     {4, spans{{5, 6}}, []domain.NumberRange{{First: 5, Last: 5}}, "the numbers 5."},
		"far after it": {
			4, spans{{1 << 40, 1<<40 + 1}}, []domain.NumberRange{{First: 5, Last: 1 << 40}}, "5 to 1099511627776",
		},
	} {
		w := newWorld(t)
		for i := range c.recorded {
			w.recordErasure(t, "90"+strconv.Itoa(i), i)
		}
		lines, own := "", w.installation(t).ID
		for i, of := range c.lines {
			lines += numbered(t, own, strconv.Itoa(100+i), of[0], of[1])
		}
		report, err := w.replay(t, lines, nil)
		if !reflect.DeepEqual(report.Missing, c.missing) {
			t.Errorf("%s: the numbers %v are missing, want %v", name, report.Missing, c.missing)
		}
		if c.missing != nil {
			incomplete(t, name, err, c.says)
		} else if err != nil {
			t.Errorf("%s: got %v", name, err)
		}
		if erased := w.erasures(); len(erased) < 1 || int64(len(erased)) != report.Erased || report.Failed > 0 {
			t.Errorf("%s: %v were erased", name, erased)
		}
	}
}

func TestAJournalWithoutItsEndIsRecognizedByTheExpectedNumber(t *testing.T) {
	w := newWorld(t)
	lines := numbered(t, w.installation(t).ID, "1", 0, 4) + numbered(t, w.installation(t).ID, "2", 4, 7)
	for expect, says := range map[int64]string{0: "", 4: "", 7: "", 8: "number 7, but the number 8"} {
		report, err := w.replay(t, lines, func(c *replay.Config) { c.Expect = expect })
		if says == "" {
			must(t, err)
		} else {
			incomplete(t, "an expectation", err, says)
		}
		if report.LastNumber != 7 || !report.LastErasedAt.Equal(noon.Add(7*time.Second)) ||
			report.Erased+report.Current != 2 {
			t.Errorf("of %d, the report is %+v", expect, report)
		}
	}
	report, err := w.replay(t, "", func(c *replay.Config) { c.Expect = 1 })
	incomplete(t, "of nothing", err, "number 0, but the number 1")
	if report.LastNumber != 0 || !report.LastErasedAt.IsZero() {
		t.Errorf("of nothing, the report is %+v", report)
	}
}

// An id that does not fit the key of the subject's table, for example because the type of the key was changed, is left
// alone. The others are erased.
func TestAnIDThatDoesNotFitTheKeyDelaysNoOther(t *testing.T) {
	w := newWorld(t)
	own := w.installation(t).ID
	lines := numbered(t, own, "anna-secret", 0, 1) + numbered(t, own, "2", 1, 2)
	report, err := w.replay(t, lines, nil)
	incomplete(t, "an id", err, "does not fit the key of the subject's table: 1")
	if strings.Contains(err.Error(), "secret") {
		t.Errorf("the error has the id: %v", err)
	}
	got := w.erasures()
	got = slices.DeleteFunc(got, func(id string) bool { return id == "anna-secret" }) // the eraser was called for it
	is(t, "the others", report, domain.ReplayReport{Lines: 2, Erased: 1, Skipped: 1}, got, "2")
	if marks := w.marks(t); len(marks) != 1 {
		t.Errorf("the marks are %v", marks)
	}
}

func TestLowSequencesOfTheApplicationAreNamed(t *testing.T) {
	for at, low := range map[int64]bool{41: true, 42: true, 43: false} {
		w := newWorld(t)
		own := w.installation(t).ID
		lines := numbered(t, own, "42", 0, 1) + numbered(t, own, "7", 1, 2) + numbered(t, own, "not a number", 2, 3) +
			numbered(t, own, "99999999999999999999", 3, 4)
		report, err := w.replay(t, lines, func(c *replay.Config) { c.Sessions = lowWorld{w, at} })
		incomplete(t, "two ids do not fit", err)
		if got := len(report.Sequences) > 0; got != low || low != strings.Contains(err.Error(), "users_id_seq") {
			t.Errorf("at %d, the sequences are %v: %v", at, report.Sequences, err)
		}
	}
}

// shelf is a journal in memory that several tenants share. Each append may end with a line that is cut off, which the
// next append marks.
type shelf struct {
	mu   sync.Mutex
	text []byte
	cuts int
}

func (*shelf) Name() string { return "shelf" }

func (j *shelf) Append(_ context.Context, lines []byte) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if len(j.text) > 0 && j.text[len(j.text)-1] != '\n' {
		j.text = domain.AppendTruncated(append(j.text, '\n'))
	}
	if rand.IntN(4) == 0 && j.cuts > 0 {
		j.cuts--
		j.text = append(j.text, lines[:rand.IntN(len(lines))]...)
		return io.ErrShortWrite
	}
	j.text = append(j.text, lines...)
	return nil
}

func (j *shelf) Open(context.Context) (io.ReadCloser, error) {
	return io.NopCloser(bytes.NewReader(j.text)), nil
}

// Two tenants with equal ids erase customers and write to one journal at the same time, with several writers each and
// with appends that fail. The journal as a whole is refused. The lines of a tenant, in any order and some of them
// twice, erase exactly the tenant's own erased customers in a database that is restored from the first backup, and none
// is missing.
func TestTenantsThatShareAJournalEraseOnlyTheirOwn(t *testing.T) {
	const tenants, customers = 2, 60
	shared := &shelf{cuts: 20}
	worlds := make([]*world, tenants)
	var working sync.WaitGroup
	for tenant := range tenants {
		w := newWorld(t)
		worlds[tenant] = w
		working.Go(func() {
			var writing sync.WaitGroup
			for range 3 {
				writer, err := journal.NewWriter(journal.Config{Sessions: w, Journal: shared, Batch: 5})
				must(t, err)
				writing.Go(func() {
					for w.highest(t) < customers {
						_, _, _ = writer.RunOnce(t.Context())
					}
				})
			}
			for i := range customers {
				w.recordErasure(t, strconv.Itoa(i*tenants+tenant), i)
			}
			writing.Wait()
		})
	}
	working.Wait()
	shared.cuts = 0
	for _, w := range worlds {
		writer, err := journal.NewWriter(journal.Config{Sessions: w, Journal: shared})
		must(t, err)
		for more := true; more; {
			_, more, err = writer.RunOnce(t.Context())
			must(t, err)
		}
	}
	_, err := worlds[0].replay(t, string(shared.text), nil)
	if !errors.Is(err, domain.ErrInvalid) || errors.Is(err, replay.ErrIncomplete) {
		t.Fatalf("the lines of both tenants: got %v", err)
	}
	for tenant, w := range worlds {
		own := w.installation(t)
		var lines []string
		for line := range strings.Lines(string(shared.text)) {
			entry, cut, err := domain.ParseJournalLine([]byte(line))
			if err == nil && !cut && entry.Installation == own.ID {
				lines = append(lines, line)
			}
		}
		lines = append(lines, lines[:len(lines)/2]...)
		rand.Shuffle(len(lines), func(i, j int) { lines[i], lines[j] = lines[j], lines[i] })
		restored := restoredFrom(t, own)
		report, err := restored.replay(t, strings.Join(lines, ""), func(c *replay.Config) { c.Expect = customers })
		must(t, err)
		if names := restored.erasures(); len(names) != customers || report.Erased != customers ||
			slices.ContainsFunc(names, func(id string) bool { n, _ := strconv.Atoi(id); return n%tenants != tenant }) {
			t.Errorf("tenant %d: erased were %v, the report is %+v", tenant, names, report)
		}
	}
}
