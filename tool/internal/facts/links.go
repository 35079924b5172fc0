package facts

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/tool/internal/dictionary"
)

// Link is a reference of a table that leads to people: to their table, or to another table that leads there.
type Link struct {
	Columns    []string // Column is the last one
	References string
	Referenced []string
	ForeignKey bool
	NotNull    bool // no column can be NULL
	OnDelete   datamap.ForeignKeyAction
	// Likely is true for a foreign key, and for columns whose name names a person or another table.
	Likely bool
	// When is the condition of a reference whose table another column names. Its value is a guess if Guessed is true.
	When    *datamap.Condition
	Guessed bool
}

// Column returns the column that distinguishes the link from the others of its table.
func (l Link) Column() string { return l.Columns[len(l.Columns)-1] }

// Plausible reports whether the link is likely, or its column is named like the key of any rows.
func (l Link) Plausible() bool {
	stem, isKey := dictionary.Stem(l.Column())
	return l.Likely || isKey && stem != ""
}

// Links returns the references of the table that lead to people, over any number of tables, the clearest first. It
// includes a column that could hold a key of a person, unless its name names a table that does not lead to people.
func (s Schema) Links(table datamap.CatalogTable) []Link {
	links := slices.DeleteFunc(slices.Clone(s.links[table.Name]), func(l Link) bool {
		return s.IsSubject(table) || l.References == table.Name || !s.reaches(l.References, table.Name)
	})
	slices.SortStableFunc(links, func(a, b Link) int { return cmp.Compare(s.rank(a), s.rank(b)) })
	return links
}

// References returns all references of the table: its foreign keys, and its columns that could hold keys, also those
// that do not lead to people.
func (s Schema) References(table datamap.CatalogTable) []Link { return s.links[table.Name] }

// rank returns a lower number for a clearer link.
func (s Schema) rank(l Link) int {
	rank := 0
	for i, isWorse := range []bool{!l.NotNull, l.References != s.subject.Name, !l.ForeignKey, !l.Likely} {
		if isWorse {
			rank |= 1 << i
		}
	}
	return rank
}

// reaches reports whether likely links lead from a table to the people without the table avoid.
func (s Schema) reaches(from, avoid string) bool {
	visited := map[string]bool{avoid: true}
	var visit func(name string) bool
	visit = func(name string) bool {
		if name == s.subject.Name {
			return true
		}
		if visited[name] {
			return false
		}
		visited[name] = true
		return slices.ContainsFunc(s.links[name], func(l Link) bool { return l.Likely && visit(l.References) })
	}
	return visit(from)
}

// Self returns the references of a table to its own rows, such as that of a reply to what it answers.
func (s Schema) Self(table datamap.CatalogTable) []Link {
	return slices.DeleteFunc(slices.Clone(s.links[table.Name]), func(l Link) bool { return l.References != table.Name })
}

// Sharing is a reason why people share rows of a table: rows of another table, which is part of the rows, lead to
// further people.
type Sharing struct {
	Table, Column string
	Likely        bool // see Link.Likely
}

// Shared returns the reasons why other people may share the rows of a table. These are the references to people of the
// tables that refer to it, directly or through others, besides the references to it, and its references to itself.
func (s Schema) Shared(table datamap.CatalogTable) (shared []Sharing) {
	below := map[string]bool{table.Name: true}
	for grown := true; grown; {
		grown = false
		for name, links := range s.links {
			if !below[name] && name != s.subject.Name && slices.ContainsFunc(links, func(l Link) bool {
				return l.Likely && below[l.References]
			}) {
				below[name], grown = true, true
			}
		}
	}
	for _, part := range s.catalog.Tables {
		for _, l := range s.links[part.Name] {
			isOwn := part.Name == table.Name && l.References != table.Name
			switch {
			case part.Name == s.subject.Name && below[l.References], part.Name == table.Name && l.References == table.Name:
				shared = append(shared, Sharing{part.Name, l.Column(), l.Likely})
			case !below[part.Name] || isOwn || below[l.References] || !s.reaches(l.References, part.Name):
			default:
				shared = append(shared, Sharing{part.Name, l.Column(), l.Likely})
			}
		}
	}
	return shared
}

// allLinks returns the foreign keys of a table, and its columns that could hold keys.
func (s Schema) allLinks(table datamap.CatalogTable) (links []Link) {
	for _, key := range table.ForeignKeys {
		links = append(links, Link{
			Columns: key.Columns, References: key.References, Referenced: key.Referenced, ForeignKey: true, Likely: true,
			NotNull: isNotNull(table, key.Columns), OnDelete: key.OnDelete,
		})
	}
	for _, column := range table.Columns {
		if !s.CouldHoldKey(table, column) || column.Type == datamap.TypeArray {
			continue
		}
		if link, ok := s.bareLink(table, column); ok {
			links = append(links, link)
		}
	}
	return links
}

