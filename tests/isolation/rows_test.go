package isolation

import (
	"fmt"
	"maps"
	"slices"

	"pgregory.net/rapid"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
)

// fill generates the subjects and the rows of each table. It records the owner of each row.
func (s *schema) fill(t *rapid.T) {
	for _, table := range s.tables {
		f := &filler{T: t, table: table}
		switch {
		case table.outside:
			f.addRows(between(t, "rows", 1, 3), func(*row) bool { return true })
		case table.path == nil:
			s.subjects = f.subjects()
		default:
			f.addRows(between(t, "rows", 0, 10), f.follow)
		}
	}
}

type filler struct {
	*rapid.T
	table *table
}

// subjects generates 2 to 4 subjects. If the key of a subject has several columns, some subjects have equal values in
// one of them. A subject may have no row.
func (f *filler) subjects() (subjects []domain.Subject) {
	const values = 3 // number of possible values of each key column
	key := f.table.subjectKey
	most := map[int]int{1: 10, 2: values * values, 3: values * values * values}[len(key)]
	codes := rapid.SliceOfNDistinct(rapid.IntRange(0, most-1), 2, 4, rapid.ID).Draw(f.T, "subjects")
	for i, code := range codes {
		cells := map[string]any{}
		var elements []string
		for j, name := range key {
			n := code
			if j < len(key)-1 {
				n, code = code%values, code/values
			}
			cells[name] = keyOf(f.table.column(name).kind.Type, n)
			elements = append(elements, fmt.Sprint(cells[name]))
		}
		id, err := domain.NewSubjectID(elements...)
		must(f.T, err)
		subjects = append(subjects, domain.Subject{ID: id})
		rows := pick(f.T, "rows of a subject", 1, 1, 1, 1, 0)
		if f.table.repeats {
			rows = pick(f.T, "rows of a subject", 1, 2, 0)
		}
		f.addRows(rows, func(r *row) bool {
			r.owner = i
			maps.Copy(r.cells, cells)
			return true
		})
	}
	return subjects
}

// addRows adds up to n rows. It calls setOwner to set the owner of each row, and the cells that refer to the owner. If
// setOwner returns false, the row is not added.
func (f *filler) addRows(n int, setOwner func(*row) bool) {
	for range n {
		r := &row{owner: noOwner, cells: map[string]any{}}
		if !setOwner(r) || !f.identify(r) {
			continue
		}
		for _, c := range f.table.columns {
			if _, set := r.cells[c.Name]; !set && c.serves == forData && !f.table.refersTo(c.Name) {
				r.cells[c.Name] = f.value(c)
				if f.isLongKey(c) && r.cells[c.Name] != nil && oneIn(f.T, "a key of its own", 2) {
					r.cells[c.Name] = fmt.Sprintf("%s/%d", f.table.name[len(f.table.name)-1:], len(f.table.rows))
				}
			}
		}
		for _, l := range f.table.links {
			if l != f.table.path {
				f.refer(r, l)
			}
		}
		f.table.rows = append(f.table.rows, r)
	}
}

// isLongKey reports whether the column contains keys of an external system and has enough space for a different key in
// each row.
func (f *filler) isLongKey(c *column) bool {
	return c.Personal != nil && c.Personal.Ref != "" && !c.unique && c.kind.Type == datamap.TypeText &&
		(c.kind.length == 0 || c.kind.length > 5)
}

// follow sets the foreign key that connects r to its owner. It chooses the row to which this foreign key refers, and
// the owner of that row becomes the owner of r. If the foreign key may be NULL, r may have no owner. follow returns
// false if there is no row to which r could refer.
func (f *filler) follow(r *row) bool {
	path := f.table.path
	candidates := f.candidates(r, path)
	nullable := f.table.column(path.Columns[0]).nullable
	if nullable && (len(candidates) == 0 || oneIn(f.T, "no owner", 4)) {
		for _, name := range path.Columns {
			r.cells[name] = nil
		}
		if len(candidates) > 0 && len(path.Columns) > 1 && oneIn(f.T, "half a key", 2) { // refers to no row
			f.copyKey(r, path, pick(f.T, "parent", candidates...))
			r.cells[pick(f.T, "missing half", path.Columns...)] = nil
		}
		return true
	}
	if len(candidates) == 0 {
		return false
	}
	parent := pick(f.T, "parent", candidates...)
	r.owner = parent.owner
	f.copyKey(r, path, parent)
	return true
}

