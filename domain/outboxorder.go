package domain

import (
	"cmp"
	"strings"
)

// Compare orders entries from the oldest to the newest, by EnqueuedAt and then by EntryID. It returns a negative number
// if e comes before other, 0 if both are equal in this order, and otherwise a positive number.
func (e OutboxEntry) Compare(other OutboxEntry) int {
	return cmp.Or(e.EnqueuedAt.Compare(other.EnqueuedAt), strings.Compare(e.EntryID, other.EntryID))
}
