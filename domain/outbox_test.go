package domain_test

import (
	"slices"
	"testing"
	"time"

	"github.com/habeas-data/habeas/domain"
)

func TestEntriesAreOrderedByAgeAndThenByID(t *testing.T) {
	at := func(id string, after time.Duration) domain.OutboxEntry {
		return domain.OutboxEntry{EntryID: id, EnqueuedAt: noon.Add(after)}
	}
	entries := []domain.OutboxEntry{at("a", time.Second), at("c", 0), at("b", 0), at("d", -time.Second)}
	slices.SortFunc(entries, domain.OutboxEntry.Compare)
	var order string
	for _, entry := range entries {
		order += entry.EntryID
	}
	if order != "dbca" {
		t.Errorf("got the order %s", order)
	}
	berlin := at("b", 0)
	berlin.EnqueuedAt = berlin.EnqueuedAt.In(time.FixedZone("", 3600))
	if got := at("b", 0).Compare(berlin); got != 0 {
		t.Errorf("the same instant in another zone: got %d", got)
	}
}
