package scaffold

import (
	"maps"
	"slices"
)

// staysWithOwner reports whether the columns of a reference show that both rows belong to the same person, because the
// reference contains the columns that hold the key of the person in both rows. For example, (user_id, list_id) refers
// to (user_id, id), and both rows refer to the person by user_id. It returns false for a reference that begins a path.
func (r *reference) staysWithOwner() bool {
	isShared := func(name string) bool { return slices.Contains(r.columns, name) }
	if r.isPath() || len(r.from.paths) != 1 || !slices.ContainsFunc(r.from.paths[0].columns, isShared) {
		return false
	}
	own, others := r.from.keyOfPerson(), r.to.keyOfPerson()
	if len(own) == 0 || len(own) != len(others) {
		return false
	}
	for key, column := range own {
		i := slices.Index(r.columns, column)
		if i < 0 || i >= len(r.referenced) || r.referenced[i] != others[key] {
			return false
		}
	}
	return true
}

// keyOfPerson returns the columns of a table that hold the key of the person of a row, by the columns of the subject's
// table to which they lead. It returns nil if the table has several paths, or does not hold the key.
func (t *table) keyOfPerson() map[string]string {
	if len(t.paths) != 1 {
		return nil
	}
	return t.paths[0].keyOfPerson()
}

// keyOfPerson returns keyOfPerson of the referring table as if the reference began its only path.
func (r *reference) keyOfPerson() map[string]string {
	of := map[string]string{}
	for i, name := range r.referenced {
		if i < len(r.columns) {
			of[name] = r.columns[i]
		}
	}
	if r.to.isSubject {
		return of
	}
	columns := map[string]string{}
	for key, name := range r.to.keyOfPerson() {
		column, ok := of[name]
		if !ok {
			return nil
		}
		columns[key] = column
	}
	return columns
}

// leadToOnePerson reports whether the references, which begin paths of a table, always lead to the same person, because
// they meet in the columns with the key of the person.
func leadToOnePerson(list []*reference) bool {
	first := list[0].keyOfPerson()
	return len(first) > 0 && !slices.ContainsFunc(list[1:], func(r *reference) bool {
		return !maps.Equal(first, r.keyOfPerson())
	})
}
