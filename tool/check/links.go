package check

import (
	"slices"
	"strings"

	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/tool/internal/names"
)

// link is a column without a foreign key that seems to refer to a table of the data map.
type link struct {
	column string
	to     string // the table of the data map
	kind   linkKind
}

// linkKind is the form of a link.
type linkKind int

const (
	byName  linkKind = iota // user_id
	byList                  // user_ids, a list of keys
	byAnyOf                 // target_type and target_id, a key of one of several tables
)

// linkOf returns the best link of a table to the data map: the one with the shortest path to a person. If there are
// several, the form that names its table comes first.
func (s *schema) linkOf(table datamap.CatalogTable) (best link, ok bool) {
	found := s.linksOf(table)
	if len(found) == 0 {
		return link{}, false
	}
	return slices.MinFunc(found, func(a, b link) int {
		if a.kind != b.kind {
			return int(a.kind) - int(b.kind)
		}
		return s.distance(a.to) - s.distance(b.to)
	}), true
}

func (s *schema) linksOf(table datamap.CatalogTable) (found []link) {
	for _, column := range table.Columns {
		for _, parent := range s.Declared() {
			switch {
			case s.namedAfter(table, column, parent):
				found = append(found, link{column.Name, parent.Name, byName})
			case s.listsKeysOf(column, parent):
				found = append(found, link{column.Name, parent.Name, byList})
			}
		}
		if s.mayReferToSubject(table, column) {
			found = append(found, link{column.Name, s.SubjectTable().Name, byAnyOf})
		}
	}
	return found
}

// isPerson reports whether a name means people, or a role of people.
func isPerson(name string) bool {
	last := names.Words(name)
	return names.IsPeople(name) || names.IsRole(name) || names.RoleOf(name) == names.Party ||
		len(last) > 0 && slices.Contains(groups, names.Singular(last[len(last)-1]))
}

// groups are further words for the people of a list.
var groups = terms(`
	watcher, reader, viewer, voter, editor, moderator, admin, administrator, approver, collaborator, manager, listener`)

// namesTableOf reports whether a column has the name of the table to which the key with the stem leads, as target_type
// beside target_id and table_name beside record_id do.
func namesTableOf(column, stem string) bool {
	name := strings.Join(names.Words(column), " ")
	return slices.Contains(tableNames, name) && slices.Contains(rowNames, strings.ToLower(stem)) ||
		names.TellsTable(column, stem) || names.TellsTable(strings.TrimSuffix(name, " name"), stem) // owner_class_name
}

// mayReferToSubject reports whether a column holds a key of one of several tables, of which another column has the
// name, such as target_id and target_type. One of the tables may then be the subject's.
func (s *schema) mayReferToSubject(table datamap.CatalogTable, column datamap.CatalogColumn) bool {
	subject := s.SubjectTable()
	live, ok := s.live[subject.Name]
	if !ok || len(subject.PrimaryKey) != 1 || inForeignKey(table, column.Name) {
		return false
	}
	key, ok := live.Column(subject.PrimaryKey[0])
	stem, isReference := keyStem(column.Name)
	if !ok || !isReference || column.Type != datamap.TypeText && differ(key.Type, column.Type) ||
		!mayMeanPerson(table.Name, stem) {
		return false
	}
	return slices.ContainsFunc(table.Columns, func(other datamap.CatalogColumn) bool {
		return s.mayNameSubject(other) && namesTableOf(other.Name, stem)
	})
}

// keyStem is names.Stem also for the key of a person beside the name of its table, such as owner_key beside owner_kind.
func keyStem(column string) (string, bool) {
	if parts := names.Words(column); len(parts) > 1 && parts[len(parts)-1] == "key" {
		stem := strings.Join(parts[:len(parts)-1], " ")
		return stem, isPerson(stem) || hasWord(stem, "subject", "actor")
	}
	return names.Stem(column)
}

