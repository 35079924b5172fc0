package scaffold

import (
	"github.com/habeas-data/habeas/tool/internal/names"
)

// groupOf returns the group, such as a team, with which each row connects a person, or nil. The login state of a person
// in a group is the person's alone.
func (t *table) groupOf() *table {
	if names.Is(t.Name, names.Sessions) {
		return nil
	}
	for _, r := range t.owners() {
		if r.to.group && !r.isPath() {
			return r.to
		}
	}
	return nil
}

// askForMembers asks about parts of rows that connect a person with a group, such as the tasks of a membership. They
// may be the group's.
func (t *table) askForMembers() {
	for to := t.parent(); !to.isSubject; to = to.parent() {
		if group := to.groupOf(); group != nil {
			with := "Its rows are deleted. They are parts of the rows of "
			if to.rowsDeleted {
				with = "Its rows are deleted with the rows of "
			}
			t.ask("", with+to.Name+", which connect a person with rows of "+group.Name+
				". Do they belong to the person, and not to the rows of "+group.Name+"?", "yes: delete the rows",
				"no: keep the rows, and those of "+to.Name)
			return
		}
	}
}
