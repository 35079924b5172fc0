package domain

import (
	"cmp"
	"strings"
)

// Compare orders entries from the oldest to the newest, by EnqueuedAt and then by EntryID. The result is negative if e
// comes before other, and 0 if neither comes first.
func (e OutboxEntry) Compare(other OutboxEntry) int {
	return cmp.Or(e.EnqueuedAt.Compare(other.EnqueuedAt), strings.Compare(e.EntryID, other.EntryID))
}
