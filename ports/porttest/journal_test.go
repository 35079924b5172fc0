package porttest

import (
	"bytes"
	"context"
	"io"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/internal/tests/promise"
	"github.com/habeas-data/habeas/ports"
)

// memoryJournal is a journal in memory.
type memoryJournal struct {
	mu   sync.Mutex
	text []byte
	kept [][]byte // slices of the callers, which a correct journal must copy
}

// journalHandle is the handle that one process has on a memoryJournal.
type journalHandle struct {
	*memoryJournal
	defect journalDefect
	name   string
}

// journalDefect has the defects of a journal. The zero value has no defect.
type journalDefect struct {
	name        func(n int) string
	put         func(s journalHandle, lines []byte)
	open        func(text []byte) []byte
	ignoresCtx  bool
	keepsSlices bool
	forgetsCuts bool
}

func (s journalHandle) Name() string { return s.name }

func (s journalHandle) Append(ctx context.Context, lines []byte) error {
	if ctx.Err() != nil && !s.defect.ignoresCtx {
		return ctx.Err()
	}
	if s.defect.put != nil {
		s.defect.put(s, lines)
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.defect.keepsSlices {
		s.kept = append(s.kept, lines)
		return nil
	}
	if len(s.text) > 0 && s.text[len(s.text)-1] != '\n' {
		s.text = append(s.text, '\n')
		if !s.defect.forgetsCuts {
			s.text = domain.AppendTruncated(s.text)
		}
	}
	s.text = append(s.text, lines...)
	return nil
}

func (s journalHandle) Open(context.Context) (io.ReadCloser, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	text := bytes.Join(append([][]byte{bytes.Clone(s.text)}, s.kept...), nil)
	if s.defect.open != nil {
		text = s.defect.open(text)
	}
	return io.NopCloser(bytes.NewReader(text)), nil
}

// newMemoryJournals returns a harness whose journals are in memory and have the defect.
func newMemoryJournals(defect journalDefect) JournalHarness {
	var last *memoryJournal
	return JournalHarness{
		New: func(testing.TB) func() ports.Journal {
			made, handles := &memoryJournal{}, 0
			last = made
			return func() ports.Journal {
				handles++
				name := "scribe"
				if defect.name != nil {
					name = defect.name(handles)
				}
				return journalHandle{made, defect, name}
			}
		},
		CutOff: func(testing.TB) { last.text = last.text[:max(0, len(last.text)-7)] },
	}
}

func TestAJournalThatKeepsItsPromisesPasses(t *testing.T) {
	TestJournal(t, newMemoryJournals(journalDefect{}))
}

func TestJournalsThatBreakAPromiseFail(t *testing.T) {
	type found = promise.Finds[JournalHarness]
	type defect struct {
		how   journalDefect
		found found
	}
	broken := func(d defect) (JournalHarness, found) { return newMemoryJournals(d.how), d.found }
	promise.ExpectDefects(t, journalPromises, broken, map[string]defect{
		"a name that is too long": {journalDefect{name: func(int) string { return strings.Repeat("x", 201) }}, found{
			"the name has 201 characters": {journalHasAName},
		}},
		"a name for each process": {journalDefect{name: decimalInt}, found{"another process": {journalHasAName}}},
		"a heading": {journalDefect{open: func(text []byte) []byte { return append([]byte("#\n"), text...) }}, found{
			"an empty journal has": {journalWithoutAppendsIsEmpty},
		}},
		"the last first": {journalDefect{put: func(s journalHandle, lines []byte) {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.text = append(bytes.Clone(lines), s.text...)
		}}, found{"after 2 calls": {journalLinesComeInOrder}}},
		"line by line": {journalDefect{put: func(s journalHandle, lines []byte) {
			for line := range bytes.Lines(lines) {
				s.mu.Lock()
				s.text = append(s.text, line...)
				s.mu.Unlock()
				for range 100 { // so that another call writes in between
					runtime.Gosched()
				}
			}
		}}, found{"or mixed with lines of another call": {journalLinesOfCallsDoNotMix}}},
		"a reference":            {journalDefect{keepsSlices: true}, found{"have changed": {journalKeepsNoReference}}},
		"a deaf one":             {journalDefect{ignoresCtx: true}, found{"want the error": {journalCallEndsWithItsContext}}},
		"one that forgets a cut": {journalDefect{forgetsCuts: true}, found{"0 broken 10": {journalRecognizesATruncatedLine}}},
	})
}

func decimalInt(n int) string { return decimal(int64(n)) }
