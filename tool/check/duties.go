package check

import (
	"slices"
	"strings"

	"github.com/habeas-data/habeas/domain/datamap"
)

// checkDuties reports tables that seem to hold invoices, if an erasure deletes the rows and the data map has no
// retention duty for them. If a draft asks about the duty, questions-open reports the open question.
func (s *schema) checkDuties() {
	s.eachPresent(func(table datamap.Table, live datamap.CatalogTable) {
		isBill := hasWord(table.Name, "invoice", "invoices", "billing", "receipt", "receipts", "rechnung", "rechnungen",
			"facture", "factures", "factura", "facturas") ||
			hasWord(table.Name, "credit") && hasWord(table.Name, "note", "notes")
		if !isBill || !s.deletesRows(table.Name) || s.asksAboutDuty(table) ||
			slices.ContainsFunc(live.Columns, holdsDuty(table, live)) ||
			!slices.ContainsFunc(live.Columns, func(c datamap.CatalogColumn) bool {
				return hasWord(c.Name, "number", "no", "nr", "nummer", "issued", "amount", "total", "tax", "vat", "betrag",
					"montant")
			}) {
			return
		}
		s.report(dutyMissing, place{table: table.Name},
			"The table seems to hold invoices, and an erasure deletes its rows. A law may require to keep them (in Germany: "+
				"§ 147 AO and § 257 HGB).",
			"If so, keep the rows, and declare the duty on their columns ("+
				s.says("erasure:retain", `"erasure": "retain"`)+"). If not, accept the finding.")
	})
}

// asksAboutDuty reports whether a note has a question about a retention duty of the rows, open or answered: the note of
// the table, or that of the subject's table, which then names the table. An answer to another question says nothing
// about the duty.
func (s *schema) asksAboutDuty(table datamap.Table) bool {
	isAbout := func(q question) bool {
		return slices.ContainsFunc(q.words, func(word string) bool {
			return slices.Contains(dutyWords, strings.ToLower(word))
		})
	}
	return slices.ContainsFunc(questionsIn(table.Note), isAbout) ||
		slices.ContainsFunc(questionsIn(s.SubjectTable().Note), func(q question) bool {
			return q.names(table.Name) && isAbout(q)
		})
}

// dutyWords are words in questions about retention duties.
var dutyWords = terms(`
	law, laws, legal, legally, statutory, duty, duties, retain, retained, retention, kept, record, records,
	archive, archived, fiscal, tax, taxes, bookkeeping, accounting,
	ao, hgb, aufbewahrung, aufbewahrungspflicht, steuerrecht`)

// holdsDuty reports whether a column of the data map has a retention duty.
func holdsDuty(table datamap.Table, live datamap.CatalogTable) func(datamap.CatalogColumn) bool {
	return func(c datamap.CatalogColumn) bool {
		column, _ := live.Mapped(table, c.Name)
		return column.Personal != nil && column.Personal.Since != ""
	}
}
