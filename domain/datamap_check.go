package domain

import (
	"slices"
	"strings"
)

// checkTable checks everything about one table that does not need the paths.
func (m DataMap) checkTable(table Table) error {
	if table.Name == "" {
		return manifestError("", "", "a table has no name")
	}
	seen := map[string]bool{}
	for _, column := range table.Columns {
		switch {
		case column.Name == "" || strings.ContainsRune(column.Name, 0):
			return manifestError(table.Name, "", "a column has no name")
		case seen[column.Name]:
			return manifestError(table.Name, column.Name, "is declared twice")
		case !column.Type.Valid() && (column.Type != "" || column.Personal != nil):
			return manifestError(table.Name, column.Name, "has no known type")
		case column.Length < 0:
			return manifestError(table.Name, column.Name, "has a negative length")
		}
		seen[column.Name] = true
		if column.Personal != nil {
			if err := checkAnnotation(table, column); err != nil {
				return err
			}
		}
	}
	if err := checkKeys(table); err != nil {
		return err
	}
	for _, relation := range table.Relations {
		if err := m.checkRelation(table, relation); err != nil {
			return err
		}
	}
	return nil
}

func checkKeys(table Table) error {
	if len(table.PrimaryKey) == 0 {
		return manifestError(table.Name, "", "has no primary key, which an export needs to name a row")
	}
	for i, name := range table.PrimaryKey {
		if slices.Contains(table.PrimaryKey[:i], name) {
			return manifestError(table.Name, name, "is in the primary key twice")
		}
		if _, ok := table.Column(name); !ok {
			return manifestError(table.Name, name, "is in the primary key but not among the columns")
		}
	}
	for i, name := range table.SubjectKey {
		if slices.Contains(table.SubjectKey[:i], name) {
			return manifestError(table.Name, name, "is in the subject key twice")
		}
		column, ok := table.Column(name)
		if !ok {
			return manifestError(table.Name, name, "is in the subject key but not among the columns")
		}
		if !column.Type.canBeKey() {
			return manifestError(table.Name, name, "cannot hold a subject id: its type is "+string(column.Type))
		}
	}
	if len(table.SubjectKey) > 0 && isPartOf(table.SubjectKey, table.PrimaryKey) {
		return manifestError(table.Name, "", "has a subject key that is only a part of its primary key ("+
			strings.Join(table.PrimaryKey, ", ")+"): rows of different subjects may share it")
	}
	return nil
}

// isPartOf reports whether all columns are columns of the key, and the key has more.
func isPartOf(columns, key []string) bool {
	return len(columns) < len(key) && !slices.ContainsFunc(columns, func(name string) bool {
		return !slices.Contains(key, name)
	})
}

func checkAnnotation(table Table, column Column) error {
	a := column.Personal
	fault := func(message string) error { return manifestError(table.Name, column.Name, message) }
	switch {
	case !a.Category.Valid():
		return fault("has no known category")
	case !a.Strategy.Valid():
		return fault("has no known erasure strategy")
	case a.Basis != "" && !a.Basis.Valid():
		return fault("has no known legal basis")
	case a.Strategy == StrategyRetain && a.Reason == "":
		return fault("is retained without a reason")
	case a.Strategy != StrategyRetain && (a.Reason != "" || !a.Retain.IsZero() || a.Since != ""):
		return fault("has a reason, retain or since, but is not retained")
	case (a.Since == "") != a.Retain.IsZero():
		return fault("needs retain and since together")
	}
	if a.Since != "" {
		if parsed, err := ParsePeriod(a.Retain.String()); err != nil || parsed != a.Retain {
			return fault("has a retention period that is negative or too long")
		}
		since, ok := table.Column(a.Since)
		if !ok {
			return fault("counts its retention from a column that the table does not have")
		}
		if since.Type != TypeTime {
			return fault("counts its retention from a column that holds no time")
		}
		if since.Personal != nil && since.Personal.Strategy != StrategyRetain {
			return fault("counts its retention from a column that the erasure overwrites")
		}
	}
	return nil
}

func (m DataMap) checkRelation(table Table, relation Relation) error {
	if len(relation.Columns) == 0 || len(relation.Columns) != len(relation.ReferencedColumns) {
		return manifestError(table.Name, "", "has a relation to "+relation.References+" whose columns do not match up")
	}
	for _, name := range relation.Columns {
		if _, ok := table.Column(name); !ok {
			return manifestError(table.Name, name, "is in a relation but not among the columns")
		}
	}
	i, inMap := m.index[relation.References]
	if relation.Path && (!inMap || relation.References == table.Name) {
		return manifestError(table.Name, "", "is marked to reach the subject by way of "+relation.References+
			", which is not another table of the data map")
	}
	if !inMap {
		return nil
	}
	for _, name := range relation.ReferencedColumns {
		if _, ok := m.tables[i].Column(name); !ok {
			return manifestError(relation.References, name, "is referred to by "+table.Name+" but not among the columns")
		}
	}
	if key := m.tables[i].PrimaryKey; isPartOf(relation.ReferencedColumns, key) {
		return manifestError(table.Name, strings.Join(relation.Columns, ", "), "refers to only a part of the primary key of "+
			relation.References+" ("+strings.Join(key, ", ")+"): rows of different subjects may share it")
	}
	return nil
}

// findPath returns the relations from the table to the subject's. The paths of the tables it refers to are known.
func (m DataMap) findPath(table Table) ([]Relation, error) {
	marked := slices.ContainsFunc(table.Relations, func(r Relation) bool { return r.Path })
	candidates := slices.DeleteFunc(slices.Clone(table.Relations), func(r Relation) bool {
		_, inMap := m.index[r.References]
		return !inMap || r.References == table.Name || marked && !r.Path
	})
	switch len(candidates) {
	case 0:
		return nil, manifestError(table.Name, "", "does not reach the subject's table by belongs-to relations")
	case 1:
		return append(candidates, m.paths[candidates[0].References]...), nil
	default:
		return nil, manifestError(table.Name, "", "reaches the subject along several paths: mark one of its relations")
	}
}
