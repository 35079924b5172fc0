package live

import (
	"maps"
	"slices"
	"strings"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/syntax"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/internal/sqltext"
)

// liveColumn is a column of a table. On SQLite, Key is the position of the column in the primary key, starting at 1.
// Key is 0 if the column does not belong to the primary key.
type liveColumn struct {
	datamap.CatalogColumn
	Key int `json:"key"`
}

// liveIndex is an index of any kind.
type liveIndex struct {
	datamap.CatalogIndex
	Keys       []*string `json:"columns"` // the indexed columns; nil for an expression
	Text       string    `json:"text"`    // the definition, only for an index with expressions
	Where      string    `json:"where"`   // the condition of a partial index, or the definition of such an index
	Unique     bool      `json:"unique"`
	Primary    bool      `json:"primary"`
	Exclusion  bool      `json:"exclusion"`
	NullsEqual bool      `json:"nulls_equal"`
	Equality   bool      `json:"equality"` // a condition of equality can use the index
}

func (l *reader) addColumn(table *Table, column *liveColumn) {
	column.Type, column.Length = l.own.columnType(column.Declared)
	if column.Values != nil {
		column.Type = datamap.TypeText
	}
	column.Initial = constantOf(sqltext.TokensOf(column.Initial, l.own.quotes()))
	table.Columns = append(table.Columns, column.CatalogColumn)
	if column.Key > 0 {
		table.PrimaryKey = append(table.PrimaryKey, make([]string, max(0, column.Key-len(table.PrimaryKey)))...)
		table.PrimaryKey[column.Key-1] = column.Name
	}
}

// constantOf returns the constant of a default, without quotes and without the cast that PostgreSQL adds. It returns ""
// if the default is no constant.
func constantOf(t sqltext.Tokens) string {
	for t.IsSign(0, "(") {
		t = slices.Concat(t[1:t.ClosingBracket(0)], t[min(t.ClosingBracket(0)+1, len(t)):])
	}
	isValue := func(s sqltext.Token) bool {
		return s.Kind == sqltext.TokenString || s.Kind == sqltext.TokenSign && !strings.Contains("(),.[]", s.Text)
	}
	isCast := len(t) > 2 && t.IsSign(1, ":") && t.IsSign(2, ":") && !slices.ContainsFunc(t[3:], isValue)
	switch {
	case len(t) != 1 && !isCast:
	case t[0].Kind == sqltext.TokenString, t.Is(0, "true", "false"),
		t[0].Kind == sqltext.TokenWord && t[0].Text[0] >= '0' && t[0].Text[0] <= '9':
		return t[0].Text
	}
	return ""
}

// addIndex adds an index to a table, whose columns must have been added before.
func (l *reader) addIndex(table *Table, index *liveIndex) {
	plain, first := []string{}, []string{} // all columns, and the columns before the first expression
	for i, key := range index.Keys {
		if key == nil {
			continue
		}
		if plain = append(plain, *key); len(plain) == i+1 {
			first = plain
		}
	}
	if index.Primary {
		table.PrimaryKey, table.keyed = plain, true
	}
	if index.Partial {
		index.Present = presentIn(sqltext.TokensOf(index.Where, l.own.quotes()))
	}
	if index.Equality && len(first) > 0 {
		index.Columns = first
		table.Indexes = append(table.Indexes, index.CatalogIndex)
	}
	if index.Primary || !index.Unique && !index.Exclusion {
		return
	}
	unique := datamap.CatalogUnique{
		Name: index.Name, Columns: plain, Expressions: len(plain) < len(index.Keys),
		Partial:    index.Partial && (len(index.Present) == 0 || !isSubset(index.Present, plain)),
		NullsEqual: index.NullsEqual && len(index.Present) == 0, Exclusion: index.Exclusion,
	}
	if unique.Partial {
		unique.Where = index.Where
	}
	if unique.Expressions {
		for _, name := range l.columnsIn(inBrackets(sqltext.TokensOf(index.Text, l.own.quotes())), table) {
			if !slices.Contains(plain, name) {
				unique.Columns = append(unique.Columns, name)
			}
		}
	}
	table.Uniques = append(table.Uniques, unique)
}

// columnsIn returns the columns of a table whose names occur in an SQL text.
func (l *reader) columnsIn(text sqltext.Tokens, table *Table) []string {
	names := []string{}
	for _, column := range table.Columns {
		for i := range text {
			if text.IsName(i) && l.d.SameName(text[i].Text, column.Name) {
				names = append(names, column.Name)
				break
			}
		}
	}
	return names
}