// bareLink returns the link of a column without a foreign key.
func (s Schema) bareLink(table datamap.CatalogTable, column datamap.CatalogColumn) (Link, bool) {
	link := Link{Columns: []string{column.Name}, NotNull: !column.Nullable}
	var possible bool
	if link.When, link.Guessed, possible = s.condition(table, column); !possible {
		return Link{}, false
	}
	if named, ok := s.named(table, column); ok && link.When == nil && named.Name != s.subject.Name {
		link.References, link.Referenced, link.Likely = named.Name, named.PrimaryKey, true
		return link, true
	}
	last := s.key[len(s.key)-1]
	for _, part := range s.key[:len(s.key)-1] { // such as the tenant, which both rows have
		own, ok := table.Column(part.Name)
		if !ok || own.Name == column.Name || family(own.Type) != family(part.Type) {
			return Link{}, false
		}
		link.Columns = slices.Insert(link.Columns, len(link.Columns)-1, own.Name)
		link.NotNull = link.NotNull && !own.Nullable
	}
	for _, part := range s.key {
		link.Referenced = append(link.Referenced, part.Name)
	}
	link.References = s.subject.Name
	stem, _ := dictionary.Stem(column.Name)
	link.Likely = link.When != nil || dictionary.Same(stem, s.subject.Name) || dictionary.Names(column.Name)
	return link, family(column.Type) == family(last.Type)
}

// named returns the table with a key of one column that the name of the column names, such as projects for project_id,
// and for parent_project_id if there is no better one.
func (s Schema) named(table datamap.CatalogTable, column datamap.CatalogColumn) (named datamap.CatalogTable, ok bool) {
	stem, _ := dictionary.Stem(column.Name)
	wasEnd := false
	for _, other := range s.catalog.Tables {
		isEnd := dictionary.Same(dictionary.Base(other.Name), stem)
		if isView(other) || len(other.PrimaryKey) != 1 || !isEnd && !dictionary.Same(stem, other.Name) ||
			other.Name == table.Name && other.PrimaryKey[0] == column.Name {
			continue
		}
		key, found := other.Column(other.PrimaryKey[0])
		isBetter := !ok || len(other.Name) < len(named.Name) || isEnd && !wasEnd
		if found && family(key.Type) == family(column.Type) && isBetter {
			named, ok, wasEnd = other, true, isEnd
		}
	}
	return named, ok
}

// condition returns the condition of a reference whose table another column names, as notifiable_type does for
// notifiable_id. It is nil for other references. possible is false if the other column can't name the people.
func (s Schema) condition(
	table datamap.CatalogTable, column datamap.CatalogColumn,
) (when *datamap.Condition, guessed, possible bool) {
	stem, _ := dictionary.Stem(column.Name)
	for _, kind := range table.Columns {
		of, isKind := cutKind(kind.Name)
		if !isKind || kind.Name == column.Name || !strings.EqualFold(of, stem) || stem == "" {
			continue
		}
		if kind.Type != datamap.TypeText {
			return nil, false, false
		}
		if !table.IsChoice(kind) {
			name := dictionary.Singular(strings.ToLower(dictionary.Base(s.subject.Name)))
			return &datamap.Condition{Column: kind.Name, Value: strings.ToUpper(name[:1]) + name[1:]}, true, true
		}
		for _, value := range valuesOf(table, kind) {
			if dictionary.Same(value, s.subject.Name) || dictionary.Same(s.subject.Name, value) {
				return &datamap.Condition{Column: kind.Name, Value: value}, false, true
			}
		}
		return nil, false, false
	}
	return nil, false, true
}

// cutKind returns the name of a column without its last word if this is type or kind.
func cutKind(column string) (string, bool) {
	for _, end := range []string{"_type", "_kind", "Type", "Kind"} {
		if before, ok := strings.CutSuffix(column, end); ok && before != "" {
			return before, true
		}
	}
	return "", false
}

var literal = regexp.MustCompile(`'((?:[^']|'')*)'`)

// valuesOf returns the values of a column that is a choice.
func valuesOf(table datamap.CatalogTable, column datamap.CatalogColumn) []string {
	values := slices.Clone(column.Values)
	for _, check := range table.Checks {
		if len(check.Columns) == 1 && table.Same(check.Columns[0], column.Name) {
			for _, found := range literal.FindAllStringSubmatch(check.Text, -1) {
				values = append(values, strings.ReplaceAll(found[1], "''", "'"))
			}
		}
	}
	return values
}

func isNotNull(table datamap.CatalogTable, columns []string) bool {
	return !slices.ContainsFunc(columns, func(name string) bool {
		column, ok := table.Column(name)
		return !ok || column.Nullable
	})
}
