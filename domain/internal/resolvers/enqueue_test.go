package resolvers

import (
	"testing"
	"time"

	"github.com/habeas-data/habeas/domain"
)

// The many entries of one person in one system leave room for other people.
func TestFurtherEntriesOfOnePersonComeLater(t *testing.T) {
	noon := time.Date(2024, 3, 1, 12, 0, 0, 0, time.UTC)
	for earlier, want := range map[int]time.Time{
		0: {}, promptEntries - 1: {}, promptEntries: noon.Add(turnInterval), 1000: noon.Add(991 * turnInterval),
	} {
		if got := Turn(domain.OutboxEntry{EnqueuedAt: noon}, earlier).TurnAt; !got.Equal(want) {
			t.Errorf("after %d entries, the turn is at %v", earlier, got)
		}
	}
}
