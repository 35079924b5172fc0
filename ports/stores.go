package ports

import (
	"context"
	"time"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/domain/plan"
)

// ConsentStore keeps the consent ledger. The ledger is append-only: the port has no operation that changes or removes a
// record. A store rejects such changes if it can.
//
// The ledger has an order of intake: the order in which the store accepted the records. The store determines this order
// by a sequence of its own and never by a clock. The last record in this order is in force. The records of one session
// are in the order in which they were appended. If one session was committed before another session began, the records
// of the first session come first. If several sessions append records of one subject concurrently, the records are in
// the order in which the sessions commit.
//
// An id can be given to another person after an erasure (see domain.Life). The records up to ErasureMark.ConsentsUntil
// belong to an earlier life of the id. If domain.Life.KeepsEarlier returns false, Latest and InForce return no such
// record: for a purpose whose last record belongs to an earlier life, they return none. In a session that has called
// SubjectStore.Lock for the subject, InForce includes these records, so that the erasure withdraws every consent. If a
// record is appended after the life of the id has ended, the store raises ErasureMark.ConsentsUntil to the number of
// this record with the commit, so that it never counts for another person.
type ConsentStore interface {
	// Append adds a record. Append truncates the instant of the record to whole microseconds.
	Append(ctx context.Context, record domain.ConsentRecord) error

	// Latest returns the record in force for the purpose. This is the last of the subject's records for the purpose in the
	// order of intake (the order in which the store accepted them). If asOf is not nil, Latest considers only the records
	// whose instant is asOf or earlier. Latest returns nil if there is no such record.
	Latest(ctx context.Context, id domain.SubjectID, purpose string, asOf *time.Time) (*domain.ConsentRecord, error)

	// InForce returns, for each purpose, the subject's record that is in force. The records are in the order in which the
	// store accepted them. The result includes grants and withdrawals. It leaves out purposes for which the subject has no
	// record. The number of its statements does not depend on the number of purposes.
	InForce(ctx context.Context, id domain.SubjectID) ([]domain.ConsentRecord, error)

	// History returns the subject's records for the purpose after domain.ErasureMark.ConsentsUntil, in the order in which
	// the store accepted them. The instants of the records do not affect this order.
	History(ctx context.Context, id domain.SubjectID, purpose string) ([]domain.ConsentRecord, error)

	// HistoryOfAllLives returns the same as History, and before it the records of earlier lives of the id. These records
	// may belong to other people. They are for the operator who answers for the ledger, and never for the subject.
	HistoryOfAllLives(ctx context.Context, id domain.SubjectID, purpose string) ([]domain.ConsentRecord, error)
}

// RestrictionStore keeps the restriction ledger. The ledger is append-only and has the order of intake that
// ConsentStore describes. The only exception is the reason of a record, which is free text and can be cleared. Latest
// and Append treat earlier lives of an id as ConsentStore does, with ErasureMark.RestrictionsUntil.
type RestrictionStore interface {
	// Append adds a record. Append truncates the instant of the record to whole microseconds.
	Append(ctx context.Context, record domain.RestrictionRecord) error

	// Latest returns the records in force. The result global is the subject's global record (it applies to all purposes)
	// that the store accepted last. If purpose is not nil, the result scoped is the record of the subject for this purpose
	// that the store accepted last. Each result is nil if there is no such record.
	Latest(ctx context.Context, id domain.SubjectID, purpose *string) (global, scoped *domain.RestrictionRecord, err error)

	// History returns the subject's records after domain.ErasureMark.RestrictionsUntil, in the order in which the store
	// accepted them. The instants of the records do not affect this order. If purpose is nil, History returns the global
	// records. Otherwise it returns the records for the purpose.
	History(ctx context.Context, id domain.SubjectID, purpose *string) ([]domain.RestrictionRecord, error)

	// ClearReasons sets the reason to nil in all records of the subject, and changes nothing else. This includes the
	// records that this session has appended before the call. A record that is appended after the call keeps its reason. A
	// session may send this change later, in one batch with new records.
	ClearReasons(ctx context.Context, id domain.SubjectID) error
}

