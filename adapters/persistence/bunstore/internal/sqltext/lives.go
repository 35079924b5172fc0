package sqltext

import "strings"

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
	// records. Its parameters are the subject's key, the id, and the instant.
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
		FROM (SELECT CAST({subject} AS text) AS id, CAST({instant} AS {type}) AS registered, {added} AS added,
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
		Register: w.Tables.fill(register, "subject", id, "instant", placeholder(keys+2),
			"type", w.Dialect.instantType(), "added", w.addedAt()),
		IdentifyingColumns: len(subject.Identifying()),
	}
	if lock := w.Dialect.lockLedger(w.Tables, Consents, "$1"); lock != "" {
		lives.LockLedgers = fill(lockLedgers, "lock consents", lock,
			"lock restrictions", w.Dialect.lockLedger(w.Tables, Restrictions, "$1"))
	}
	return lives
}

// lifeOfRow returns the expressions for the evidence in the subject's row: its creation time, and the texts of its
// identifying columns. See domain.LifeEvidence.
func (w *Writer) lifeOfRow() []string {
	subject := w.DataMap.SubjectTable()
	evidence := []string{"CAST(NULL AS " + w.Dialect.instantType() + ")"}
	if column, ok := subject.AddedAt(); ok {
		evidence[0] = w.Dialect.instantOf("t0." + Quote(column.Name))
	}
	for _, column := range subject.Identifying() {
		evidence = append(evidence, "CAST(t0."+Quote(column.Name)+" AS text)")
	}
	return evidence
}
