package domain

import (
	"slices"
	"strconv"
	"strings"
)

// Path is one way from the rows of a table to a subject.
type Path struct {
	// Via is the name of the path: the names of the relations between which there was a choice, joined by dots. It is
	// empty if the table has one path.
	Via       string
	Relations []Relation // in order; none for the subject's own table
	onward    string     // the name of the path that goes on from the other table of the first relation
}

// begins reports whether the path begins with the relation.
func (p Path) begins(with Relation) bool { return len(p.Relations) > 0 && p.Relations[0].Equals(with) }

// Has reports whether an annotated column belongs to the subject that the path leads to.
func (p Path) Has(column Column) bool {
	if column.Personal == nil {
		return false
	}
	return p.Via == "" || slices.ContainsFunc(column.Personal.vias(), p.isCalled)
}

// vias are the names that the annotation belongs to.
func (a Annotation) vias() []string {
	if a.Via == "" {
		return nil
	}
	names := strings.Split(a.Via, ",")
	for i, name := range names {
		names[i] = strings.TrimSpace(name)
	}
	return names
}

// isCalled reports whether the name is that of the path, or that of the relation that it begins with.
func (p Path) isCalled(name string) bool { return p.Via == name || strings.HasPrefix(p.Via, name+".") }

// Personal returns the annotated columns of the path's table that belong to the subject that the path leads to, in the
// order of the table.
func (p Path) Personal(table Table) []Column {
	return slices.DeleteFunc(table.Personal(), func(c Column) bool { return !p.Has(c) })
}

// OnErasure is what the path says of its rows when its subject is erased: StrategyDelete, StrategyNull, or empty.
func (p Path) OnErasure() Strategy {
	if len(p.Relations) == 0 {
		return ""
	}
	return p.Relations[0].OnErasure
}

// Clears returns the columns that an erasure sets to NULL, so that the row no longer leads to the subject. These are
// the columns of the path's first relation that are in no key of the table, and in no other relation that applies to
// the same rows. It returns nil unless the path says StrategyNull.
func (m DataMap) Clears(table Table, path Path) []string {
	if path.OnErasure() != StrategyNull {
		return nil
	}
	relation := path.Relations[0]
	return slices.DeleteFunc(slices.Clone(relation.Columns), func(name string) bool {
		return m.mustStay(table, relation, name)
	})
}

// mustStay reports whether a column of a relation cannot be cleared with it.
func (m DataMap) mustStay(table Table, relation Relation, name string) bool {
	if slices.Contains(table.PrimaryKey, name) || slices.Contains(table.SubjectKey, name) || m.isReferenced(table, name) {
		return true
	}
	return slices.ContainsFunc(table.Relations, func(other Relation) bool {
		uses := slices.Contains(other.Columns, name) || other.When != nil && other.When.Column == name
		return uses && !other.Equals(relation) && !other.excludes(relation)
	})
}

// Paths returns the paths that lead from the table to the subject's. There is one, except where several relations of
// the table are marked with Path, or where a table on the path has several. The subject's own table has one without
// relations.
func (m DataMap) Paths(table string) []Path { return m.paths[table] }

// PathVia returns the path of that name.
func (m DataMap) PathVia(table, via string) (Path, bool) {
	for _, path := range m.paths[table] {
		if path.Via == via {
			return path, true
		}
	}
	return Path{}, false
}

// RowsGo reports whether an erasure deletes the rows of a table that the path leads from. If the path says so
// (Relation.OnErasure), it does. If the table has one path, Table.RowsGo decides. If it has several, the rows go along
// a path if the table is owned and all its annotated columns, one at least, say delete and belong to that path alone.
func (m DataMap) RowsGo(table Table, path Path) bool {
	switch {
	case path.OnErasure() != "":
		return path.OnErasure() == StrategyDelete
	case path.Via == "":
		return table.RowsGo()
	case !table.Owned || !table.RowsGo():
		return false
	}
	personal := table.Personal()
	return len(personal) > 0 && !slices.ContainsFunc(personal, func(c Column) bool {
		return slices.ContainsFunc(m.paths[table.Name], func(p Path) bool { return p.Has(c) != (p.Via == path.Via) })
	})
}

// Onward returns the paths of the tables that the path leads over, the table of its first relation first.
func (m DataMap) Onward(path Path) []Path {
	var onward []Path
	for len(path.Relations) > 0 {
		next, _ := m.PathVia(path.Relations[0].References, path.onward)
		onward = append(onward, next)
		path = next
	}
	return onward
}

// mostPaths is how many paths a table may have. Each of them has steps and conditions of its own.
const mostPaths = 16

// takePaths makes the paths of a table that begin with the relations, and reports whether it could. The paths of the
// tables that they refer to are known.
func (d *draft) takePaths(table Table, relations []Relation) bool {
	var paths []Path
	for _, relation := range relations {
		for _, onward := range d.paths[relation.References] {
			path := Path{Via: onward.Via, onward: onward.Via}
			path.Relations = append([]Relation{relation}, onward.Relations...)
			if len(relations) > 1 {
				path.Via = strings.TrimSuffix(relation.called()+"."+onward.Via, ".")
			}
			if slices.ContainsFunc(paths, func(other Path) bool { return other.Via == path.Via }) {
				d.report(Problem{
					Table: table.Name, Message: "has two paths of one name", Found: path.Via,
					Remedy: "give each of its relations to " + relation.References + " a name of its own",
				})
				return false
			}
			paths = append(paths, path)
		}
	}
	if len(paths) > mostPaths {
		d.report(Problem{
			Table: table.Name, Message: "has more paths to the subject's table than " + strconv.Itoa(mostPaths),
			Found: strconv.Itoa(len(paths)), Remedy: "mark fewer of its relations, or of those above it",
		})
		return false
	}
	d.paths[table.Name] = paths
	return true
}

