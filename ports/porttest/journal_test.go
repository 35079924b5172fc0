package porttest

import (
	"bytes"
	"context"
	"io"
	"runtime"
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
	put  func(j *memoryJournal, lines []byte) // a defective Append
}

func (j *memoryJournal) Name() string { return "scribe" }

func (j *memoryJournal) Append(ctx context.Context, lines []byte) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if j.put != nil {
		j.put(j, lines)
		return nil
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if len(j.text) > 0 && j.text[len(j.text)-1] != '\n' {
		j.text = domain.AppendTruncated(append(j.text, '\n'))
	}
	j.text = append(j.text, lines...)
	return nil
}

func (j *memoryJournal) Open(context.Context) (io.ReadCloser, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return io.NopCloser(bytes.NewReader(bytes.Clone(j.text))), nil
}

// newMemoryJournals returns a harness whose journals are in memory.
func newMemoryJournals(put func(j *memoryJournal, lines []byte)) JournalHarness {
	var last *memoryJournal
	return JournalHarness{
		New: func(testing.TB) func() ports.Journal {
			made := &memoryJournal{put: put}
			last = made
			return func() ports.Journal { return made }
		},
		CutOff: func(testing.TB) { last.text = last.text[:max(0, len(last.text)-7)] },
	}
}

func TestAJournalThatKeepsItsPromisesPasses(t *testing.T) { TestJournal(t, newMemoryJournals(nil)) }

func TestAJournalThatMixesUpTheLinesOfCallsIsFoundOut(t *testing.T) {
	lineByLine := newMemoryJournals(func(j *memoryJournal, lines []byte) {
		for line := range bytes.Lines(lines) {
			j.mu.Lock()
			j.text = append(j.text, line...)
			j.mu.Unlock()
			for range 100 { // so that another call writes in between
				runtime.Gosched()
			}
		}
	})
	promise.ExpectDefects(t, journalPromises, func(h JournalHarness) (JournalHarness, promise.Finds[JournalHarness]) {
		return h, promise.Finds[JournalHarness]{"or mixed with lines of another call": {journalLinesOfCallsDoNotMix}}
	}, map[string]JournalHarness{"line by line": lineByLine})
}
