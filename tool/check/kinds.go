package check

import (
	"slices"
	"strings"

	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/internal/sqltext"
	"github.com/habeas-data/habeas/tool/internal/names"
)

// checkKinds reports relations without a condition, if another column names the table to which the column of the
// relation refers, as owner_type does beside owner_id. The relation then also takes rows that refer to other tables.
func (s *schema) checkKinds(table datamap.Table, live datamap.CatalogTable) {
	if !s.needed[table.Name] {
		return
	}
	for _, path := range s.Paths(table.Name) {
		if len(path.Relations) == 0 || path.Relations[0].When != nil {
			continue
		}
		relation := path.Relations[0]
		kind, isSure := s.kindOf(live, relation)
		if kind == "" {
			continue
		}
		severity, mayBe := failure, "names"
		if !isSure {
			severity, mayBe = warning, "may name"
		}
		s.reportAs(severity, conditionMissing, place{table: table.Name, column: list(relation.Columns)},
			"The relation leads to "+relation.References+" and has no condition, but "+kind+" "+mayBe+" another table to which "+
				"the column refers. Exports and erasures also take rows that refer to a row of another table with the same key.",
			s.conditionRemedy(live, relation)+" If the column refers only to "+relation.References+
				", create a foreign key, or accept the finding.")
	}
}

// lacksCondition reports whether checkKinds reports the relation. Its remedy names the foreign key, too.
func (s *schema) lacksCondition(live datamap.CatalogTable, relation datamap.Relation) bool {
	kind, _ := s.kindOf(live, relation)
	return kind != ""
}

// conditionRemedy returns a sentence about the condition of a relation, or "" if the relation needs none.
func (s *schema) conditionRemedy(live datamap.CatalogTable, relation datamap.Relation) string {
	kind, isSure := s.kindOf(live, relation)
	condition := "give the relation a condition (" + s.says("when:", `"when"`) + ") with the value of " + kind + " for " +
		relation.References + "."
	switch {
	case kind == "":
		return ""
	case isSure:
		return capitalized(condition)
	default:
		return "If " + kind + " names a table, " + condition
	}
}

// conditionOf returns conditionRemedy for a reference that the data map lacks, followed by a space. It returns "" if
// the reference needs no condition.
func (s *schema) conditionOf(live datamap.CatalogTable, columns []string, to string) string {
	if remedy := s.conditionRemedy(live, datamap.Relation{Columns: columns, References: to}); remedy != "" {
		return remedy + " "
	}
	return ""
}

// kindOf returns the column that names the table to which a relation refers, such as owner_type beside owner_id. It
// returns "" in these cases:
//
//   - The relation has a foreign key, so that it cannot lead elsewhere.
//   - A CHECK constraint or an enum allows one value only, or no name of another table.
//   - The relation has the name of its table, as device_id has for devices. The column then tells the kind of a device.
//
// The result is not sure if the relation has a word for a person, such as customer and sender: customer_type may name a
// table, or tell the kind of a customer.
func (s *schema) kindOf(live datamap.CatalogTable, relation datamap.Relation) (kind string, isSure bool) {
	for _, name := range relation.Columns {
		stem, isReference := keyStem(name)
		if !isReference || inForeignKey(live, name) {
			continue
		}
		for _, column := range live.Columns {
			if column.Generated || hasName(live, relation.Columns, column.Name) || !namesTableOf(column.Name, stem) {
				continue
			}
			ofParent := s.isNameOf(stem, relation.References)
			if allowed := allowedIn(live, column); allowed != nil {
				if s.nameTables(allowed, relation.References, ofParent) {
					return column.Name, true
				}
				continue
			}
			if column.Type != datamap.TypeText || ofParent && !mayBeAny(column.Name, stem, relation.References) {
				continue
			}
			isPart := !hasWord(stem, "owner") && !hasWord(stem, anyRows...) &&
				(names.IsRole(stem) || names.MeansAgent(stem) || names.TakesPart(stem))
			return column.Name, !ofParent && !isPart
		}
	}
	return "", false
}

// isNameOf reports whether the stem of a reference is the name of a table, also with words before it or shortened, such
// as doc for documents, or another word for the people in the table.
func (s *schema) isNameOf(stem, table string) bool {
	base, own := names.Words(names.BaseName(table)), names.Words(stem)
	if len(base) == 0 || len(own) == 0 {
		return false
	}
	last, short := base[len(base)-1], own[len(own)-1]
	return names.EndsIn(stem, names.BaseName(table)) || names.EndsIn(names.BaseName(table), stem) ||
		len(short) > 2 && strings.HasPrefix(last, short) ||
		names.IsPeople(stem) && !names.IsRole(stem) && (names.IsPeople(table) || table == s.SubjectTable().Name)
}

// mayBeAny reports whether a text beside a reference with the name of its table may name another table: the table holds
// people, or the reference has a word for any row, such as item.
func mayBeAny(column, stem, table string) bool {
	return hasWord(column, "type", "class") && (names.IsPeople(table) || hasWord(stem, anyRows...))
}

// nameTables reports whether one of the allowed values is the name of another table than the parent. Beside a reference
// with the name of the parent, another value must be the name of the parent.
func (s *schema) nameTables(allowed []string, parent string, ofParent bool) bool {
	namesOther := slices.ContainsFunc(allowed, func(value string) bool {
		return !isModelOf(value, parent) && slices.ContainsFunc(s.catalog.Tables, func(t datamap.CatalogTable) bool {
			return isModelOf(value, t.Name)
		})
	})
	return namesOther && (!ofParent ||
		slices.ContainsFunc(allowed, func(value string) bool { return isModelOf(value, parent) }))
}

// isModelOf reports whether a value is the name of a table, or of its class, such as App\Models\User.
func isModelOf(value, table string) bool {
	class := value[strings.LastIndexAny(value, `\:./`)+1:]
	base := names.BaseName(table)
	return class != "" && (names.Same(class, base) || names.Same(value, base) || names.EndsIn(base, class))
}

// allowedIn returns the values that an enum or a CHECK constraint allows in a column, or nil if there is no list.
func allowedIn(live datamap.CatalogTable, column datamap.CatalogColumn) (allowed []string) {
	if column.Values != nil {
		return column.Values
	}
	for _, check := range live.Checks {
		if len(check.Columns) != 1 || !sameName(live, check.Columns[0], column.Name) {
			continue
		}
		condition := strings.TrimPrefix(check.Text, "CHECK ") // PostgreSQL writes the word
		for _, c := range comparisonsIn(condition) {
			if c.operator == "=" {
				return []string{c.constant}
			}
		}
		text := sqltext.TokensOf(condition, sqltext.QuotesOfPostgres)
		if slices.ContainsFunc(text, func(t sqltext.Token) bool { return !isOfList(t, column.Name) }) {
			continue
		}
		for _, token := range text {
			if token.Kind == sqltext.TokenString {
				allowed = append(allowed, token.Text)
			}
		}
		return allowed
	}
	return nil
}

// isOfList reports whether a token may be a part of a condition that lists the values of a column, as in
// kind IS NULL OR kind IN ('a', 'b').
func isOfList(t sqltext.Token, column string) bool {
	return t.Kind == sqltext.TokenString || t.Kind == sqltext.TokenSign && strings.Contains("()[]=:,", t.Text) ||
		strings.EqualFold(t.Text, column) || slices.Contains(ofLists, strings.ToLower(t.Text))
}

var ofLists = terms("any, array, in, or, is, null, text, character, varying, varchar, bpchar")
