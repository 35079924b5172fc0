package check

import (
	"slices"
	"strings"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/tool/internal/names"
)

// checkReach reports tables outside the data map that refer to the subject or seem to hold personal data. It also
// reports references to the subject that an erasure does not follow, because the data map does not declare them as
// paths.
func (s *schema) checkReach() {
	for _, table := range s.unmappedTables() {
		if !s.copies[table.Name] {
			s.reportLists(table)
		}
		switch {
		case s.copies[table.Name]:
		case s.reported(table.Name, deleteRestricted, deleteCascades, deleteSetsNull, deleteSetsDefault):
		case s.reportReaching(table):
		case s.reportReferred(table):
		case s.reportUnlinked(table):
		case s.reportBackup(table):
		default:
			s.reportPersonal(table)
		}
	}
	s.eachPresent(s.checkPaths)
}

// reportReaching reports a table outside the data map in two cases:
//
//   - The table has a foreign key to a table of the data map.
//   - A longer chain of foreign keys connects the table to the data map, and the table seems to hold personal data.
//
// It returns true if a foreign key or a chain leads to the data map, even if the table does not seem to hold personal
// data.
func (s *schema) reportReaching(table datamap.CatalogTable) bool {
	chain, columns := s.foreignKeyChain(table)
	isBare := s.personalSentence(table) == "" && s.copyOf(table) == ""
	if len(chain) == 0 || len(chain) > 1 && isBare || s.isBarePart(table, chain[0]) {
		return len(chain) > 0
	}
	report, cleared := s.reportOutside, s.clearedSentence(table, columns)
	if cleared != "" && s.personalSentence(table) != "" {
		report = func(code string, _ datamap.CatalogTable, at place, reason, remedy string) {
			if !s.isDecided(table.Name) { // an open question does not tell that the values stay without their person
				s.report(code, at, reason, remedy)
			}
		}
	}
	report(tableUnmapped, table, place{table: table.Name, column: list(columns)},
		"The table refers to "+strings.Join(chain, ", which refers to ")+
			", but is not in the data map. Exports and erasures ignore it."+cleared+s.personalSentence(table)+
			s.copiesSentence(table),
		capitalized(addTable(table))+", with a relation by "+list(columns)+" to "+chain[0]+
			". If its rows are about nobody, accept the finding.")
	return true
}

// clearedSentence returns a sentence that says that the database clears a reference to deleted rows. It returns "" if
// the database does not.
func (s *schema) clearedSentence(table datamap.CatalogTable, columns []string) string {
	for _, foreign := range table.ForeignKeys {
		parent, mapped := s.mappedTable(foreign.References)
		if mapped && foreign.OnDelete == datamap.ActionSetNull && slices.Equal(foreign.Columns, columns) &&
			s.deletesRows(parent.Name) {
			return " If an erasure deletes the row of " + parent.Name +
				", the database only sets the reference to NULL, and the other columns stay."
		}
	}
	return ""
}

// isBarePart reports whether the rows of a table belong to rows that stay after an erasure and are not people, and hold
// no texts or documents, except for texts such as a status or a code. An example is the monthly numbers of an
// organization. If people only created or changed those rows, texts that do not look personal do not count. An example
// is the list of the dependencies of a version.
func (s *schema) isBarePart(table datamap.CatalogTable, of string) bool {
	ofMaker := s.hasOnlyMakers(of) && s.documentOf(table) == "" && !s.isHistory(table) && !isOfOnePerson(table.Name) &&
		len(s.linksOf(table)) == 0
	return s.isKeptThing(of) && s.personalSentence(table) == "" &&
		!slices.ContainsFunc(table.Columns, func(c datamap.CatalogColumn) bool {
			switch c.Type { //nolint:exhaustive // the other types hold numbers, instants and keys
			case datamap.TypeText, datamap.TypeArray:
				return !ofMaker && c.Values == nil && !inForeignKey(table, c.Name) && !hasName(table, table.PrimaryKey, c.Name) &&
					!names.IsTechnical(c.Name)
			case datamap.TypeJSON, datamap.TypeBytes, "":
				return c.Values == nil && !inForeignKey(table, c.Name) && !hasName(table, table.PrimaryKey, c.Name)
			default:
				return false
			}
		})
}