// SubjectStore reads, erases and corrects a subject's rows in the tables of the application. The data map with which
// the store was created describes these tables. The store checks the subject's id with datamap.DataMap.Key before it
// sends any statement. The store treats rows that the application has marked as deleted (soft deletion) like any other
// row.
//
// The number of statements that a method sends does not depend on the number of rows.
type SubjectStore interface {
	// Lock locks the subject for an erasure until the transaction of the session ends. Another session that calls Lock or
	// LockToRectify for the same subject waits until then. Lock also writes an erasure mark: a row that records that the
	// subject was erased (see domain.ErasureMark). If the subject is created again later, this mark still shows that the
	// subject was erased. The instant of the mark is by the clock of the store, see domain.ErasureInstant. The parameter
	// at is the instant by the clock of the process. Lock returns the instant of the mark. The erasure must use this
	// instant for the ends of retention duties, because later sweeps and verifications use it, too.
	//
	// Before the session commits, the store sets ConsentsUntil, RestrictionsUntil and RequestsUntil of the mark to the
	// highest numbers of the subject's records in the ledgers and of her requests, those of this session included.
	//
	// Lock also locks the subject's own row, and the rows that connect rows of other tables to the subject. For example,
	// it locks the subject's orders if the rows of order lines refer to orders. It also locks the subject's rows of a
	// table for which the plan has a step with datamap.Step.Self. It locks a row before the rows of other tables that
	// refer to it. In a database with one writer at a time, the lock of the writer replaces these locks.
	//
	// Lock waits for open transactions of the application in two cases:
	//
	//   - A transaction inserts a row with a foreign key to a locked row. Lock waits, so that Apply sees the new row.
	//   - A transaction assigns a locked row to another subject. Lock waits, so that Apply does not change rows that refer
	//     to the reassigned row.
	//
	// Lock does not wait for a transaction that inserts a row without a foreign key. Apply sees such a row only if the row
	// was committed before Apply.
	//
	// Lock returns domain.ErrSubject if the id differs in spelling from the key in the subject's row. An example is ANN
	// for the key ann in a column that ignores case. The ledgers would treat ANN and ann as two subjects. Lock returns
	// domain.ErrConfiguration if rows cannot be locked, because a privilege is missing or because the table is of a kind
	// that does not support locks. Lock returns domain.ErrSession for the isolation levels for which ErasedStore.Marks
	// returns it.
	Lock(ctx context.Context, id domain.SubjectID, at time.Time) (erasedAt time.Time, err error)

	// LockToRectify locks the subject for a rectification until the transaction of the session ends: another session that
	// calls Lock or LockToRectify for the same subject waits until then. LockToRectify locks no rows of the application,
	// and leaves no new mark. It returns the state of the subject. It returns domain.ErrSubject as Lock does.
	LockToRectify(ctx context.Context, id domain.SubjectID) (domain.SubjectState, error)

	// State returns whether the subject's table has a row of the subject, and the life of its id, with the mark and the
	// evidence on which the life was judged. It only reads, waits for no lock, and works on a standby. It does not see an
	// erasure that another session has not committed. State returns domain.ErrSubject for an id that Lock refuses.
	State(ctx context.Context, id domain.SubjectID) (domain.SubjectState, error)

	// Register records that the application has registered a person under the id. Call it in the transaction that has
	// inserted the subject's row, before the first record of the person in a ledger. All records in the ledgers and all
	// requests then belong to an earlier life of the id (see domain.Life). Register sets RegisteredAt, RegisteredAddedAt,
	// ConsentsUntil, RestrictionsUntil and RequestsUntil in the erasure mark. If the id has records or requests but no
	// mark, Register adds a mark with 0 erasures, which only divides them, and which ErasedStore does not return. If the
	// id has none of these, Register stores nothing. It returns domain.ErrConflict if the subject's table has no row of
	// the subject.
	Register(ctx context.Context, id domain.SubjectID, at time.Time) error

	// Keys returns keys of an external system, such as the names of files, from the subject's rows. It reads the columns
	// that datamap.Table.RefColumns returns for the resolver of the query. It returns each key once, in its text form, and
	// sorts the keys by their bytes. It returns no NULL, no empty key, and no key from the rows of other subjects. It
	// returns at most query.Limit keys. To read all keys, call Keys again with the last key as query.After. Keys uses one
	// statement for any number of rows and tables.
	//
	// An erasure sets query.ErasedAt. Keys then returns the keys in the cells that an erasure at this instant erases, and
	// leaves out each key that another cell in the subject's rows holds. Such another cell is a retained cell, or a cell
	// that belongs only to other people in a row that the erasure keeps. The object of such a key must be kept, and the
	// erasure or sweep that erases the last of its cells passes the key. The session must have called Lock, and must not
	// have called Apply yet. The call with an empty query.After also locks the rows of the cells that Apply erases. No
	// other transaction can then change these cells before Apply.
	//
	// A rectification sets query.Cells. Keys then reads only these cells, and locks their rows as well, so that no other
	// transaction can change the cells before Rectify. If query.Cells names a row that is not the subject's, Keys returns
	// no keys. After the last step, the rectification sets query.Held. Keys then also returns the keys in cells of the
	// subject's rows that belong only to other people.
	Keys(ctx context.Context, id domain.SubjectID, query plan.KeyQuery) ([]string, error)

	// Apply carries out local steps of an erasure plan and returns the number of affected rows for each step. This number
	// equals an execution of the steps in their order, even if the store combines several steps in one statement. For a
	// step that deletes or anonymizes, Apply counts the subject's rows that the step has deleted or anonymized. For a step
	// that retains, Apply changes nothing and counts the subject's rows in which the retention duty of at least one column
	// of the step is not over.
	//
	// A step affects only the rows that its path (datamap.Step.Via, a chain of relations to the subject's table) connects
	// to the subject. In these rows, the step changes only the columns that it lists, and sets the columns of
	// datamap.Step.ClearedColumns to NULL. A row may have several paths to the subject. If the step of one of these paths
	// deletes the row, the row is deleted. Otherwise the effects of all steps apply to the row.
	//
	// No step changes a row of another subject, with one exception. A step with datamap.Step.Self sets ClearedColumns to
	// NULL in the rows that refer, by a relation of the table to itself, to the rows that the erasure deletes from the
	// table (datamap.DataMap.SelfReferences), and counts these rows. Some of them may be rows that the erasure deletes,
	// too.
	//
	// Cascaded of the result is the number of rows that the database has deleted or changed besides the steps, by table:
	//
	//   - A foreign key (ON DELETE CASCADE) or a trigger has deleted rows of a table that is not in the data map.
	//   - A foreign key (ON DELETE SET NULL or SET DEFAULT) has set its columns in rows of any table.
	//
	// Anonymizing leaves a cell that holds NULL as it is, unless the column has datamap.Column.Always. In the subject's
	// own row, Apply then writes one further cell in one case: all plan.Identifying columns are NULL, and the
	// creation time of the row has no fraction of a second (see domain.LifeEvidence). Apply writes the first of these
	// columns, in the order of the data map, that the database lets it write. Anonymizing overwrites every other cell of a
	// column:
	//
	//   - A column with domain.StrategyNull gets NULL.
	//   - A column with a constant in the data map (datamap.Column.Constant) gets the constant. Each placeholder of the
	//     constant becomes datamap.Column.Digits random hexadecimal digits, new ones for each cell.
	//   - Another text column gets "anon-" and 32 random hexadecimal digits, new ones for each cell. A shorter column gets
	//     fewer digits. A column of fewer than 17 characters gets only digits.
	//   - Another UUID column gets a random UUID for each cell.
	//   - Any other column gets the empty value of its type: 0, false, 1970-01-01 in UTC, {} for JSON, an empty array, no
	//     bytes.
	//
	// Apply overwrites a cell of a column in datamap.Step.Expired only if the retention duty of the cell is over at the
	// instant datamap.Step.At. A duty is over if it began at or before the instant that datamap.Period.Cutoff returns.
	//
	// Apply returns domain.ErrManifest in these cases. The session can then no longer be committed.
	//
	//   - plan.CheckSteps refuses the steps.
	//   - A step would delete rows of a table that has columns outside of the data map, and datamap.Table.Owned is false.
	//   - A step would set a column to NULL, and the store knows that the column is NOT NULL in the database.
	//
	// Apply returns domain.ErrConfiguration if the database may hide rows of the subject from the store. Causes are
	// row-level security, a temporary table, and a view that may filter rows (unless datamap.Table.Trusted is true). A
	// store may have an option that states that no rows are hidden. Apply returns domain.ErrLeftOver if the database kept
	// data that a statement should have deleted or overwritten, or copied such a text to another column of its row. Apply
	// returns domain.ErrConflict if rows cannot be deleted because other rows refer to them. It also returns
	// domain.ErrConflict, and names the table and the number of rows, if the database would delete rows of the data map
	// that no step deletes, or if a foreign key would set a retained column, or a relation with
	// datamap.Relation.SamePerson.
	//
	// If Apply fails, the caller must roll back. len(Rows) is then the index of the step that failed. It is len(steps) if
	// the store does not know which step failed.
	Apply(ctx context.Context, id domain.SubjectID, steps []datamap.Step) (domain.Applied, error)

	// Sample returns up to query.Limit rows of the subject that a step of an erasure affects, in the order of their
	// primary keys. If query.Keys is not nil, it returns the rows of the step's table with these primary keys instead, in
	// the order of Keys, and leaves out keys without a row. It reads the changes of its session.
	//
	// The rows are for a preview at a terminal. Sample returns domain.ErrSession outside of a rehearsal (see Rehearsing).
	// It returns domain.ErrManifest if plan.CheckSteps refuses the step.
	Sample(ctx context.Context, id domain.SubjectID, query plan.SampleQuery) ([]datamap.SampledRow, error)

	// Rectify writes the values of a step into the subject's rows, and returns the number of rows. These are the rows of
	// the step's table that the path of the step connects to the subject. A path is a chain of relations to the subject's
	// table. If there is no row, Rectify returns 0 and no error. If step.Row is not empty, Rectify writes only one row:
	// the row that Export identifies by the same text in ExportRecord.Row. If this row does not belong to the subject,
	// Rectify writes nothing. Rectify never changes a row of another subject, and writes no erasure mark.
	//
	// Rectify passes a value to the database so that the application and Export read the same value again. If two sessions
	// rectify the same row, one session waits for the other. The row then holds the values of the later session.
	//
	// The caller ensures that the values fit their columns by the rules of rectification.Planner.Plan. A store may know
	// further rules about a column. For example, readers of the column may expect a certain shape of JSON, or the numbers
	// of the column may not be negative. Such a store refuses a value that breaks these rules before it writes the value.
	// The error is then domain.ErrInvalid with a FieldError whose field is the category of the column.
	//
	// Rectify returns domain.ErrManifest if the step has no values, or if the data map does not annotate the table or a
	// column of the step. Rectify returns domain.ErrLeftOver if a trigger, a rule or a view has kept the database from
	// holding the values of the step. A value that the database stores in another form, such as in lower case, causes no
	// error.
	Rectify(ctx context.Context, id domain.SubjectID, step domain.RectificationStep) (rows int64, err error)

	// Export calls yield once for every exported column of every row of the subject. The exported columns are those that
	// datamap.DataMap.ExportedColumns returns. If the rows of a table are about several people, Export includes only the
	// columns that datamap.Path.Has assigns to a path from the row to the subject. The records are in the order of the
	// tables in datamap.DataMap.Tables, then by primary key, then in the order of the columns of the table. If the subject
	// was erased before, Export calls plan.MarkErased for each row, with the paths that connect the row to the
	// subject. If plan.SharesColumns returns true for the table, it then calls
	// plan.MarkSharedErased, whether or not the subject was erased.
	//
	// Export then calls yield for the subject's records in the ledgers of consents and restrictions, which
	// plan.LedgerTables describes as tables. It leaves out the records of earlier lives of the id, as History does. The
	// records of each ledger are in the order in which the store accepted them. The value of the column plan.LedgerSeq
	// grows in this order.
	//
	// Export reads everything from one snapshot. It passes each record to yield as soon as it has read the record, and
	// keeps no records in memory. If yield returns an error, Export stops and returns this error. The function yield must
	// not use the session. Export returns domain.ErrSession if the session has written before, unless it is part of a
	// transaction of the application. Records that the session has only buffered (see Session) do not count as writes, and
	// the export may leave them out.
	Export(ctx context.Context, id domain.SubjectID, yield func(domain.ExportRecord) error) error

	// Holdings returns how many rows the tables hold of the subject, and what an erasure would do with them: one holding
	// for each step of plan.Fates whose path leads from rows to the subject, in their order. It counts the rows that are
	// there, in every life of the id. It only reads, by one statement, waits for no lock, and stops to count a path after
	// domain.MaxRowsHeld rows. It sees the changes of its session. It refuses the ids and tables that Export refuses.
	Holdings(ctx context.Context, id domain.SubjectID) ([]domain.Holding, error)
}