// candidates are the relations by which a table may reach the subject's: those that are marked, or else all of them.
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

// checkPaths checks what the columns and the relations of a table say about its paths, if it has any.
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
	if !table.Owned || len(paths) == 1 || slices.ContainsFunc(paths, func(p Path) bool { return p.OnErasure() != "" }) {
		return
	}
	// Columns of the strategies anonymize and retain keep the rows, whoever they belong to.
	if table.RowsGo() && !slices.ContainsFunc(paths, func(p Path) bool { return d.RowsGo(table, p) }) {
		d.report(Problem{
			Table: table.Name, Message: "is declared owned, but its rows are about several people",
			Found: strings.Join(viasOf(paths), ", "),
			Remedy: "say of the paths what becomes of the rows (erasure:delete), or let all annotated columns belong to one " +
				"path (via)",
		})
	}
}

func (d *draft) checkVia(table Table, column Column) {
	report := func(p Problem) {
		p.Table, p.Column = table.Name, column.Name
		d.report(p)
	}
	paths, via := d.paths[table.Name], column.Personal.vias()
	several := len(paths) > 1
	switch {
	case !several && len(via) > 0:
		report(Problem{
			Message: "says to which path it belongs, but its table has one path to the subject",
			Found:   strings.Join(via, ", "), Remedy: "leave via out, or mark another relation as a path",
		})
		return
	case several && len(via) == 0:
		report(Problem{
			Message:  "does not say to whom it belongs: the rows of its table are about several people",
			Possible: viasOf(paths), Remedy: "say via:" + paths[0].Via + " or, if it belongs to several, via:'" +
				strings.Join(viasOf(paths[:2]), ",") + "'",
		})
		return
	}
	for _, name := range via {
		if !slices.ContainsFunc(paths, func(p Path) bool { return p.isCalled(name) }) {
			report(Problem{
				Message: "belongs to a path that its table does not have", Found: name, Possible: viasOf(paths),
			})
		}
	}
}

// checkOnErasure checks what a relation says of an erasure.
func (d *draft) checkOnErasure(table Table, relation Relation) {
	if relation.OnErasure == "" {
		return
	}
	report := func(p Problem) {
		p.Table, p.Column = table.Name, strings.Join(relation.Columns, ", ")
		d.report(p)
	}
	if relation.OnErasure != StrategyDelete && relation.OnErasure != StrategyNull {
		report(Problem{
			Message: "is the reference of the relation " + relation.called() + ", which says an unknown erasure",
			Found:   string(relation.OnErasure), Possible: []string{string(StrategyDelete), string(StrategyNull)},
			Remedy: "delete lets the row go, null sets the reference to NULL",
		})
		return
	}
	i := slices.IndexFunc(d.paths[table.Name], func(p Path) bool { return p.begins(relation) })
	switch {
	case i < 0:
		report(Problem{
			Message: "is the reference of the relation " + relation.called() +
				", which says what an erasure does, but is no path to the subject",
			Found: string(relation.OnErasure), Remedy: "mark the relation as a path, or leave the erasure out",
		})
	case relation.OnErasure == StrategyNull && len(d.Clears(table, d.paths[table.Name][i])) == 0:
		report(Problem{
			Message: "cannot be set to NULL: each column of the relation " + relation.called() +
				" is in a key or in another relation",
			Found: string(relation.OnErasure), Remedy: "let the row go (erasure:delete), or leave the reference",
		})
	}
}

// Notice names something that the data map leaves out, and that may hold personal data. It is no error.
type Notice struct{ Table, Column, Message string }

// String is the notice as one line.
func (n Notice) String() string { return n.Table + "." + n.Column + ": " + n.Message }

// Notices returns what no path of the data map covers: relations between its tables that are no paths where others are
// marked, keys that are named like secrets and are exported, and what WithNotices has added. They are in the order of
// the tables.
func (m DataMap) Notices() []Notice {
	var notices []Notice
	for _, table := range m.tables {
		notices = append(notices, m.exposedKeys(table)...)
		paths := m.paths[table.Name]
		for _, relation := range table.Relations {
			_, inMap := m.index[relation.References]
			if !inMap || relation.References == table.Name ||
				slices.ContainsFunc(paths, func(p Path) bool { return p.begins(relation) }) {
				continue
			}
			notices = append(notices, Notice{table.Name, strings.Join(relation.Columns, ", "), "refers to " +
				relation.References + " and is no path: an export and an erasure of the person that it leads to pass it over"})
		}
	}
	return append(notices, m.notices...)
}

// exposedKeys names the columns of a primary key that are named like secrets, and by which an export names the rows.
func (m DataMap) exposedKeys(table Table) (notices []Notice) {
	if len(m.ExportedColumns(table)) == 0 {
		return nil
	}
	for _, name := range table.PrimaryKey {
		if column, _ := table.Column(name); column.Personal == nil && SoundsSecret(name) {
			notices = append(notices, Notice{table.Name, name, "is named like a secret, and an export names each row by it: " +
				"annotate the column and say export:no, or export:yes if the person may read it"})
		}
	}
	return notices
}

// WithNotices returns the data map with more notices, which its reader has found.
func (m DataMap) WithNotices(notices ...Notice) DataMap {
	m.notices = slices.Concat(m.notices, notices)
	return m
}