// reportReferred reports a table that seems to hold personal data, such as the addresses of customers, if a table of
// the data map refers to it. It ignores a table of people, because its rows are about people other than the subject,
// and a table of groups, because the addresses in it are those of a group.
func (s *schema) reportReferred(table datamap.CatalogTable) bool {
	if names.IsPeople(table.Name) || names.Is(table.Name, names.Reference) || names.Is(table.Name, names.Groups) {
		return false
	}
	for _, parent := range s.Declared() {
		for _, foreign := range s.live[parent.Name].ForeignKeys {
			referenced, ok := s.catalog.Table(foreign.References)
			if !ok || referenced.Name != table.Name || !s.needed[parent.Name] {
				continue
			}
			isOf := func(column datamap.CatalogColumn) bool { return isOfPerson(table.Name, column) }
			isNamed := namesPersonal(parent.Name, foreign.Columns) && slices.ContainsFunc(table.Columns, mayHoldText)
			if !slices.ContainsFunc(table.Columns, isOf) && !isNamed {
				continue
			}
			s.reportAsked(tableReferred, table, place{table: table.Name, object: foreign.Name},
				"Rows of "+parent.Name+" refer to the table by "+list(foreign.Columns)+
					", but it is not in the data map. Exports and erasures ignore it."+s.personalSentence(table),
				"Move the columns to "+parent.Name+", or add a column that refers to "+parent.Name+
					" and "+addTable(table)+", or clear its rows in the hook BeforeErasure and accept the finding.")
			return true
		}
	}
	return false
}

// mayHoldText reports whether a column may hold a text, a document or a file.
func mayHoldText(c datamap.CatalogColumn) bool {
	switch c.Type { //nolint:exhaustive // the others hold numbers, instants and the like
	case datamap.TypeText, datamap.TypeJSON, datamap.TypeBytes, datamap.TypeArray, "":
		return c.Values == nil
	}
	return false
}

// namesPersonal reports whether the name of a reference, such as avatar_id, suggests that the referenced table holds
// personal data. A secret counts only if a table of people refers to it, because applications have secrets, too. A word
// for a text does not count: reason_id leads to one of the reasons that the application offers.
func namesPersonal(table string, columns []string) bool {
	if len(columns) != 1 {
		return false
	}
	stem, isReference := names.Stem(columns[0])
	found, ok := soundsPersonal(table, datamap.CatalogTable{}, datamap.CatalogColumn{Name: stem, Type: datamap.TypeText})
	return isReference && ok && found.category != domain.CategoryCommunication && (!found.secret || names.IsPeople(table))
}

// foreignKeyChain searches for the shortest chain of foreign keys from a table outside the data map to a person. It
// returns the tables of the chain from the second to the first one in the data map, and the columns of the first
// foreign key. Between two tables outside the data map, it follows only foreign keys with ON DELETE CASCADE. They
// suggest that the referring rows are parts of the referenced rows, and so belong to the same person. It does not go on
// from a table that a person has left out of the data map.
func (s *schema) foreignKeyChain(table datamap.CatalogTable) (chain, columns []string) {
	type way struct {
		at             datamap.CatalogTable
		chain, columns []string
	}
	seen := map[string]bool{table.Name: true}
	var shortest, role int // of the best chain; a column for the recipient is better than one for the creator
	for ways := []way{{at: table}}; len(ways) > 0; ways = ways[1:] {
		w := ways[0]
		for _, foreign := range w.at.ForeignKeys {
			first := w.columns
			if first == nil {
				first = foreign.Columns
			}
			if parent, mapped := s.mappedTable(foreign.References); mapped {
				length, as := len(w.chain)+s.distance(parent.Name), int(names.RoleOf(first[0]))
				if chain == nil || length < shortest || length == shortest && as < role {
					chain, columns, shortest, role = append(slices.Clone(w.chain), parent.Name), first, length, as
				}
				continue
			}
			parent, ok := s.catalog.Table(foreign.References)
			if ok && foreign.OnDelete == datamap.ActionCascade && !seen[parent.Name] && !s.isDecided(parent.Name) {
				seen[parent.Name] = true
				ways = append(ways, way{parent, append(slices.Clone(w.chain), parent.Name), first})
			}
		}
	}
	return chain, columns
}

// personalSentence returns a sentence that lists the columns of a table that seem to hold personal data. It returns ""
// if there are none.
func (s *schema) personalSentence(table datamap.CatalogTable) string {
	var found []string
	for _, column := range table.Columns {
		if _, ok := soundsPersonal(table.Name, table, column); ok {
			found = append(found, column.Name)
		}
	}
	if len(found) == 0 {
		return ""
	}
	return " Columns that seem to hold personal data: " + list(found) + "."
}