// AuditLog keeps the audit trail. The trail is append-only: the port has no operation that changes or removes an event.
// A store rejects such changes if it can.
type AuditLog interface {
	// Append adds events. The events are stored if and only if the session commits. Append returns domain.ErrConflict if
	// an event with the same EventID exists already.
	Append(ctx context.Context, events ...domain.AuditEvent) error

	// AppendEvidence adds events that must be stored even if the session rolls back. Such events are called evidence. Most
	// evidence is about the failure that causes the rollback. If the session commits, the evidence commits with it. If the
	// session rolls back, SessionFactory.Do then writes the evidence in a separate transaction, or in the transaction of
	// the application of which the session is part. If this write fails, the error of Do also reports this failure.
	//
	// If Do retries the session, the evidence of the failed attempt is dropped. After a statement of the session has
	// failed, AppendEvidence returns the error of the statement, but still accepts the events.
	AppendEvidence(ctx context.Context, events ...domain.AuditEvent) error

	// AppendOnRollback adds events that are written only if the session rolls back. An example is an event about the
	// failure of an operation that had succeeded until the commit failed. If the session commits, or if SessionFactory.Do
	// retries it, the events are dropped. After a statement of the session has failed, AppendOnRollback returns an error,
	// but still accepts the events.
	//
	// After a rollback, one transaction writes the evidence (the events of AppendEvidence) and then the events of
	// AppendOnRollback. If Do has lost its connection during the commit, the session may have committed nevertheless. The
	// evidence is then stored already, so this transaction fails with a conflict and writes nothing. A session that has
	// appended evidence therefore leaves no event about a rollback that did not happen.
	AppendOnRollback(ctx context.Context, events ...domain.AuditEvent) error

	// Trail returns the subject's events in the order in which the store accepted them, independent of clocks. The events
	// of one session are in the order in which they were appended. A whole number in a payload is returned as int64.
	Trail(ctx context.Context, id domain.SubjectID) ([]domain.AuditEvent, error)
}