func (f *filler) copyKey(r *row, l *link, parent *row) {
	for i, name := range l.Columns {
		r.cells[name] = parent.cells[l.ReferencedColumns[i]]
	}
}

// candidates returns the rows to which the foreign key of r may refer. Their keys must match the cells of r that
// already have a value.
func (f *filler) candidates(r *row, l *link) (candidates []*row) {
	rows := l.to.rows
	if l.to == f.table {
		rows = append(slices.Clone(rows), r)
	}
	for _, parent := range rows {
		fits := l.targets == atAnyone && l.to != f.table || parent.owner == r.owner
		for i, name := range l.Columns {
			value := parent.cells[l.ReferencedColumns[i]]
			set, isSet := r.cells[name]
			narrow := f.table.column(name).kind.declared == "INTEGER"
			if value == nil || isSet && set != value || narrow && !fitsNarrow(value) {
				fits = false
			}
		}
		if fits {
			candidates = append(candidates, parent)
		}
	}
	return candidates
}

// refer sets a foreign key of r to the key of a random row, or to NULL. The foreign key does not determine the owner of
// r.
func (f *filler) refer(r *row, l *link) {
	if candidates := f.candidates(r, l); len(candidates) > 0 && !oneIn(f.T, "refers to nothing", 4) {
		f.copyKey(r, l, pick(f.T, "refers to", candidates...))
		return
	}
	for _, name := range l.Columns {
		if _, set := r.cells[name]; !set {
			r.cells[name] = nil
		}
	}
}

// identify sets those cells of the primary key and of the other unique keys that have no value yet. It returns false if
// another row already has the same primary key.
func (f *filler) identify(r *row) bool {
	alike := 0
	for _, other := range f.table.rows {
		if agree(r, other, f.table.primaryKey) {
			alike++
		}
	}
	f.number(r, f.table.primaryKey, alike)
	for _, key := range f.table.uniques {
		f.number(r, key, len(f.table.rows))
	}
	return !slices.ContainsFunc(f.table.rows, func(other *row) bool { return agree(r, other, f.table.primaryKey) })
}

// agree reports whether the rows a and b have equal values in the named columns. It ignores columns in which a has no
// value yet.
func agree(a, b *row, names []string) bool {
	for _, name := range names {
		if value, set := a.cells[name]; set && value != b.cells[name] {
			return false
		}
	}
	return true
}

// number writes the number n into the named columns that have no value yet, one digit into each column. Consecutive
// numbers then usually differ in only one of these columns.
func (f *filler) number(r *row, names []string, n int) {
	const values = 3
	open := slices.DeleteFunc(slices.Clone(names), func(name string) bool { _, set := r.cells[name]; return set })
	for i, name := range open {
		c, digit := f.table.column(name), n
		if i < len(open)-1 {
			digit, n = n%values, n/values
		}
		r.cells[name] = keyOf(c.kind.Type, digit)
		if c.nullable && oneIn(f.T, "null", 4) {
			r.cells[name] = nil
		}
	}
}

// value returns a random value for a column that is not part of a key. It returns NULL if the generator has no values
// for the kind of the column. This occurs if unlink has removed the foreign key of the column.
func (f *filler) value(c *column) any {
	switch {
	case len(c.kind.values) == 0 || c.nullable && oneIn(f.T, "null", 4):
		return nil
	case c.unique && c.kind.Type == datamap.TypeUUID:
		return keyOf(datamap.TypeUUID, len(f.table.rows))
	case c.unique:
		return fmt.Sprintf("number %d's", len(f.table.rows))
	default:
		return pick(f.T, "value", c.kind.values...)
	}
}
