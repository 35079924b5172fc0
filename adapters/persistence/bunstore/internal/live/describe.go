package live

import (
	"cmp"
	"slices"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/syntax"
	"github.com/habeas-data/habeas/domain/datamap"
)

// The reasons why the database may hide rows from the store.
const (
	rowSecurity = "row-level security is active"
	notPlain    = "is a view that may show other rows or values than the table below it"
)

// describe derives the properties of a table of the data map. The result is empty if the database does not have the
// table.
func (l *reader) describe(mapped datamap.Table) (t table) {
	i := slices.IndexFunc(l.order, func(t *Table) bool { return t.IsCalled(mapped.Name) })
	if i < 0 {
		return t
	}
	live := l.order[i]
	t = table{
		types: map[string]string{}, temp: live.Temporary, moves: live.FoldsCase && live.Schema != "main",
		keeps: live.Secured || live.Kind != datamap.KindTable, conflicts: l.statesConflicts(live),
	}
	switch {
	case live.RowSecurity:
		t.hides = rowSecurity
	case !mapped.Trusted && !live.ShowsAll(mapped):
		t.hides = notPlain
	}
	for _, below := range l.below(live) {
		t.addTable(live, below)
		t.addColumns(mapped, live, below)
		t.splits = t.splits || below.Kind == datamap.KindPartitioned
		for _, key := range l.keysTo(below) {
			t.leads = t.leads || key.OnDelete.Acts()
			if key.ActsOnUpdate() {
				t.passedOn = append(t.passedOn, key.Referenced...)
			}
		}
	}
	t.copies = t.copies || len(t.triggers) > 0
	t.keeps = t.keeps || t.copies
	slices.Sort(t.unknown)
	return t
}

// below returns the table, the tables that a view reads, and the tables that inherit from one of these tables. On
// SQLite, it returns only the table: a statement can change rows of a view only through triggers of the view itself.
func (l *reader) below(table *Table) []*Table {
	all := []*Table{table}
	for i := 0; i < len(all) && !table.FoldsCase; i++ { // all grows in the loop
		for _, other := range l.order {
			isBelow := slices.Contains(all[i].Reads, other.Name) || slices.Contains(other.Inherits, all[i].Name)
			if isBelow && !slices.Contains(all, other) {
				all = append(all, other)
			}
		}
	}
	return all
}

// keysTo returns the foreign keys that refer to the table. A foreign key to a partitioned table also refers to each of
// its partitions, which a data map may name.
func (l *reader) keysTo(parent *Table) (keys []datamap.CatalogForeignKey) {
	for _, child := range l.order {
		for _, key := range child.ForeignKeys {
			if key.References == parent.Name || slices.Contains(parent.Inherits, key.References) {
				keys = append(keys, key)
			}
		}
	}
	return keys
}

// addTable adds properties of the table live, or of a table below it.
func (t *table) addTable(live, below *Table) {
	isRead := below == live || slices.Contains(live.Reads, below.Name)
	if isRead && !below.Kind.IsLockable() {
		t.kind = max(t.kind, below.Kind)
	}
	isView := below.Kind == datamap.KindView
	if isView && !below.FoldsCase {
		t.views += below.Name + " " + below.Definition + "\n"
	}
	t.moves, t.remote = t.moves || isView, t.remote || isView || t.kind != ""
	t.keeps = t.keeps || !isRead // other tables inherit from it
	t.triggers = append(t.triggers, below.Triggers...)
}

// addColumns adds the columns of the table live, or those columns of a table below it that it does not show. A column
// has the name from the data map: PostgreSQL cuts long names, and SQLite ignores case.
func (t *table) addColumns(mapped datamap.Table, live, below *Table) {
	isRead, shown := slices.Contains(live.Reads, below.Name), below.CatalogTable
	if isRead {
		shown.Columns = slices.DeleteFunc(slices.Clone(shown.Columns), func(column datamap.CatalogColumn) bool {
			return slices.Contains(live.Uses[below.Name], column.Name)
		})
	}
	t.unknown = append(t.unknown, shown.Unmapped(mapped)...)
	for _, column := range below.Columns {
		t.copies = t.copies || column.Generated
	}
	for _, column := range shown.Columns {
		name := column.Name
		if described, ok := shown.Mapped(mapped, name); ok {
			name = described.Name
		}
		if _, known := t.types[name]; !known && !column.Generated {
			t.types[name] = cmp.Or(column.Domain, column.Declared)
		}
		if !column.Nullable {
			t.notNull = append(t.notNull, name)
		}
		_, hasName := live.Column(column.Name)
		if below != live && (isRead || !hasName) && !isNumber(column) {
			t.hidden = append(t.hidden, column.Name)
		}
	}
}

// isNumber reports whether a column can hold only numbers or truth values, and no copy of a text.
func isNumber(column datamap.CatalogColumn) bool {
	switch column.Type { //nolint:exhaustive // the others have texts
	case datamap.TypeSmallInt, datamap.TypeInteger, datamap.TypeBigInt, datamap.TypeNumber, datamap.TypeBoolean:
		return true
	default:
		return column.Declared == "oid" || column.Declared == "money"
	}
}

// inFront returns the name of a temporary table that has the name of a table of habeas, or "".
func (l *reader) inFront() (name string) {
	for _, own := range syntax.TableNames() {
		own = l.scope.own.Prefix + own
		if slices.ContainsFunc(l.order, func(t *Table) bool { return t.Temporary && t.nameInSchema() == own }) {
			name = own
		}
	}
	return name
}
