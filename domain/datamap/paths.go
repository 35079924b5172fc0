package datamap

import (
	"slices"
	"strconv"
	"strings"

	"github.com/habeas-data/habeas/domain"
)

// Path is a chain of relations from the rows of a table to a subject. For example, orders → customers → users.
type Path struct {
	// Via is the name of the path. It is empty if the table has only one path. Otherwise it consists of the names of the
	// relations of the path, joined by dots. A relation is left out if it is the only relation of its table that begins a
	// path.
	Via       string
	Relations []Relation // in order; empty for the subject's own table
	restVia   string     // the name of the rest of the path, after its first relation
	spared    bool       // Relation.OnErasure of the first relation has no effect on this path; see OnErasure
}

// begins reports whether the relation is the first one of the path.
func (p Path) begins(relation Relation) bool {
	return len(p.Relations) > 0 && p.Relations[0].Equals(relation)
}

// Has reports whether an annotated column belongs to the subject at the end of the path.
func (p Path) Has(column Column) bool {
	if column.Personal == nil {
		return false
	}
	return p.Via == "" || slices.ContainsFunc(namesIn(column.Personal.Via), p.isCalled)
}

// namesIn returns the list of names in Annotation.Via or Table.Via.
func namesIn(via string) []string {
	if via == "" {
		return nil
	}
	names := strings.Split(via, ",")
	for i, name := range names {
		names[i] = strings.TrimSpace(name)
	}
	return names
}

// isCalled reports whether the name is the name of the path, or the name of the first relation of the path.
func (p Path) isCalled(name string) bool { return p.Via == name || strings.HasPrefix(p.Via, name+".") }

// Personal returns the annotated columns of the table that belong to the subject at the end of the path, in the order
// of the table.
func (p Path) Personal(table Table) []Column {
	return slices.DeleteFunc(table.Personal(), func(c Column) bool { return !p.Has(c) })
}

// Paths returns the paths from the table to the subject's table. A table has several paths if several of its relations
// have Relation.Path, or if a table that it refers to on a path has several paths. The subject's own table has one path
// without relations.
func (m DataMap) Paths(table string) []Path { return m.paths[table] }

// PathVia returns the path of the table that has the given Path.Via.
func (m DataMap) PathVia(table, via string) (Path, bool) {
	for _, path := range m.paths[table] {
		if path.Via == via {
			return path, true
		}
	}
	return Path{}, false
}

// RemainingPaths returns the parts of the path that remain if relations at its start are left out: without the first
// relation, without the first two, and so on. For example, for orders → customers → users, it returns the paths
// customers → users and users.
func (m DataMap) RemainingPaths(path Path) []Path {
	var remaining []Path
	for len(path.Relations) > 0 {
		next, _ := m.PathVia(path.Relations[0].References, path.restVia)
		remaining = append(remaining, next)
		path = next
	}
	return remaining
}

// maxPaths is the maximum number of paths from a table to the subject's table. It limits the size of a plan, because
// each path has its own steps and SQL conditions.
const maxPaths = 16

// addPaths stores the paths of a table. Each path begins with one of the given relations and continues with a path of
// the referenced table. The paths of the referenced tables must therefore be known. addPaths returns false if it
// reports a mistake instead.
func (d *draft) addPaths(table Table, relations []Relation) bool {
	var paths []Path
	for _, relation := range relations {
		for _, rest := range d.paths[relation.References] {
			path := Path{Via: rest.Via, restVia: rest.Via}
			path.Relations = append([]Relation{relation}, rest.Relations...)
			if len(relations) > 1 {
				path.Via = strings.TrimSuffix(relation.called()+"."+rest.Via, ".")
			}
			if slices.ContainsFunc(paths, func(other Path) bool { return other.Via == path.Via }) {
				d.report(domain.Problem{
					Table: table.Name, Message: "has two paths with the same name", Found: path.Via,
					Remedy: "give each of its relations to " + relation.References + " a different name",
				})
				return false
			}
			paths = append(paths, path)
		}
	}
	if len(paths) > maxPaths {
		d.report(domain.Problem{
			Table: table.Name, Message: "has more paths to the subject's table than " + strconv.Itoa(maxPaths),
			Found: strconv.Itoa(len(paths)), Remedy: "mark fewer relations of this table, or of the tables that it refers to",
		})
		return false
	}
	for i, path := range paths {
		paths[i].spared = d.spares(path, paths)
	}
	d.paths[table.Name] = paths
	return true
}

// candidates returns the relations that may begin a path from the table to the subject's table. These are the relations
// for which Relation.Path is true. If there are none, they are all relations to other tables of the data map.
func (m DataMap) candidates(table Table) []Relation {
	marked := slices.ContainsFunc(table.Relations, func(r Relation) bool { return r.Path })
	return slices.DeleteFunc(slices.Clone(table.Relations), func(r Relation) bool {
		_, inMap := m.index[r.References]
		return !inMap || r.References == table.Name || marked && !r.Path
	})
}

func viasOf(paths []Path) []string {
	names := make([]string, len(paths))
	for i, path := range paths {
		names[i] = path.Via
	}
	return names
}

// checkPaths checks the annotated columns and the relations of a table against the paths of the table.
func (d *draft) checkPaths(table Table) {
	paths := d.paths[table.Name]
	if len(paths) == 0 {
		return
	}
	for _, column := range table.Personal() {
		d.checkVia(table, column)
	}
	for _, relation := range table.Relations {
		d.checkOnErasure(table, relation)
	}
	if !d.checkTableVia(table) {
		return
	}
	// No mistake is reported if Table.RowsDeleted is false. An Owned table then keeps its rows because of a column that is
	// anonymized, set to NULL or retained.
	deletes := func(p Path) bool { return d.RowsDeleted(table, p) }
	if !table.Owned || !table.RowsDeleted() || slices.ContainsFunc(paths, deletes) {
		return
	}
	if len(paths) == 1 {
		d.report(domain.Problem{
			Table: table.Name, Message: "is declared owned, but its rows stay: the reference to the subject is set to NULL",
			Found:  string(domain.StrategyNull),
			Remedy: "delete the rows (erasure:delete), or remove owned and annotate the columns",
		})
		return
	}
	d.report(domain.Problem{
		Table: table.Name, Message: "is declared owned, but its rows are about several people, and no path deletes them",
		Found: strings.Join(viasOf(paths), ", "),
		Remedy: "set erasure:delete on a path, name the path in via of the table (owned,via:...), or assign all annotated " +
			"columns to one path (via)",
	})
}

func (d *draft) checkVia(table Table, column Column) {
	report := d.reporter(table, column.Name)
	paths, via := d.paths[table.Name], namesIn(column.Personal.Via)
	several := len(paths) > 1
	switch {
	case !several && len(via) > 0:
		report(domain.Problem{
			Message: "has via, but its table has only one path to the subject",
			Found:   strings.Join(via, ", "), Remedy: "remove via, or mark another relation as a path",
		})
		return
	case several && len(via) == 0:
		report(domain.Problem{
			Message:  "has no via, but the rows of its table are about several people",
			Possible: viasOf(paths), Remedy: "set via:" + paths[0].Via + " or, for several paths, via:'" +
				strings.Join(viasOf(paths[:2]), ",") + "'",
		})
		return
	}
	for _, name := range via {
		if !slices.ContainsFunc(paths, func(p Path) bool { return p.isCalled(name) }) {
			report(domain.Problem{
				Message: "belongs to a path that its table does not have", Found: name, Possible: viasOf(paths),
			})
		}
	}
}
