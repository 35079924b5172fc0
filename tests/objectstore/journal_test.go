package objectstore_test

import (
	"testing"

	"github.com/habeas-data/habeas/adapters/objectstore/journal"
	"github.com/habeas-data/habeas/ports"
	"github.com/habeas-data/habeas/ports/porttest"
)

func TestABucketOfS3KeepsThePromisesOfAJournal(t *testing.T) {
	porttest.TestJournal(t, porttest.JournalHarness{New: func(t testing.TB) func() ports.Journal {
		t.Helper()
		w := newWorld(t, true)
		return func() ports.Journal {
			sink, err := journal.New(w.bucket, journal.Options{})
			must(t, err)
			return sink
		}
	}})
}