// inBrackets returns the tokens between the first opening bracket and its closing bracket.
func inBrackets(t sqltext.Tokens) sqltext.Tokens {
	for i := range t {
		if t.IsSign(i, "(") {
			return t[i+1 : t.ClosingBracket(i)]
		}
	}
	return nil
}

// presentIn returns the columns of a condition of the form "a IS NOT NULL AND b IS NOT NULL". It returns nil for
// another condition. The text may be the complete definition of an index.
func presentIn(text sqltext.Tokens) (columns []string) {
	for i := range text {
		if text.Is(i, "where") {
			text = text[i+1:]
			break
		}
	}
	text = slices.DeleteFunc(slices.Clone(text), func(t sqltext.Token) bool {
		return t.Kind == sqltext.TokenSign && (t.Text == "(" || t.Text == ")")
	})
	for i := 0; ; i += 5 {
		if i+4 > len(text) || !text.IsName(i) || !text.Is(i+1, "is") || !text.Is(i+2, "not") || !text.Is(i+3, "null") {
			return nil
		}
		columns = append(columns, text[i].Text)
		if i+4 == len(text) {
			return columns
		}
		if !text.Is(i+4, "and") {
			return nil
		}
	}
}

func isSubset(columns, set []string) bool {
	return !slices.ContainsFunc(columns, func(name string) bool {
		return !slices.ContainsFunc(set, func(other string) bool { return strings.EqualFold(name, other) })
	})
}

// complete adds the properties of a table that ReadCatalog derives from SQL texts, such as the definition of a view, or
// from other tables.
func (l *reader) complete(table *Table) {
	text := sqltext.TokensOf(table.Text, l.own.quotes())
	switch table.Kind { //nolint:exhaustive // nothing derives from the texts of the other kinds
	case datamap.KindTable:
		if table.FoldsCase {
			l.completeForeignKeys(table, text)
			if l.scope == nil {
				l.addChecks(table, text)
				l.addConflicts(table, text)
				addRowNumber(table, text)
			}
		}
	case datamap.KindVirtual:
		l.markShadows(table, text)
	case datamap.KindView, datamap.KindMatView:
		if table.FoldsCase {
			l.addReads(table, text)
			l.filterOfSQLite(table, text)
		}
	}
	for _, trigger := range table.triggers {
		table.Triggers = append(table.Triggers, l.completeTrigger(table, trigger))
	}
}

// shadowSuffixes holds the suffixes of shadow tables by the module of a virtual table of SQLite. Shadow tables are
// ordinary tables that hold the rows of the virtual table.
var shadowSuffixes = map[string][]string{
	"fts3": {"content", "segments", "segdir"}, "fts4": {"content", "segments", "segdir", "docsize", "stat"},
	"fts5": {"content", "data", "idx", "docsize", "config"}, "rtree": {"node", "rowid", "parent"},
	"rtree_i32": {"node", "rowid", "parent"},
}

// markShadows marks the shadow tables of a virtual table, so that ReadCatalog omits them.
func (l *reader) markShadows(virtual *Table, text sqltext.Tokens) {
	for i := range text {
		if !text.Is(i-1, "using") {
			continue
		}
		for _, suffix := range shadowSuffixes[syntax.Lower(text[i].Text)] {
			if shadow := l.tables[virtual.Schema+"."+syntax.Lower(virtual.Unnamed)+"_"+suffix]; shadow != nil {
				shadow.shadow = true
			}
		}
		return
	}
}

// completeForeignKeys adds properties of foreign keys that no pragma of SQLite reports. It reads them from the
// definition of the table (the parameter text). The foreign keys of the table must have the same order as in that
// definition.
func (l *reader) completeForeignKeys(table *Table, text sqltext.Tokens) {
	var deferrable []bool
	for i := range text {
		switch last := len(deferrable) - 1; {
		case text.Is(i, "references"):
			deferrable = append(deferrable, false)
		case last >= 0 && text.Is(i, "deferrable") && !text.Is(i-1, "not") && text.Is(i+2, "deferred"):
			deferrable[last] = true
		}
	}
	for i := range table.ForeignKeys {
		foreign := &table.ForeignKeys[i]
		foreign.Deferrable = i < len(deferrable) && deferrable[i]
		referenced := l.tables[table.Schema+"."+syntax.Lower(foreign.References)]
		if referenced == nil {
			continue
		}
		foreign.References = referenced.Name
		for j, name := range foreign.Referenced {
			if name == "" && j < len(referenced.PrimaryKey) { // the foreign key refers to the primary key
				foreign.Referenced[j] = referenced.PrimaryKey[j]
			}
		}
	}
}

