package unsent

import (
	"strings"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/syntax"
)

const (
	// findErased returns a row for each erased subject. It locks the ledgers of a subject first, and may wait for an
	// erasure there. The function then sees the mark of this erasure.
	findErased = `SELECT v.subject_id FROM (VALUES {subjects}) AS v (subject_id)
		WHERE CASE WHEN {lock} IS NOT NULL THEN {is erased}(v.subject_id) END`

	insertAlone = `
		INSERT INTO {into} ({columns})
		SELECT v.* FROM (VALUES `

	unlessRefused = `) AS v WHERE NOT EXISTS (SELECT 1 FROM refused)`
)

// aloneTemplates are the parts of the statement that takeAlone returns.
type aloneTemplates struct {
	inserts [KindCount]insertTemplate
	inFront string            // see syntax.Tables.InFront
	finds   [KindCount]string // finds the erased subjects of the records of a ledger
}

// refused returns the query for the reasons why a statement writes nothing: the erased subjects of its ledger records,
// and temporary tables in front of those of habeas.
func (t *aloneTemplates) refused(counts [KindCount]int) string {
	queries := []string{t.inFront}
	parameters := 0
	for k, n := range counts {
		columns := t.inserts[k].columns
		if n > 0 && Kind(k).IsLedger() {
			var subjects []string
			for row := range n {
				subjects = append(subjects, "("+syntax.Placeholder(parameters+row*columns+1)+"::text)")
			}
			queries = append(queries, syntax.Fill(t.finds[k], "subjects", strings.Join(subjects, ", ")))
		}
		parameters += n * columns
	}
	return strings.Join(queries, " UNION ALL ")
}

func newAloneTemplates(tables syntax.Tables, d syntax.Dialect) (templates aloneTemplates) {
	templates.inFront = tables.InFront(d)
	templates.inserts[ReasonClearings] = insertTemplate{
		before: tables.Fill(clearReasons), after: ") AND NOT EXISTS (SELECT 1 FROM refused)", columns: 1,
	}
	for k := Consents; k < LedgerClosings; k++ {
		text := func(text string) string {
			return tables.Fill(text, "into", TableOf(tables, k), "columns", insertedColumns[k],
				"lock", LockLedgers(d, tables, "v.subject_id"))
		}
		templates.inserts[k] = insertTemplate{
			before: text(insertAlone) + " ", after: unlessRefused, columns: len(castTypes[k]), types: typesFor(d, k),
		}
		if k.IsLedger() {
			templates.finds[k] = text(findErased)
		}
	}
	return templates
}

// fitsAlone reports whether takeAlone can write all rows of unsent.
func (i *inserts) fitsAlone(unsent *Rows) bool {
	tables, records := 0, len(unsent[Consents])+len(unsent[Restrictions])+len(unsent[Requests])
	for _, rows := range unsent {
		tables += min(len(rows), 1)
	}
	if len(unsent[LedgerClosings]) > 0 || records > 0 && len(unsent[ReasonClearings]) > 0 {
		return false
	}
	return tables > 0 && i.combinesChanges || tables == 1 && records == 0
}

// takeAlone returns one statement that writes all rows of unsent in its own transaction, and empties unsent. If a
// ledger record is of an erased subject, or a temporary table is in front of one of habeas, the statement writes
// nothing, and its number of rows is 0: such a record needs a session that can also close the ledger of the subject.
func (i *inserts) takeAlone(unsent *Rows) insert {
	counts, args := unsent.flatten()
	*unsent = Rows{}
	return insert{text: i.text(shape{counts: counts, alone: true}), args: args}
}