// namesMember reports whether a column without a foreign key may hold the key of a second person, because its name is
// member_id, and no table has members.
func (s *schema) namesMember(table datamap.CatalogTable, column datamap.CatalogColumn) bool {
	subject := s.SubjectTable()
	if len(subject.PrimaryKey) != 1 {
		return false
	}
	key, ok := s.live[subject.Name].Column(subject.PrimaryKey[0])
	stem, isReference := names.Stem(column.Name)
	return ok && isReference && key.Type != "" && column.Type != "" &&
		!differ(key.Type, column.Type) && names.IsMember(s.catalog.Tables, stem) && !inForeignKey(table, column.Name) &&
		!slices.ContainsFunc(table.Columns, func(other datamap.CatalogColumn) bool {
			return names.TellsTable(other.Name, stem) || names.Same(other.Name, stem+" name")
		})
}

// likelyMeansPerson reports whether the stem of a reference to one of several tables often means a person.
func likelyMeansPerson(stem string) bool {
	return isPerson(stem) || hasWord(stem, "target", "subject", "actor", "object", "entity")
}

// mayMeanPerson reports whether the stem of a reference to one of several tables can mean a person. It returns false in
// these cases:
//
//   - The stem says what can be done with things only, such as taggable.
//   - The stem is a thing, such as document, a record such as payout, or what people do, such as contribution.
//   - The stem is in the name of the table, such as acme in acme_accounts. The columns then say what the row is at
//     Acme.
func mayMeanPerson(table, stem string) bool {
	isAble := strings.HasSuffix(strings.ToLower(stem), "able") || strings.HasSuffix(strings.ToLower(stem), "ible")
	if isPerson(stem) || hasWord(stem, anyRows...) || isAble && !names.MeansThing(stem) {
		return true
	}
	isAction := slices.ContainsFunc([]string{"tion", "sion", "ment"}, func(ending string) bool {
		return strings.HasSuffix(strings.ToLower(stem), ending)
	})
	return !isAble && !isAction && !hasWord(stem, pages...) &&
		!names.Is(stem, names.Things) && !names.Is(stem, names.Reference) && !names.Is(stem, names.Duties) &&
		!hasWord(table, names.Words(stem)...)
}

var (
	// anyRows are words that may mean any row, or a row of a person.
	anyRows = terms(`
		target, subject, actor, object, entity, record, row, resource, model, item, source, origin, parent, context, causer,
		principal, grantee, party, scope, reference, related, linked, mention`)
	// pages are words for things that people write or upload.
	pages = terms("doc, document, file, node, field, view, sheet, article, post, message, comment, photo, video, media")
)

// mayNameSubject reports whether a column can hold a name of the subject's table. The labels of an enum tell it.
func (s *schema) mayNameSubject(column datamap.CatalogColumn) bool {
	if column.Values == nil {
		return column.Type == datamap.TypeText
	}
	return slices.ContainsFunc(column.Values, func(label string) bool {
		return names.IsPeople(label) || names.EndsIn(label, names.BaseName(s.SubjectTable().Name))
	})
}

// tableNames are names of columns with the name of a table, and rowNames those of the key of its row beside them, as
// record_id beside table_name.
var (
	tableNames = []string{"table name", "model name", "entity type", "resource type", "object type", "model type"}
	rowNames   = []string{"record", "row", "entity", "object", "resource", "model"}
)

