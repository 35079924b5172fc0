package scaffold

import (
	"slices"
	"strings"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/internal/names"
)

// reference is a foreign key, or a column whose name suggests a reference.
type reference struct {
	from, to   *table
	columns    []string
	referenced []string
	setsNull   bool
	guessed    bool // no foreign key exists
	role       names.Role
	name       string // of the relation, in tables with several paths
	kept       bool   // a relation of the data map
}

func (r *reference) nullable() bool {
	return slices.ContainsFunc(r.columns, func(name string) bool {
		c, ok := r.from.Column(name)
		return ok && c.Nullable
	})
}

// label returns the name of the reference for a sentence.
func (r *reference) label() string { return strings.Join(r.columns, " and ") }

// isRelation reports whether the data map can have the reference as a relation. A relation must not refer to a part of
// a key, because rows of different subjects may share that part.
func (r *reference) isRelation() bool {
	if !r.from.isReal() || !r.to.isReal() || len(r.columns) == 0 || len(r.columns) != len(r.referenced) {
		return false
	}
	part := len(r.referenced) < len(r.to.key)
	for _, name := range r.referenced {
		_, ok := r.to.Column(name)
		if !ok {
			return false
		}
		part = part && slices.Contains(r.to.key, name)
	}
	return !part && !slices.ContainsFunc(r.columns, func(name string) bool {
		_, ok := r.from.Column(name)
		return !ok
	})
}

func (d *draft) add(r *reference) {
	last := r.columns[len(r.columns)-1]
	if r.role = names.RoleOf(last); names.Creates(last) && names.Is(r.from.Name, names.Messages) {
		r.role = names.Holder // the person that created a message is its author
	}
	twin := slices.IndexFunc(r.from.out, func(other *reference) bool {
		return other.to == r.to && slices.Equal(other.columns, r.columns) && slices.Equal(other.referenced, r.referenced)
	})
	if twin >= 0 {
		r.from.out[twin].setsNull = r.from.out[twin].setsNull && r.setsNull
		return
	}
	r.from.out, r.to.in = append(r.from.out, r), append(r.to.in, r)
}

func (d *draft) readForeignKeys() {
	for _, t := range d.tables {
		for _, key := range t.ForeignKeys {
			to := d.table(key.References)
			if to == nil || len(key.Columns) == 0 {
				continue
			}
			d.add(&reference{
				from: t, to: to, columns: key.Columns, referenced: key.Referenced,
				setsNull: key.OnDelete == domain.ActionSetNull,
			})
		}
	}
}

// guessByTable relates tables without foreign keys by columns that are named after another table, such as user_id.
func (d *draft) guessByTable() {
	for _, t := range d.tables {
		for _, c := range t.Columns {
			stem, ok := names.Stem(c.Name)
			if !ok || t.refers(c.Name) {
				continue
			}
			for _, to := range d.tables {
				if names.Same(stem, names.BaseName(to.Name)) && d.guess(t, c, to) {
					break
				}
			}
		}
	}
}

// guessByRole relates tables to the subject's table by columns that are named after a role, such as sender_id. If the
// schema has foreign keys to people, a column of this kind without a foreign key does not count as a reference.
func (d *draft) guessByRole() {
	if slices.ContainsFunc(d.subject.in, func(r *reference) bool { return !r.guessed }) {
		return
	}
	for _, t := range d.tables {
		for _, c := range t.Columns {
			stem, isReference := names.Stem(c.Name)
			isKey := c.Type != domain.TypeText || isReference
			if names.Same(stem, names.BaseName(t.Name)) {
				continue // its own key
			}
			named := names.IsRole(stem) || isReference && names.EndsIn(stem, names.BaseName(d.subject.Name))
			if isKey && named && !t.refers(c.Name) {
				d.guess(t, c, d.subject)
			}
		}
	}
}

// guess relates a column to the key of a table if the types are alike.
func (d *draft) guess(t *table, c domain.CatalogColumn, to *table) bool {
	if len(to.key) != 1 || t == to && slices.Contains(t.key, c.Name) || c.Generated {
		return false
	}
	key, _ := to.Column(to.key[0])
	if family(key.Type) == "" || family(key.Type) != family(c.Type) {
		return false
	}
	d.add(&reference{from: t, to: to, columns: []string{c.Name}, referenced: to.key, guessed: true})
	return true
}

// family returns a common type for key types that can be compared with each other.
func family(t domain.ColumnType) domain.ColumnType {
	switch t { //nolint:exhaustive // the other types cannot be keys
	case domain.TypeSmallInt, domain.TypeInteger, domain.TypeBigInt:
		return domain.TypeBigInt
	case domain.TypeText, domain.TypeUUID:
		return t
	default:
		return ""
	}
}

// refers reports whether the column is part of a foreign key or of another reference from the table.
func (t *table) refers(column string) bool {
	return slices.ContainsFunc(t.ForeignKeys, func(key domain.CatalogForeignKey) bool {
		return slices.Contains(key.Columns, column)
	}) || slices.ContainsFunc(t.out, func(r *reference) bool { return slices.Contains(r.columns, column) })
}
