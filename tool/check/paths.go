package check

import (
	"slices"
	"strings"

	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/tool/internal/names"
)

// checkPaths reports references to the subject's table that an erasure does not follow, because the data map does not
// declare them as paths. The referring rows may be about further people. An export and an erasure of these people then
// miss the rows.
func (s *schema) checkPaths(table datamap.Table, live datamap.CatalogTable) {
	subject := s.SubjectTable().Name
	if table.Name == subject {
		return
	}
	for _, relation := range table.Relations {
		if relation.References == subject && !s.isPath(table, live, relation.Columns) &&
			!s.isWithOwner(table, live, relation) {
			s.reportNoPath(table, live, relation.Columns, "")
		}
	}
	for _, foreign := range live.ForeignKeys {
		parent, mapped := s.mappedTable(foreign.References)
		isPerson := parent.Name == subject || mapped && parent.Name != table.Name && s.isOfEachPerson(parent.Name) &&
			s.leadsThrough(table, parent.Name) // another person than that of the path
		if isPerson && !s.isPath(table, live, foreign.Columns) &&
			!s.isWithOwner(table, live, asRelation(foreign, parent)) {
			s.reportNoPath(table, live, foreign.Columns, foreign.Name)
		}
	}
	for _, column := range live.Columns {
		inRelation := slices.ContainsFunc(table.Relations, func(r datamap.Relation) bool {
			return slices.ContainsFunc(r.Columns, func(name string) bool { return sameName(live, name, column.Name) })
		})
		declared, _ := live.Mapped(table, column.Name)
		isNamed := s.namesMember(live, column) || slices.ContainsFunc(s.Declared(), func(people datamap.Table) bool {
			return people.Name != table.Name && s.isPeopleTable(people) && s.namedAfter(live, column, people)
		})
		if isNamed && !inRelation && !declared.NotPersonal && !hasName(live, live.PrimaryKey, column.Name) &&
			!s.isBesideAddressee(table, column.Name) {
			s.reportNoPath(table, live, []string{column.Name}, "")
		}
	}
	s.reportLinks(table, live)
	s.checkOtherOwners(table, live)
}

// isBesideAddressee reports whether a column of a notification means the owner of a thing, such as group_owner_id, or
// what the notification is about (targets), and another column leads to the person whom it tells something.
func (s *schema) isBesideAddressee(table datamap.Table, column string) bool {
	stem, _ := names.Stem(column)
	parts := names.Words(stem)
	_, other := s.ownersBeside(table, []string{column})
	if !other || len(parts) == 0 || !hasWord(table.Name, "notification", "notifications") &&
		!names.Is(table.Name, names.Notices) {
		return false
	}
	return parts[len(parts)-1] == "owner" && names.Is(strings.Join(parts[:len(parts)-1], " "), names.Things) ||
		parts[0] == "targets"
}

// checkOtherOwners reports rows that hang on the row of one person and also refer to a row of another person, such as
// the lines of a shared list with the membership of the writer.
func (s *schema) checkOtherOwners(table datamap.Table, live datamap.CatalogTable) {
	shortest := s.distance(table.Name)
	if shortest < 2 || s.reported(table.Name, pathMissing) {
		return
	}
	for _, foreign := range live.ForeignKeys {
		parent, mapped := s.mappedTable(foreign.References)
		if !mapped || parent.Name == table.Name || s.distance(parent.Name) >= shortest ||
			s.isPath(table, live, foreign.Columns) || s.leadsThrough(table, parent.Name) || s.isUndecided(foreign) ||
			s.belongsByReferrers(parent.Name) ||
			isAnswered(table, foreign.Columns) || s.isWithOwner(table, live, asRelation(foreign, parent)) {
			continue
		}
		at := place{table: table.Name, column: list(foreign.Columns), object: foreign.Name}
		reason := "The column refers to " + parent.Name + ", whose rows belong to a person, but is not a path. The rows " +
			"may belong to several people. Exports and erasures of that person ignore the rows"
		if s.deletesRows(table.Name) {
			reason += ", and an erasure of another person deletes them"
		}
		s.report(pathMissing, at, reason+".", s.pathRemedy())
	}
}

// belongsByReferrers reports whether the rows of a table belong to people only because rows of people refer to them, as
// orders refer to addresses. Another row that refers to an address does not get a person from it.
func (s *schema) belongsByReferrers(table string) bool {
	return !slices.ContainsFunc(s.Paths(table), func(p datamap.Path) bool {
		return len(p.Relations) == 0 || !s.isReversed(p.Relations[0], s.live[table], s.live[p.Relations[0].References])
	})
}

// isAnswered reports whether a person has answered which relation of a table tells the owner of a row, and the columns
// were among the options.
func isAnswered(table datamap.Table, columns []string) bool {
	return slices.ContainsFunc(questionsIn(table.Note), func(q question) bool {
		return q.decided && slices.Contains(q.options, list(columns))
	})
}

// answersWhose reports whether a person has answered a question that may be about the person to whom a column refers.
// An answer about its surrogate, or about NULL as its value, says nothing about this person.
func answersWhose(q question) bool {
	return q.decided && !q.names("surrogate") && (!q.names("NULL") || !q.names("read"))
}

