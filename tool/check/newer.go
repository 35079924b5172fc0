package check

import (
	"slices"

	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/tool/internal/names"
)

// checkNewer reports the tables that the draft of the data map did not know, if a column may hold personal data and the
// table has no other finding. The names of the columns need not show it as clearly as in an older table, because nobody
// has decided about the table. Without a draft, it reports nothing.
func (s *schema) checkNewer() {
	if len(s.Reviewed()) == 0 {
		return
	}
	for _, table := range s.unmappedTables() {
		isReviewed := slices.ContainsFunc(s.Reviewed(), func(name string) bool { return table.IsCalled(name) })
		hasFinding := slices.ContainsFunc(s.findings, func(f datamap.Finding) bool { return f.Table == table.Name })
		if !isTable(table) || isReviewed || hasFinding || names.Is(table.Name, names.Reference) {
			continue
		}
		var found []string
		for _, column := range table.Columns {
			if !column.Generated && s.mayBePersonal(table, column) {
				found = append(found, column.Name)
			}
		}
		if len(found) > 0 {
			at := place{table: table.Name, column: list(found)}
			s.parts[part{tableUnknown, at}] = tableUnknown
			s.report(tableUnknown, at, "The table is newer than the draft of the data map, and the columns may hold personal "+
				"data. Exports and erasures ignore it.", ofNewer)
		}
	}
}

const ofNewer = "Run habeas scaffold with --update, which adds the tables to the member schema of the manifest, and " +
	"answer its questions about them."

// foldNewer replaces the findings of checkNewer about more than maxAlone tables by one finding.
func (s *schema) foldNewer() {
	s.foldMissing(tableUnknown, wherePlaced, func(n, places string) string {
		return n + " tables are newer than the draft of the data map, and columns may hold personal data: " + places +
			". Exports and erasures ignore the tables."
	}, ofNewer)
}

// mayBePersonal reports whether a column outside of the data map may hold personal data: its name suggests a person, or
// it holds documents, bytes or long texts that are not named like labels of things.
func (s *schema) mayBePersonal(table datamap.CatalogTable, column datamap.CatalogColumn) bool {
	account, ofPeople := names.Find("people", column.Name, column.Type)
	stem, _ := names.Stem(column.Name)
	isPerson := names.MeansAgent(stem) && !hasWord(stem, ofMachines...) || names.IsRole(stem) && !hasWord(stem, "by") ||
		ofPeople && account.Means == names.Account || names.EndsIn(stem, names.BaseName(s.SubjectTable().Name)) // user_uuid
	isText := column.Type == datamap.TypeText && !table.IsChoice(column)
	switch {
	case inForeignKey(table, column.Name):
		return false
	case isText && (isPerson || hasWord(column.Name, "address", "city", "payee", "contact")):
		return true
	case !s.mayHoldText(table, column):
		return false
	}
	match, ok := names.Find(table.Name, column.Name, column.Type)
	isFree := isText && names.IsLong(column) && !hasWord(column.Name, ofLabels...)
	return ok && !isNameOfThing(match, column) || isFree || column.Type == datamap.TypeJSON ||
		column.Type == datamap.TypeBytes
}

// ofMachines are words for things that end like words for people.
var ofMachines = terms("maker, builder, parser, driver, consumer, producer")

// ofLabels are words in the names of texts about things.
var ofLabels = terms(`
	name, title, label, slug, code, key, url, uri, link, path, file, filename, description, color, colour, icon, locale,
	language, version, unit, currency, format, template, type, kind, status, state, category, tag, tags, sku, model`)
