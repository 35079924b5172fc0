package scaffold

import (
	"github.com/habeas-data/habeas/tool/internal/names"
)

// ofThing returns a reference that shows that each row is a part of a row that stays, such as the state of a rotation.
// Rows of the person may only be the present value, such as the participant whose turn it is. It returns nil if there
// is no such reference. There are two cases:
//
//   - Each row that stays has at most one row, as in rotation_state (rotation_id, participant_id).
//   - The table is named after the table of the row that stays, and not after the table that leads to the person.
func (t *table) ofThing() *reference {
	if t.included || len(t.paths) != 1 {
		return nil
	}
	path := t.paths[0]
	for _, r := range t.owners() {
		if r == path || r.to == t || r.to.isSubject || r.to.rowsDeleted || names.Is(r.to.Name, names.Reference) {
			continue
		}
		isOnly := t.isOnlyFor(r) && !t.isOnlyFor(path)
		if path.to.isSubject && isOnly && !t.isProfile() ||
			!path.to.isSubject && (isOnly || !r.nullable() && isPartOf(r.to, t) && !isPartOf(path.to, t)) {
			return r
		}
	}
	return nil
}

// isOnlyFor reports whether at most one row of the table has each value of the reference. Columns of references to
// partitions do not count.
func (t *table) isOnlyFor(r *reference) bool {
	wide := *r
	for _, other := range t.out {
		if other.to.partition {
			wide.columns = append(wide.columns[:len(wide.columns):len(wide.columns)], other.columns...)
		}
	}
	return wide.isUnique()
}