// namedAfter reports whether a column without a foreign key seems to refer to the table parent. The column must have
// the type of the primary key of parent. It must be named after parent, such as user_id for users.id. For the
// subject's table, a name of a role of a person is sufficient, such as sender_id, to_user_id or created_by. A word
// for a person that is the name of no table is sufficient, too, and so is the uid or the owner of a row of
// user_settings. The same names count without an ending such as _id: see isBarePerson. The resource_owner_id of OAuth
// may also be a text. namedAfter returns false if the name of another table is nearer: see names.Rival.
func (s *schema) namedAfter(table datamap.CatalogTable, column datamap.CatalogColumn, parent datamap.Table) bool {
	live, ok := s.live[parent.Name]
	if !ok || len(parent.PrimaryKey) != 1 || inForeignKey(table, column.Name) {
		return false
	}
	key, ok := live.Column(parent.PrimaryKey[0])
	if !ok || key.Type == "" || column.Type == "" {
		return false
	}
	stem, isReference := names.Stem(column.Name)
	isSubject := parent.Name == s.SubjectTable().Name
	if differ(key.Type, column.Type) {
		return isSubject && isReference && column.Type == datamap.TypeText && names.Same(stem, "resource owner")
	}
	isBy := strings.HasSuffix(strings.ToLower(column.Name), "by") // created_by
	isNamed := isReference && names.Same(stem, names.BaseName(parent.Name)) || isSubject &&
		(isReference && (s.isPersonElsewhere(stem) || s.namesSide(stem)) || s.isBarePerson(table, column, key) ||
			names.Names(column.Name, parent.Name) && !s.hasTable(stem) ||
			isBy && names.IsRole(stem) || isOwnedByName(table.Name, column.Name, live)) ||
		!isSubject && s.isPeopleTable(parent) && ((isReference || isBy) && names.IsRole(stem) ||
			strings.EqualFold(column.Name, key.Name) && !strings.EqualFold(key.Name, "id") &&
				!hasName(table, table.PrimaryKey, column.Name)) // uid
	if !isNamed {
		return false
	}
	return s.rival(table, column, live) == ""
}

// isPersonElsewhere reports whether a word means a person, such as user, and no table of the database has this name. A
// reference with this word then seems to mean the subject.
func (s *schema) isPersonElsewhere(stem string) bool {
	return slices.Contains(personWords, strings.ToLower(stem)) && !s.hasTable(stem)
}

// hasTable reports whether a table of the database has the name, in singular or plural.
func (s *schema) hasTable(name string) bool {
	return slices.ContainsFunc(s.catalog.Tables, func(t datamap.CatalogTable) bool {
		return names.Same(name, names.BaseName(t.Name))
	})
}

// personWords are words that applications use for a subject's key, whatever the name of the subject's table.
var personWords = terms("user, account, customer, person")

// reportPersonal reports a table that seems to hold data about people, but does not refer to a table of the data map.
func (s *schema) reportPersonal(table datamap.CatalogTable) {
	if table.Kind == datamap.KindVirtual {
		return
	}
	if document := s.documentOf(table); document != "" {
		at := place{table: table.Name, column: document}
		asked, open := s.asksAboutDocument(at)
		switch {
		case s.isDecided(table.Name), asked && !open:
			return
		case asked:
			s.parts[part{tablePersonal, at}] = questionsOpen
			s.asked[table.Name] = true
		}
		s.report(tablePersonal, at,
			"The table seems to keep sessions, raw messages or a history of actions of people in the documents of the column. "+
				"It is not in the data map. Exports and erasures ignore it."+s.copiesSentence(table),
			"Add a column with the key of the person and "+addTable(table)+", or clear its rows in the hook BeforeErasure "+
				"and accept the finding.")
		return
	}
	if names.Is(table.Name, names.Groups) {
		return // the addresses in it are those of a group
	}
	var found []string
	enough := false
	for _, column := range table.Columns {
		if is, surely := isIdentifying(table.Name, column); is {
			found, enough = append(found, column.Name), enough || surely
		} else if isVerified(table.Name, column) {
			found, enough = append(found, column.Name), true
		}
	}
	if receiver := receiverOf(table); receiver != "" && !slices.Contains(found, receiver) {
		found, enough = append(found, receiver), true
	}
	if addresses := devicesOf(table); !enough && len(addresses) > 0 {
		found, enough = append(found, addresses...), true
	}
	if enough {
		s.reportAsked(tablePersonal, table, place{table: table.Name, column: list(found)},
			"The columns seem to hold data about people, but the table does not refer to a table of the data map. "+
				"Exports and erasures ignore it.",
			"If its rows are about subjects, "+addTable(table)+", with a relation by a column that identifies them. "+
				"If not, accept the finding.")
		return
	}
	s.reportPayload(table)
}