// isOfEachPerson reports whether a table has at most one row for each person, such as the accounts of people whose
// logins are another table.
func (s *schema) isOfEachPerson(table string) bool {
	return table != s.SubjectTable().Name && names.IsPeople(table) &&
		slices.ContainsFunc(s.Paths(table), func(p datamap.Path) bool {
			return len(p.Relations) == 1 && isUnique(s.live[table], p.Relations[0].Columns)
		})
}

// isUndecided reports whether another finding already says that rows of other people may have the foreign key.
func (s *schema) isUndecided(foreign datamap.CatalogForeignKey) bool {
	return slices.ContainsFunc(s.findings, func(f datamap.Finding) bool {
		return f.Code == deleteUndecided && f.Object == foreign.Name && f.Column == list(foreign.Columns)
	})
}

// leadsThrough reports whether a path of the table leads through the other table.
func (s *schema) leadsThrough(table datamap.Table, other string) bool {
	return slices.ContainsFunc(s.Paths(table.Name), func(p datamap.Path) bool {
		return slices.ContainsFunc(p.Relations, func(r datamap.Relation) bool { return r.References == other })
	})
}

func (s *schema) isPath(table datamap.Table, live datamap.CatalogTable, columns []string) bool {
	return slices.ContainsFunc(s.Paths(table.Name), func(p datamap.Path) bool {
		return len(p.Relations) > 0 && len(p.Relations[0].Columns) == len(columns) &&
			isSubset(live, p.Relations[0].Columns, columns)
	})
}

// saysOf reports whether a row has a text of the person to whom a column refers: its name begins with that of the
// column, and ends with a word for what people write, as reviewer_reply beside reviewer_id.
func saysOf(table datamap.Table, live datamap.CatalogTable, column string) bool {
	stem, _ := names.Stem(column)
	of := strings.Join(names.Words(stem), " ") + " "
	return slices.ContainsFunc(live.Columns, func(c datamap.CatalogColumn) bool {
		declared, _ := live.Mapped(table, c.Name)
		written, ok := strings.CutPrefix(strings.Join(names.Words(c.Name), " "), of)
		return ok && c.Type == datamap.TypeText && !declared.NotPersonal && !live.IsChoice(c) &&
			hasWord(written, writings...)
	})
}

// writings are words for what people write.
var writings = terms(`
	reply, replies, answer, comment, comments, note, notes, message, remark, remarks, feedback, response, statement, text,
	opinion, review, explanation, testimony`)

func (s *schema) reportNoPath(table datamap.Table, live datamap.CatalogTable, columns []string, constraint string) {
	if s.reported(table.Name, pathMissing) && slices.ContainsFunc(s.findings, func(f datamap.Finding) bool {
		return f.Table == table.Name && f.Code == pathMissing && sameName(live, f.Column, list(columns))
	}) {
		return
	}
	report := s.report
	isNeutral := len(table.Personal()) == 0 && s.personalSentence(live) == ""
	owned, other := s.ownersBeside(table, columns)
	held := owned && names.Is(table.Name, names.Links)
	isDoer := func(name string) bool { return other && namesDoerOf(name) }
	isAbout := func(name string) bool {
		return !namesMaker(name) && !isDoer(name) || saysOf(table, live, name) ||
			!isNeutral && !owned && !isDoer(name) && namesAuthor(name)
	}
	isOwn := goesWith(live, columns) && !held && (!isNeutral || !other)
	column, _ := live.Mapped(table, columns[0])
	switch {
	case slices.ContainsFunc(questionsIn(column.Note), answersWhose), isAnswered(table, columns):
		return
	case s.empties(s.SubjectTable().Name) && !isOwn && !slices.ContainsFunc(columns, isAbout):
		report = func(code string, at place, reason, remedy string) {
			s.reportMaker(code, at, reason, remedy)
		}
	}
	at := place{table: table.Name, column: list(columns), object: constraint}
	report(pathMissing, at,
		"The column refers to a person, or is named like such a reference, but is not a path. Exports and erasures of "+
			"that person ignore the rows"+s.deletedByOthers(table)+".",
		s.conditionOf(live, columns, s.SubjectTable().Name)+s.pathRemedy())
	if _, isOpen := s.asksAboutColumn(table, column); isOpen {
		s.parts[part{pathMissing, at}] = questionsOpen
	}
}

// pathRemedy returns the remedy of a finding about a relation that is no path. With a second path, the data map needs
// further options.
func (s *schema) pathRemedy() string {
	return "If the rows are also about that person, mark this relation and that of the present path as paths (" +
		s.says(`subject:"path"`, `"path": true`) + ")" + s.says("", `, give each a different name ("name")`) +
		", and name a path in each annotated column (" + s.says("via:", `"via"`) + "). For each of the " +
		"two relations, " + s.says("erasure:delete", `"erasure": "delete"`) + " deletes the rows with its person; " +
		s.says("erasure:null", `"erasure": "null"`) + " keeps them and clears the reference. If the rows are not about " +
		"that person, accept the finding."
}

// deletedByOthers returns the end of a sentence about rows that hang on the row of one person and refer to another one.
func (s *schema) deletedByOthers(table datamap.Table) string {
	if s.distance(table.Name) > 1 && s.deletesRows(table.Name) {
		return ", and an erasure of the person whose rows they hang on deletes them"
	}
	return ""
}
