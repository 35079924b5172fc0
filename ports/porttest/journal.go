package porttest

import (
	"context"
	"errors"
	"io"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/internal/tests/promise"
	"github.com/habeas-data/habeas/ports"
)

// JournalHarness creates the journals for TestJournal.
type JournalHarness struct {
	// New creates an empty journal and returns the function open. Each call of open returns another handle to this
	// journal, as another process would open it. New is called once for each case, and registers its cleanup with
	// t.Cleanup. Required.
	New func(t testing.TB) (open func() ports.Journal)

	// CutOff truncates the last line of the journal that New has created last, as a crash during a write would. CutOff is
	// optional, because a crash cannot truncate the lines of some journals. Without CutOff, the case about truncated lines
	// checks nothing.
	CutOff func(t testing.TB)
}

// TestJournal checks that a journal keeps the promises of ports.Journal.
func TestJournal(t *testing.T, harness JournalHarness) {
	t.Helper()
	promise.Hold(t, journalPromises, harness, nil)
}

var journalPromises = []promise.Promise[JournalHarness]{
	promise.That(journalHasAName, "The name has 1 to 200 characters and is the same in each process."),
	promise.That(journalWithoutAppendsIsEmpty, "A journal without appends has no lines."),
	promise.That(journalLinesComeInOrder,
		"Lines are returned in the order of the appends, even if several processes append."),
	promise.That(journalLinesOfCallsDoNotMix, "Lines of concurrent calls do not mix (run with -race)."),
	promise.That(journalKeepsNoReference, "Append copies its lines."),
	promise.That(journalCallEndsWithItsContext, "A call returns an error if its context has ended."),
	promise.That(journalRecognizesATruncatedLine, "A reader can recognize a line that a crash has truncated."),
}

// journalLines returns the lines of n erasures, of subjects with consecutive numbers from firstNumber.
func journalLines(t testing.TB, firstNumber, n int) string {
	t.Helper()
	var lines []byte
	for i := range n {
		lines = domain.JournalEntry{
			Installation: "shop", Number: int64(i + 1), After: int64(i), SubjectID: subject(t, "acme", int64(firstNumber+i)),
			ErasedAt: noon.Add(time.Duration(i) * tick),
		}.AppendLine(lines)
	}
	return string(lines)
}

func appendLines(t testing.TB, journal ports.Journal, lines string) {
	t.Helper()
	err := journal.Append(t.Context(), []byte(lines))
	must(t, err == nil, "lines cannot be appended: %v", err)
}

func readJournal(t testing.TB, journal ports.Journal) string {
	t.Helper()
	lines, err := journal.Open(t.Context())
	must(t, err == nil, "the journal cannot be opened: %v", err)
	text, err := io.ReadAll(lines)
	closed := lines.Close()
	must(t, err == nil && closed == nil, "the journal cannot be read or closed: %v, %v", err, closed)
	return string(text)
}

func journalHasAName(t testing.TB, h JournalHarness) {
	const longest = 200
	open := h.New(t)
	name := open().Name()
	assert(t, name != "" && utf8.ValidString(name) && utf8.RuneCountInString(name) <= longest,
		"the name has %d characters, or is not valid", utf8.RuneCountInString(name))
	assert(t, open().Name() == name, "another process has another name")
}

func journalWithoutAppendsIsEmpty(t testing.TB, h JournalHarness) {
	text := readJournal(t, h.New(t)())
	assert(t, text == "", "an empty journal has %d bytes", len(text))
}

func journalLinesComeInOrder(t testing.TB, h JournalHarness) {
	open := h.New(t)
	journal, want := open(), ""
	for i := range 12 {
		if i%5 == 4 {
			journal = open()
		}
		lines := journalLines(t, i*100, i%3+1)
		appendLines(t, journal, lines)
		want += lines
		if got := readJournal(t, open()); got != want {
			t.Errorf("after %d calls, another process does not read the lines as they were appended", i+1)
			return
		}
	}
}

func journalLinesOfCallsDoNotMix(t testing.TB, h JournalHarness) {
	const callers, calls = 4, 8
	open := h.New(t)
	failures := make(chan error, callers*calls)
	var appending sync.WaitGroup
	blocks := map[string]bool{}
	for caller := range callers {
		journal := open()
		var lines []string
		for call := range calls {
			block := journalLines(t, (caller*calls+call)*1000, 40)
			lines, blocks[block] = append(lines, block), true
		}
		appending.Go(func() {
			for _, block := range lines {
				if err := journal.Append(t.Context(), []byte(block)); err != nil {
					failures <- err
				}
			}
		})
	}
	appending.Wait()
	must(t, len(failures) == 0, "%d calls failed", len(failures))
	text := readJournal(t, open())
	for block := range blocks {
		before, after, found := strings.Cut(text, block)
		must(t, found, "the lines of a call are incomplete, or mixed with lines of another call")
		text = before + after
	}
	assert(t, text == "", "the journal has %d bytes more than were appended", len(text))
}

func journalKeepsNoReference(t testing.TB, h JournalHarness) {
	open := h.New(t)
	want := journalLines(t, 0, 3)
	lines := []byte(want)
	must(t, open().Append(t.Context(), lines) == nil, "lines cannot be appended")
	for i := range lines {
		lines[i] = 'x'
	}
	assert(t, readJournal(t, open()) == want, "the lines have changed after the call")
}

func journalCallEndsWithItsContext(t testing.TB, h JournalHarness) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	err := h.New(t)().Append(ctx, []byte(journalLines(t, 0, 1)))
	assert(t, errors.Is(err, context.Canceled), "want the error %v, got %v", context.Canceled, err)
}

// After a crash has truncated a line, the next Append must mark this line as incomplete, so that every reader
// recognizes it.
func journalRecognizesATruncatedLine(t testing.TB, h JournalHarness) {
	if h.CutOff == nil {
		return
	}
	open := h.New(t)
	appendLines(t, open(), journalLines(t, 0, 2))
	h.CutOff(t)
	for i := range 2 {
		appendLines(t, open(), journalLines(t, 10+i, 1))
	}
	want := []string{"0", "broken", "cut", "10", "11"}
	var got []string
	for line := range strings.Lines(readJournal(t, open())) {
		if strings.TrimSpace(line) == "" {
			continue
		}
		entry, cut, err := domain.ParseJournalLine([]byte(line))
		switch {
		case err != nil:
			got = append(got, "broken")
		case cut:
			got = append(got, "cut")
		default:
			got = append(got, entry.SubjectID.Elements()[1])
		}
	}
	assert(t, strings.Join(got, " ") == strings.Join(want, " "),
		"after a truncated line, the lines are %s, want %s", strings.Join(got, " "), strings.Join(want, " "))
}
