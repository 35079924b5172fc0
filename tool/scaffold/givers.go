package scaffold

import (
	"slices"

	"github.com/habeas-data/habeas/tool/internal/names"
)

// giver returns a reference to the person who made or gave the row and may own it, although no path begins with the
// reference. It returns nil if there is none. There are two cases:
//
//   - The path leads to the person who got something from her, as grantee_id beside grantor_id.
//   - A row may lack the people of its paths, but not the person who created it.
func (t *table) giver() *reference {
	i := slices.IndexFunc(t.out, func(r *reference) bool {
		if len(t.paths) == 0 || !r.to.isSubject || r.isPath() || r.role != names.Maker || r.doubtful {
			return false
		}
		isFree := names.Creates(r.label()) && !r.nullable()
		isGiven := false
		for _, path := range t.paths {
			if !path.to.isSubject {
				return false
			}
			isGiven = isGiven || names.Gives(r.label(), path.label())
			isFree = isFree && path.nullable()
		}
		return isGiven || isFree
	})
	if i < 0 {
		return nil
	}
	return t.out[i]
}

// askForGiver asks whether the rows of the data map also belong to the person who made or gave them: see giver.
func (t *table) askForGiver() {
	if r := t.giver(); r != nil {
		t.ask(r.label(), "An erasure of the person of this column leaves the row. Does the row belong to that person, "+
			"too?", "no", "yes: make its relation a path, and set via")
	}
}
