package domain

import (
	"cmp"
	"strings"
)

// Compare orders outbox entries from the oldest to the newest, by EnqueuedAt and then by EntryID. It returns a negative
// number if e comes before other, a positive number if e comes after other, and 0 if they are equal.
func (e OutboxEntry) Compare(other OutboxEntry) int {
	return cmp.Or(e.EnqueuedAt.Compare(other.EnqueuedAt), strings.Compare(e.EntryID, other.EntryID))
}
