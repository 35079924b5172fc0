package check

import (
	"slices"
	"strings"

	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/tool/internal/names"
)

// isBarePerson reports whether a number or a UUID seems to be a key of the subject's table, although its name has no
// ending such as _id: it is the name of that table, another word for a person, or a role such as author. So does a text
// if both texts have the same short length. It returns false if another table has this name. The owner of a row of
// site_meta is a site.
func (s *schema) isBarePerson(table datamap.CatalogTable, column, key datamap.CatalogColumn) bool {
	name, people := strings.ToLower(column.Name), s.SubjectTable().Name
	parts := names.Words(name)
	isKey := column.Type == key.Type || isWhole(column.Declared) && column.Type != datamap.TypeSmallInt
	isOtherText := key.Type == datamap.TypeText &&
		(key.Length != column.Length || key.Length == 0 || key.Length > longestKey)
	if !isKey || isOtherText || len(parts) == 0 || isPlural(parts) ||
		name == "owner" && names.IsDocument(names.BaseName(table.Name)) ||
		slices.ContainsFunc(parts, func(word string) bool { return slices.Contains(ofAmounts, word) }) {
		return false
	}
	if slices.ContainsFunc(s.catalog.Tables, func(t datamap.CatalogTable) bool {
		return t.Name != s.live[people].Name && names.EndsIn(name, names.BaseName(t.Name))
	}) {
		return false
	}
	return names.Same(name, names.BaseName(people)) || slices.Contains(personWords, name) ||
		names.IsMember(s.catalog.Tables, name) || names.IsRole(name) || s.namesSide(name)
}

// namesSide reports whether a name means a person who takes part, such as applicant, or one of two people who deal with
// each other, such as challenger. It returns false if a table has this name. Groups, such as teams, may deal with each
// other, too.
func (s *schema) namesSide(name string) bool {
	isPartaker := names.TakesPart(name) || slices.Contains(partakers, strings.ToLower(name))
	hasGroups := slices.ContainsFunc(s.catalog.Tables, func(t datamap.CatalogTable) bool {
		return names.Is(t.Name, names.Groups) || hasWord(t.Name, ofTraders...)
	})
	hasTable := slices.ContainsFunc(s.catalog.Tables, func(t datamap.CatalogTable) bool {
		return hasWord(t.Name, name, name+"s")
	})
	return (isPartaker || slices.Contains(sides, strings.ToLower(name)) && !hasGroups) && !hasTable
}

var ofTraders = terms(`
	shop, shops, store, stores, merchant, merchants, vendor, vendors, bank, banks, club, clubs, film, films`)

var partakers = terms("volunteer, guardian, adopter, fosterer")

var sides = terms(`
	challenger, opponent, buyer, seller, lender, borrower, mentor, mentee, bidder, donor, nominee, nominator, voter`)

// longestKey is the greatest length of a text that is too short for many names.
const longestKey = 36

// ofAmounts are words in the names of columns with a number, or with the key of a picture.
var ofAmounts = terms("per, max, min, num, count, total, limit, number, poster")
