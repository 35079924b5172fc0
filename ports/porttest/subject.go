package porttest

import (
	"slices"
	"testing"

	"github.com/habeas-data/habeas/internal/promise"
)

// TestSubjectStore checks that a store keeps the promises of ports.SubjectStore and ports.ErasureVerifier on the tables
// of DataMap.
func TestSubjectStore(t *testing.T, harness StoreHarness) {
	t.Helper()
	promise.Hold(t, subjectPromises, harness, harness.Waive)
}

var subjectPromises = slices.Concat(subjectStorePromises, verificationPromises)

var subjectStorePromises = []promise.Promise[StoreHarness]{
	that(subjectIDsThatDoNotFitAreRefused, "An id that does not fit the type of the key returns ErrSubject."),
	that(subjectIDsAreCheckedBeforeAnyStatement, "The store checks an id before it sends a statement."),
	that(subjectIDsAreMatchedWhole, "The store compares all elements of an id exactly."),
	that(subjectLockExcludesOtherSessions,
		"A session that locks a subject waits for another session that holds the lock."),
	that(subjectCanBeLockedAgain, "A lock ends with its session, and another session can take the lock again."),
	that(subjectLockLeavesAMark,
		"Lock stores a mark with the instant of the erasure, and LockToRectify stores no mark."),
	that(subjectLockToRectifyKnowsErasures,
		"LockToRectify reports whether the subject was erased, and leaves no mark."),
	that(subjectLockToRectifyExcludesErasures, "A rectification and an erasure of one subject wait for each other."),
	that(subjectRowsAreDeleted, "A delete step deletes all rows of the subject and counts them."),
	that(subjectRepliesAreDeletedInOneStep, "A delete step deletes rows that refer to each other."),
	that(subjectRowsThatOthersReferToAreRefused,
		"A step returns ErrConflict if a row outside of the step refers to a row that it deletes."),
	that(subjectColumnsAreAnonymized, "An anonymize step overwrites its columns and counts the rows."),
	that(subjectRowsAreFoundOverTwoHops, "The store finds rows over any number of relations."),
	that(subjectRetainedRowsAreCounted, "A retain step counts the rows and does not change them."),
	that(subjectCellsWithExpiredRetentionAreAnonymized,
		"A retained cell is anonymized if its retention period has ended."),
	that(subjectSurrogatesFitTheirColumns, "A surrogate fits its column, or is the constant of the data map."),
	that(subjectSurrogatesReplaceNULL, "A surrogate also replaces NULL, and is never NULL."),
	that(subjectSurrogatesAreUnique, "Each cell of type text or UUID gets a different surrogate."),
	that(subjectCellsAreSetToNULL, "A column with the rule null is set to NULL."),
	that(subjectSurrogatesCanBeEmpty, "A constant of the data map can be the empty text."),
	that(subjectPlaceholdersAreFilled,
		"A placeholder is replaced by digits that differ in each cell and fit the column."),
	that(subjectStepsLeaveOtherSubjectsAlone, "No step changes a row of another subject."),
	that(subjectStepsAreRefused, "A step for an external system or an unknown table returns ErrManifest."),
	that(subjectStepsOnOneRowAreRefused,
		"Steps that affect the same row differently, or that name no column, return ErrManifest."),
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
	that(subjectValuesAreCopies, "The store copies the values that it receives and exports."),
	that(subjectKeysAreRead, "Keys returns each key of the subject's rows for a system once, in order."),
	that(subjectKeysComeInPages, "Keys returns at most a limit of keys that follow a given key."),
	that(subjectKeysOfRetainedCellsStay, "Keys omits the keys of cells that an erasure retains."),
	that(subjectSharedRowsAreExportedInParts,
		"Each person of a shared row gets the cells that belong to the person, once."),
	that(subjectSharedRowsAreErasedInParts,
		"An erasure removes only the subject's cells, row or reference of a shared row."),
	that(subjectSharedRowsAreRetainedInParts,
		"A duty to retain one person's part of a shared row does not retain the other person's part."),
	that(subjectSharedRowsAreRectifiedInParts, "A rectification of a shared row writes only the subject's part."),
	that(subjectConditionsPickRows,
		"A relation with a condition applies only to the rows that hold the value of the condition."),
	that(subjectStepsNameTheirPath, "A step returns ErrManifest if it does not name a path of its table."),
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
		"An export of an erased subject also omits the surrogates in shared rows."),
	that(subjectExportHasTheLedgers, "The records of both ledgers follow the rows, in the order of recording."),
	that(subjectExportEndsWithYield, "An error of yield ends the export, and Export returns the error."),
	that(subjectExportReadsOneSnapshot, "An export reads all data from one snapshot."),
	that(subjectExportComesBeforeWrites, "Export returns ErrSession after a write of its session."),
	that(subjectExportMayFollowAppends, "Appends that the store holds back do not prevent an export."),
}
