package check

import (
	"slices"
	"strings"

	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/tool/internal/names"
)

// listsKeysOf reports whether a column is a list of the keys of a table, such as user_ids. For the subject's table, a
// name of several people is sufficient, such as watchers.
func (s *schema) listsKeysOf(column datamap.CatalogColumn, parent datamap.Table) bool {
	live, ok := s.live[parent.Name]
	if !ok || len(parent.PrimaryKey) != 1 {
		return false
	}
	if column.Type == datamap.TypeText {
		return column.Values == nil && s.namesList(column.Name, parent)
	}
	if column.Type != datamap.TypeArray && column.Type != datamap.TypeJSON {
		return false
	}
	key, ok := live.Column(parent.PrimaryKey[0])
	element, isArray := strings.CutSuffix(column.Declared, "[]")
	if !ok || isArray && element != key.Declared && (family(key.Type) != datamap.TypeNumber || !isWhole(element)) &&
		(key.Type != datamap.TypeText || !isText(element)) {
		return false
	}
	last := names.Words(column.Name)
	isUIDs := isArray && slices.Equal(last, []string{"uids"})
	isIDs := len(last) > 1 && slices.Contains([]string{"ids", "uuids", "uids"}, last[len(last)-1])
	if isUIDs && s.isPeopleTable(parent) {
		return true
	}
	if isIDs {
		stem := strings.Join(last[:len(last)-1], " ")
		return names.EndsIn(stem, names.BaseName(parent.Name)) ||
			s.isPeopleTable(parent) && (isPerson(stem) || isArray && (s.mayListPeople(stem) ||
				last[len(last)-1] == "uids" || s.meansPeople(stem)))
	}
	isHeader := isText(element) && slices.Contains(mailHeaders, strings.Join(last, " "))
	_, isValue := soundsPersonal("", datamap.CatalogTable{}, column)
	return (isArray || column.Type == datamap.TypeJSON && isPlural(last) && !isValue) &&
		parent.Name == s.SubjectTable().Name && isPerson(column.Name) && !isHeader && !s.isPartyOfThing(last)
}

// isPeopleTable reports whether a table of the data map has one row for each person: the subject's table, or one with
// other keys. If both have keys of the same type, only the subject's table counts.
func (s *schema) isPeopleTable(table datamap.Table) bool {
	subject := s.SubjectTable()
	if table.Name == subject.Name || !s.isOfEachPerson(table.Name) || len(table.PrimaryKey) != 1 ||
		len(subject.PrimaryKey) != 1 {
		return table.Name == subject.Name
	}
	key, _ := s.live[table.Name].Column(table.PrimaryKey[0])
	subjectKey, _ := s.live[subject.Name].Column(subject.PrimaryKey[0])
	return differ(key.Type, subjectKey.Type)
}

// meansPeople reports whether the word of a list of ids means people: a reference of the database to the people has the
// same word, as ally_id beside ally_ids, or it is what somebody is for another one.
func (s *schema) meansPeople(stem string) bool {
	parts := names.Words(stem)
	if slices.Contains(parts, "notify") || slices.Contains(companions, names.Singular(parts[len(parts)-1])) {
		return !s.hasTable(stem)
	}
	return slices.ContainsFunc(s.catalog.Tables, func(t datamap.CatalogTable) bool {
		return slices.ContainsFunc(t.ForeignKeys, func(f datamap.CatalogForeignKey) bool {
			parent, mapped := s.mappedTable(f.References)
			named, isReference := names.Stem(f.Columns[0])
			return mapped && s.isPeopleTable(parent) && isReference && names.Same(named, stem)
		})
	})
}

// companions are words for what people are for each other.
var companions = terms(`
	ally, fan, buddy, mate, classmate, roommate, neighbor, neighbour, colleague, coach, mentor, mentee, guest`)

// listsPeople reports whether a column is a list of texts or documents about people, such as guests.
func (s *schema) listsPeople(column datamap.CatalogColumn) bool {
	parts := names.Words(column.Name)
	element, isArray := strings.CutSuffix(column.Declared, "[]")
	return isArray && (isText(element) || isDocument(column)) && isPlural(parts) && isPerson(column.Name) &&
		!s.isPartyOfThing(parts) && !s.listsKeysOf(column, s.SubjectTable())
}

func isPlural(parts []string) bool {
	return len(parts) > 0 && names.Singular(parts[len(parts)-1]) != parts[len(parts)-1]
}

// isPartyOfThing reports whether the words of a name end with a word for a person or a thing, such as targets, behind
// the word for a thing or the name of a table, as in connector_targets.
func (s *schema) isPartyOfThing(parts []string) bool {
	name := strings.Join(parts, " ")
	if len(parts) < 2 || names.RoleOf(name) != names.Party || names.IsPeople(name) || names.IsRole(name) {
		return false
	}
	before := strings.Join(parts[:len(parts)-1], " ")
	return names.Is(before, names.Things) || slices.Contains(things, names.Singular(parts[len(parts)-2])) ||
		slices.ContainsFunc(s.catalog.Tables, func(t datamap.CatalogTable) bool {
			return names.EndsIn(before, names.BaseName(t.Name)) && !names.IsPeople(t.Name)
		})
}

// namesList reports whether the name of a text says that it is a list of the keys of a table, such as user_ids. The
// texts of other lists hold no keys as often as keys.
func (s *schema) namesList(column string, parent datamap.Table) bool {
	parts := names.Words(column)
	if len(parts) < 2 || !slices.Contains([]string{"ids", "uuids"}, parts[len(parts)-1]) {
		return false
	}
	stem := strings.Join(parts[:len(parts)-1], " ")
	return names.EndsIn(stem, names.BaseName(parent.Name)) || parent.Name == s.SubjectTable().Name && isPerson(stem)
}

// mailHeaders are names of columns in which texts are addresses of a mail, not keys of people.
var mailHeaders = terms("to, mail to, email to, send to, sent to, reply to, from, mail from, cc, bcc")

// mayListPeople reports whether a list of ids may be a list of people, because the stem has the ending of a word for a
// person, such as contributor. It returns false if the stem is a word for things, or the name of a table.
func (s *schema) mayListPeople(stem string) bool {
	parts := names.Words(stem)
	last := names.Singular(parts[len(parts)-1])
	endsAsPerson := strings.HasSuffix(last, "er") || strings.HasSuffix(last, "or") || strings.HasSuffix(last, "ee")
	return endsAsPerson && !slices.Contains(things, last) && !slices.Contains(devices, last) &&
		!names.Is(stem, names.Things) && !names.Is(stem, names.Reference) &&
		!slices.ContainsFunc(s.catalog.Tables, func(t datamap.CatalogTable) bool {
			return names.EndsIn(stem, names.BaseName(t.Name))
		})
}

// devices are words that have the ending of a word for a person, but mean things.
var devices = terms(`
	folder, order, offer, header, footer, number, letter, newsletter, banner, sensor, monitor, filter, layer,
	vendor, color, error, pointer, chapter, trigger, answer, parameter, register, container, cluster, worker, tree,
	fee, identifier, marker, ledger, paper, computer, printer, router, transfer, tier, character, quarter, semester,
	center, sticker, voucher, adapter, handler, cursor, vector, factor, indicator, selector, processor, floor, door,
	timer, reminder, blocker, supplier, manufacturer, carrier, publisher, counter, meter, tracker, scanner,
	controller, runner, importer, exporter`)

func isWhole(declared string) bool {
	return slices.Contains([]string{"bigint", "integer", "smallint"}, declared)
}

func isText(declared string) bool {
	return declared == "text" || strings.HasPrefix(declared, "character varying")
}