// addChecks adds the CHECK constraints of a table. The parameter text is the definition of the table.
func (l *reader) addChecks(table *Table, text sqltext.Tokens) {
	for i := range text {
		if !text.Is(i, "check") || !text.IsSign(i+1, "(") {
			continue
		}
		end := text.ClosingBracket(i + 1)
		if end == len(text) {
			return
		}
		check := datamap.CatalogCheck{
			Columns: l.columnsIn(text[i+1:end], table), Text: table.Text[text[i].From:text[end].To],
		}
		if text.Is(i-2, "constraint") {
			check.Name = text[i-1].Text
		}
		table.Checks = append(table.Checks, check)
	}
}

// addRowNumber adds an index and a default to a primary key that has no separate index. In SQLite, such a primary key
// is an alias of the row id, which has a default and serves as an index. The parameter text is the definition of the
// table. Without AUTOINCREMENT, SQLite gives the highest number again after its row was deleted.
func addRowNumber(table *Table, text sqltext.Tokens) {
	if table.keyed || len(table.PrimaryKey) != 1 {
		return
	}
	table.Indexes = slices.Insert(table.Indexes, 0, datamap.CatalogIndex{Columns: table.PrimaryKey})
	for i := range table.Columns {
		if table.Columns[i].Name == table.PrimaryKey[0] {
			table.Columns[i].Default, table.Columns[i].Reused = true, !text.Has("autoincrement")
		}
	}
}

// addReads adds the tables that a view of SQLite may read. These are the names of tables in its definition at positions
// where the grammar allows a table.
func (l *reader) addReads(view *Table, text sqltext.Tokens) {
	for i := range text {
		if !text.Is(i-1, "from", "join") && !text.IsSign(i-1, ",", "(") {
			continue
		}
		if read := l.Find(view.Schema, text.NameAt(i)); read != nil && read != view {
			view.Reads = append(view.Reads, read.Name)
		}
	}
}

// filterOfSQLite sets the property Filtered of a view of SQLite. See Cache.hidesOfView.
func (l *reader) filterOfSQLite(view *Table, text sqltext.Tokens) {
	plain, ok := plainView(text)
	base := l.tables[view.Schema+"."+syntax.Lower(plain.table)]
	view.Filtered = !ok || len(view.triggers) > 0 || base == nil || base.Kind == datamap.KindView ||
		slices.ContainsFunc(plain.columns, func(name string) bool {
			_, known := base.Column(name)
			return !known
		})
}

// followViews adds the tables that a view reads through other views. A view also counts as filtering rows if a view
// that it reads filters rows.
func (l *reader) followViews() {
	direct := map[*Table]map[string][]string{}
	for _, view := range l.order {
		direct[view] = view.Uses
	}
	for _, view := range l.order {
		if len(view.Reads) == 0 {
			continue
		}
		reads := map[string]*Table{}
		l.follow(view, reads)
		view.Reads = slices.Sorted(maps.Keys(reads))
		for _, read := range reads {
			view.Filtered = view.Filtered || read != nil && read.Filtered
			view.Unlockable = view.Unlockable || read != nil && read.Unlockable
			view.RowSecurity = view.RowSecurity || read != nil && read.Secured && view.Kind == datamap.KindView
			for used, columns := range direct[read] {
				view.Uses = maps.Clone(view.Uses)
				if view.Uses == nil {
					view.Uses = map[string][]string{}
				}
				all := slices.Sorted(slices.Values(slices.Concat(view.Uses[used], columns)))
				view.Uses[used] = slices.Compact(all)
			}
		}
	}
}

// viewRead is a table or view that a view reads, with the columns that the view names.
type viewRead struct {
	Table   string   `json:"table"`
	Columns []string `json:"columns"`
}

func (t *Table) addRead(read viewRead) {
	t.Reads = append(t.Reads, read.Table)
	if len(read.Columns) > 0 {
		if t.Uses == nil {
			t.Uses = map[string][]string{}
		}
		t.Uses[read.Table] = read.Columns
	}
}

func (l *reader) follow(view *Table, reads map[string]*Table) {
	for _, name := range view.Reads {
		if _, seen := reads[name]; seen {
			continue
		}
		read := l.names[syntax.Lower(name)]
		if reads[name] = read; read != nil {
			l.follow(read, reads)
		}
	}
}
