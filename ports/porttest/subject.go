package porttest

import (
	"slices"
	"testing"

	"github.com/habeas-data/habeas/internal/promise"
)

// TestSubjectStore checks that a store keeps the promises of ports.SubjectStore and of ErasedStore.LeftOver on the
// tables of DataMap.
func TestSubjectStore(t *testing.T, harness StoreHarness) {
	t.Helper()
	promise.Hold(t, subjectPromises, harness, harness.Waive)
}

var subjectPromises = slices.Concat(subjectStorePromises, verificationPromises)

var subjectStorePromises = []promise.Promise[StoreHarness]{
	that(subjectIDsThatDoNotFitAreRefused, "A call with an id that does not fit the subject's key returns ErrSubject."),
	that(subjectIDsAreCheckedBeforeAnyStatement, "The store checks an id before it sends a statement."),
	that(subjectIDsAreMatchedWhole, "The store compares all elements of an id exactly."),
	that(subjectLockExcludesOtherSessions,
		"A session that locks a subject waits for another session that holds the lock."),
	that(subjectCanBeLockedAgain, "A lock ends with its session, and another session can take the lock again."),
	that(subjectLockLeavesAMark, "Lock stores the instant of the erasure in a mark, and LockToRectify stores no mark."),
	that(subjectLockToRectifyKnowsErasures,
		"LockToRectify reports whether the subject was erased, and leaves no mark."),
	that(subjectLockToRectifyExcludesErasures, "A rectification and an erasure of one subject run one after the other."),
	that(subjectRowsAreDeleted, "A delete step deletes all rows of the subject and counts them."),
	that(subjectRepliesAreDeletedInOneStep, "A delete step deletes rows that refer to each other."),
	that(subjectRowsThatOthersReferToAreRefused,
		"Apply returns ErrConflict if a row outside of a step refers to a row that the step deletes."),
	that(subjectColumnsAreAnonymized, "An anonymize step overwrites its columns and counts the rows."),
	that(subjectRowsAreFoundOverTwoHops,
		"The store finds rows that several relations in sequence connect to the subject."),
	that(subjectRetainedRowsAreCounted, "A retain step counts the rows and does not change them."),
	that(subjectCellsWithExpiredRetentionAreAnonymized,
		"A retained cell is anonymized if its retention period has ended."),
	that(subjectSurrogatesFitTheirColumns,
		"The value that overwrites a cell (the surrogate) fits the column, or is its constant in the data map."),
	that(subjectSurrogatesReplaceNULL,
		"An erasure also overwrites cells that hold NULL. It writes NULL only into columns with the strategy null."),
	that(subjectSurrogatesAreUnique, "Each cell of type text or UUID gets a different surrogate."),
	that(subjectCellsAreSetToNULL, "A column with the strategy null is set to NULL."),
	that(subjectSurrogatesCanBeEmpty, "A constant of the data map can be the empty text."),
	that(subjectPlaceholdersAreFilled, "A placeholder is replaced by digits that differ in each cell and fit the column."),
	that(subjectStepsLeaveOtherSubjectsAlone, "No step changes a row of another subject."),
	that(subjectStepsAreRefused, "Apply returns ErrManifest for a step for an external system or an unknown table."),
	that(subjectStepsOnOneRowAreRefused,
		"Apply returns ErrManifest for steps that affect one row differently, and for a step without columns."),
	that(subjectRefusedStepsCannotBeCommitted, "A session with refused steps cannot be committed."),
	that(subjectPlanErasesAll, "A plan leaves only the retained data of the subject, and all data of other subjects."),
	that(subjectPlanCanBeAppliedAgain, "A plan that is applied again has the same result."),
	that(subjectPlanCanBeRolledBack, "A rollback undoes the steps of a plan."),
	that(subjectWithoutRowsIsAccepted, "A subject without rows causes no error."),
	that(subjectStatementsDoNotDependOnRows, "The number of statements does not depend on the number of rows."),
	that(subjectRectificationReadsBack, "The application and an export read the corrected value."),
	that(subjectRectificationCountsRows,
		"A rectification writes to all rows of the table that belong to the subject, and counts them."),
	that(subjectRectificationTouchesNothingElse,
		"A rectification changes no other column and no row of another subject."),
	that(subjectRectificationOfOneRow,
		"A step with a row rectifies only this row, and only if the row belongs to the subject."),
	that(subjectRectificationFollowsItsPlan, "The store can write the values of rectification.Planner.Plan."),
	that(subjectRectificationIsRefused,
		"A rectification without values, or of an unknown table or column, returns ErrManifest."),
	that(subjectRectificationCanBeRolledBack, "A rollback undoes a rectification."),
	that(subjectLaterRectificationStays,
		"If two sessions rectify the same row, the row holds the value of the later session."),
	that(subjectValuesAreCopies, "The store copies each value that it receives, and each value that it exports."),
	that(subjectKeysAreRead, "Keys returns each key of an external system in the subject's rows once, in order."),
	that(subjectKeysComeInPages, "Keys returns at most query.Limit keys, and only keys after query.After."),
	that(subjectKeysOfCells, "With query.Cells, Keys returns only the keys in a column, of all rows or of one row."),
	that(subjectKeysOmitRetainedCells, "Keys omits the keys of cells that an erasure retains."),
	that(subjectSharedRowsAreExportedInParts,
		"If a row belongs to several people, an export contains each cell of the subject once, and no other cell."),
	that(subjectSharedRowsAreErasedInParts,
		"If a row belongs to several people, an erasure affects only what the data map assigns to the subject."),
	that(subjectSharedRowsAreRetainedInParts,
		"If a row belongs to several people, a duty to retain the part of one person retains no other part."),
	that(subjectSharedRowsAreRectifiedInParts,
		"If a row belongs to several people, a rectification writes only the cells of the subject."),
	that(subjectConditionsPickRows,
		"A relation with a condition applies only to the rows that hold the value of the condition."),
	that(subjectStepsNameTheirPath, "Apply returns ErrManifest for a step that does not name a path of its table."),
	that(subjectExportIsComplete, "An export contains every annotated field of every row, and no other field."),
	that(subjectExportIsInOrder, "An export returns tables, rows and fields in their defined order."),
	that(subjectExportOmitsSecrets, "Columns with export:no are rectified and erased, and never exported."),
	that(subjectExportHasTypedValues, "An export keeps the type that a value has in the table."),
	that(subjectExportHasNULLAsNil, "An export returns NULL as nil."),
	that(subjectExportStatesLegalGrounds,
		"A record states the purpose, the legal basis, the retention reason and the end of the retention."),
	that(subjectExportOmitsSurrogates,
		"An export of an erased subject marks erased cells as erased and omits their surrogates."),
	that(subjectExportOmitsSurrogatesOfSharedRows,
		"An export of an erased subject also omits the surrogates in rows that belong to several people."),
	that(subjectExportHasTheLedgers, "The records of both ledgers follow the rows, in the order of recording."),
	that(subjectExportEndsWithYield, "An error of yield ends the export, and Export returns the error."),
	that(subjectExportReadsOneSnapshot, "An export reads all data from one snapshot."),
	that(subjectExportComesBeforeWrites, "Export returns ErrSession after a write of its session."),
	that(subjectExportMayFollowAppends, "Appends that the store buffers do not prevent an export."),
}