// reportUnlinked reports a table with a column that has no foreign key, but seems to refer to a table of the data map.
func (s *schema) reportUnlinked(table datamap.CatalogTable) bool {
	if table.Kind == datamap.KindVirtual {
		return false
	}
	found, ok := s.linkOf(table)
	if !ok {
		return false
	}
	at := place{table: table.Name, column: found.column}
	const outside = ", and the table is not in the data map. Exports and erasures ignore the table."
	switch found.kind {
	case byName:
		if s.isBareLink(table, found) || s.isLinkToReference(table) {
			return true
		}
		if names.RoleOf(found.column) == names.Maker && s.isNamedAsCopy(table) && s.reportBackup(table) {
			return true // the relation of a copy would lead to the person who deleted the original
		}
		s.reportOutside(tableUnlinked, table, at,
			"The column is named like a reference to "+found.to+". It has no foreign key"+outside+s.personalSentence(table)+
				s.copiesSentence(table),
			capitalized(addTable(table))+", with a relation by "+found.column+" to "+found.to+" (of the same type). The "+
				"relation needs no foreign key. "+s.conditionOf(table, []string{found.column}, found.to)+"If the column refers to "+
				"nobody, accept the finding.")
	case byList: // reportLists has reported it, unless it is a list of things that stay
		if s.isKeptThing(found.to) {
			return false
		}
		s.reportBackup(table)
	case byAnyOf:
		if stem, _ := keyStem(found.column); names.Is(table.Name, names.Reference) && !likelyMeansPerson(stem) {
			return false // such as the facilities of regions
		}
		s.reportAsked(tableUnlinked, table, at,
			"The column holds keys of the table that another column names. It may be "+found.to+outside+
				s.personalSentence(table)+s.copiesSentence(table),
			"If rows refer to people, "+addTable(table)+", with a relation by "+found.column+" that has a condition ("+
				s.says(`when:`, `"when"`)+"). If not, accept the finding.")
	}
	return true
}

// reportLists reports the lists of keys in a table outside the data map. Such a list is a finding of its own, because a
// relation by another column of the table does not reach the people in the list. For the same reason, the answer to a
// question about other columns of the table does not end the finding. A list of things that stay after an erasure says
// nothing about people.
func (s *schema) reportLists(table datamap.CatalogTable) {
	if table.Kind == datamap.KindVirtual {
		return
	}
	left, _ := s.leftOut(table.Name)
	for _, found := range s.linksOf(table) {
		if found.kind == byList && !s.isKeptThing(found.to) && (!left.Decided || !asksAbout(left, table, found.column)) {
			s.report(tableUnlinked, place{table: table.Name, column: found.column},
				"The column seems to list keys of "+found.to+", and the table is not in the data map. Exports and erasures "+
					"ignore the table."+s.personalSentence(table),
				"Move the list to a table with one row for each key and add this table to the data map, or remove the keys in the "+
					"hook BeforeErasure and accept the finding.")
		}
	}
}

// isKeptThing reports whether the rows of a table of the data map stay after an erasure, and are not people.
func (s *schema) isKeptThing(table string) bool {
	return table != s.SubjectTable().Name && !s.deletesRows(table) && !names.IsPeople(table)
}

// reportLinks reports the lists of keys, and the keys of one of several tables, in a table of the data map.
func (s *schema) reportLinks(table datamap.Table, live datamap.CatalogTable) {
	for _, found := range s.linksOf(live) {
		column, _ := live.Mapped(table, found.column)
		inRelation := slices.ContainsFunc(table.Relations, func(r datamap.Relation) bool {
			return hasName(live, r.Columns, found.column)
		})
		to, _ := s.Table(found.to)
		if !s.isPeopleTable(to) || inRelation || column.NotPersonal || column.Personal != nil ||
			s.isBesideAddressee(table, found.column) ||
			hasName(live, live.PrimaryKey, found.column) {
			continue
		}
		at := place{table: table.Name, column: found.column}
		stem, _ := keyStem(found.column)
		switch {
		case found.kind == byList:
			s.reportColumn(column, pathMissing, at,
				"The column seems to list keys of people. Exports and erasures of these people ignore it.",
				"Move the list to a table with one row for each person, or remove the keys in the hook BeforeErasure and accept "+
					"the finding.")
		case found.kind == byAnyOf && likelyMeansPerson(stem):
			s.reportColumn(column, pathMissing, at,
				"The column holds keys of the table that another column names. If it names the subject's table, "+
					"exports and erasures of that person ignore the rows.",
				"Mark it as a path with a condition ("+s.says(`subject:"path", when:`, `"path": true, "when"`)+
					"). If no row refers to a person, accept the finding.")
		}
	}
}
