package sqltext

import (
	"strconv"
	"strings"

	"github.com/habeas-data/habeas/domain/datamap"
)

// Lives holds the statements about the life of a subject's id (see domain.Life). The mark of a subject is the row that
// records its erasures.
type Lives struct {
	// State reads whether the subject's row exists, the preconditions (see Locks), the MarkColumns, the creation time of
	// the row, and its identifying columns. Its parameters are the subject's key and the id. It locks nothing.
	State string
	// LockLedgers locks the ledgers (consents and restrictions) of the subject $1. It is "" if the database has one writer
	// at a time.
	LockLedgers string
	// Register records the registration of a person in the mark. It adds a mark if there is none, but the ledgers have
	// records. Its parameters are the id, the instant, and the creation time of the subject's row.
	Register           string
	IdentifyingColumns int // the number of identifying columns
}

// MarkColumns lists the columns of a mark, after the subject's id.
const MarkColumns = "erased_at, erasures, intake, swept_at, added_at, registered_at, registered_added_at," +
	" consents_until, restrictions_until"

const (
	readState = `
		SELECT {exists}, {preconditions}, {mark}, {row}
		{from} LEFT JOIN {erasures} AS m ON m.subject_id = {subject}`

	lockLedgers = `SELECT {lock consents}, {lock restrictions}`

	register = `
		INSERT INTO {erasures} AS e (subject_id, erased_at, erasures, intake, registered_at, registered_added_at,
			consents_until, restrictions_until)
		SELECT v.id, v.registered, 0, 0, v.registered, v.added, v.consents, v.restrictions
		FROM (SELECT CAST({subject} AS text) AS id, CAST({instant} AS {type}) AS registered, CAST({added} AS {type}) AS added,
			COALESCE((SELECT max(seq) FROM {consents} WHERE subject_id = {subject}), 0) AS consents,
			COALESCE((SELECT max(seq) FROM {restrictions} WHERE subject_id = {subject}), 0) AS restrictions) AS v
		WHERE v.consents > 0 OR v.restrictions > 0 OR EXISTS (SELECT 1 FROM {erasures} WHERE subject_id = {subject})
		ON CONFLICT (subject_id) DO UPDATE SET registered_at = excluded.registered_at,
			registered_added_at = excluded.registered_added_at, consents_until = excluded.consents_until,
			restrictions_until = excluded.restrictions_until`
)

// NewLives returns the Lives for the dialect and the tables of w.
func NewLives(w *Writer, locks *Locks) Lives {
	subject, keys := w.DataMap.SubjectTable(), len(w.DataMap.SubjectTable().SubjectKey)
	id := placeholder(keys + 1)
	lives := Lives{
		State: w.Tables.fill(readState, "exists", locks.exists, "preconditions", strings.Join(locks.preconditions, ", "),
			"mark", "m."+strings.ReplaceAll(MarkColumns, ", ", ", m."), "row", strings.Join(w.lifeOfRow(), ", "),
			"from", w.fromSubject(0), "subject", id),
		Register: w.Tables.fill(register, "subject", "$1", "instant", "$2", "added", "$3",
			"type", w.Dialect.instantType()),
		IdentifyingColumns: len(subject.Identifying()),
	}
	if lock := w.Dialect.lockLedger(w.Tables, Consents, "$1"); lock != "" {
		lives.LockLedgers = fill(lockLedgers, "lock consents", lock,
			"lock restrictions", w.Dialect.lockLedger(w.Tables, Restrictions, "$1"))
	}
	return lives
}

// EvidenceOf returns the statement that reads the evidence about the rows of several subjects:
//
//	SELECT 0, ... UNION ALL SELECT 1, ...
//
// The numbers are indexes in keys, which has the key of each subject. A subject without a row has no row in the result.
func (w *Writer) EvidenceOf(keys [][]any) (text string, args []any) {
	subject, selects := w.DataMap.SubjectTable(), make([]string, len(keys))
	for i, key := range keys {
		selects[i] = fill(evidenceOfRow, "number", strconv.Itoa(i), "evidence", strings.Join(w.lifeOfRow(), ", "),
			"table", quoteTable(subject.Name), "rows", w.rowsOf(subject, datamap.Path{}, len(args)))
		args = append(args, key...)
	}
	return strings.Join(selects, " UNION ALL "), args
}

const evidenceOfRow = `SELECT {number}, {evidence} FROM {table} AS t0 WHERE {rows}`

// lifeOfRow returns the expressions for the evidence in the subject's row: its creation time (see addedValue), and the
// texts of its identifying columns. See domain.LifeEvidence.
func (w *Writer) lifeOfRow() []string {
	subject, evidence := w.DataMap.SubjectTable(), []string{w.addedValue()}
	for _, column := range subject.Identifying() {
		evidence = append(evidence, "CAST(t0."+Quote(column.Name)+" AS text)")
	}
	return evidence
}

// addedValue returns the expression for the value of Table.AddedAt in the subject's row, or NULL. The function
// datamap.ReadAddedAt reads the value.
func (w *Writer) addedValue() string {
	column, ok := w.DataMap.SubjectTable().AddedAt()
	if !ok {
		return "NULL"
	}
	return w.Dialect.addedValue("t0." + Quote(column.Name))
}
