package porttest

import (
	"slices"
	"testing"

	"github.com/habeas-data/habeas/internal/promise"
)

// TestSubjectStore checks that a store keeps the promises of ports.SubjectStore and ports.ErasureVerifier, on the shop
// that DataMap describes.
func TestSubjectStore(t *testing.T, harness StoreHarness) {
	t.Helper()
	promise.Hold(t, subjectPromises, harness, harness.Waive)
}

var subjectPromises = slices.Concat(subjectStorePromises, verificationPromises)

var subjectStorePromises = []promise.Promise[StoreHarness]{
	that(subjectIDsThatDoNotFitAreRefused, "an id that the key's type cannot hold is ErrSubject"),
	that(subjectIDsAreCheckedBeforeAnyStatement, "ids are checked before any statement"),
	that(subjectIDsAreMatchedWhole, "an id is matched whole, and exactly"),
	that(subjectLockExcludesOtherSessions, "a session that locks the subject waits for another one that did"),
	that(subjectCanBeLockedAgain, "a lock ends with its session, and can be taken again"),
	that(subjectLockLeavesAMark, "an erasure leaves a mark with its instant, a rectification none"),
	that(subjectLockToRectifyKnowsErasures, "a rectification is told of erasures, and leaves no mark"),
	that(subjectLockToRectifyExcludesErasures, "a rectification and an erasure wait for each other"),
	that(subjectRowsAreDeleted, "a step deletes all rows of the subject, and counts them"),
	that(subjectRepliesAreDeletedInOneStep, "so it does with rows that refer to each other"),
	that(subjectRowsThatOthersReferToAreRefused, "a row that others refer to is ErrConflict"),
	that(subjectColumnsAreAnonymized, "a step anonymizes its columns, and counts the rows"),
	that(subjectRowsAreFoundOverTwoHops, "rows are found over any number of relations"),
	that(subjectRetainedRowsAreCounted, "a retain step counts rows, and leaves them as they are"),
	that(subjectRetentionThatIsOverIsNoReason, "a retained cell whose duty is over is anonymized"),
	that(subjectSurrogatesFitTheirColumns, "a surrogate fits its column, or is the constant of the data map"),
	that(subjectSurrogatesReplaceNULL, "a surrogate stands where NULL stood, and is never NULL"),
	that(subjectSurrogatesAreUnique, "texts and UUIDs get a different surrogate in each cell"),
	that(subjectCellsAreSetToNULL, "a column that says null is set to NULL"),
	that(subjectSurrogatesCanBeEmpty, "a constant can be the empty text"),
	that(subjectPlaceholdersAreFilled, "placeholders are filled with digits that differ in each cell, and fit"),
	that(subjectStepsTouchNobodyElse, "no row of another subject is touched by any step"),
	that(subjectStepsAreRefused, "external steps and unknown tables are ErrManifest"),
	that(subjectStepsOnOneRowAreRefused, "steps that meet in a row, or have no column, are ErrManifest"),
	that(subjectRefusedStepsCannotBeCommitted, "a session whose steps were refused cannot be committed"),
	that(subjectPlanErasesAll, "a plan leaves of the subject what it retains, and all of others"),
	that(subjectPlanCanBeAppliedAgain, "a plan that is applied again comes to the same"),
	that(subjectPlanCanBeRolledBack, "what a plan did is undone with its session"),
	that(subjectWithoutRowsHasNone, "a subject without rows is no error"),
	that(subjectStatementsDoNotDependOnRows, "the number of statements does not depend on that of rows"),
	that(subjectRectificationReadsBack, "a right value reads back, for the application and an export"),
	that(subjectRectificationCountsRows, "all rows of the table are rectified and counted, if any"),
	that(subjectRectificationTouchesNothingElse, "nobody else's rows and no other columns are rectified"),
	that(subjectRectificationOfOneRow, "a step with a row rectifies that row, if it is the subject's"),
	that(subjectRectificationFollowsItsPlan, "the values of rectification.Planner.Plan can be written"),
	that(subjectRectificationIsRefused, "no values, an unknown table or column are ErrManifest"),
	that(subjectRectificationCanBeRolledBack, "a rectification is undone with its session"),
	that(subjectLaterRectificationStays, "of two sessions that rectify a row the later one stays"),
	that(subjectValuesAreCopies, "a value that was given, or exported, is a copy"),
	that(subjectKeysAreRead, "keys for a system are all that the subject's rows hold, each once and in order"),
	that(subjectKeysComeInPages, "keys come in pages, after one and up to a limit"),
	that(subjectKeysOfRetainedCellsStay, "keys of cells that an erasure retains are left out"),
	that(subjectSharedRowsAreExportedInParts, "of a row about several people each gets their part, once"),
	that(subjectSharedRowsAreErasedInParts, "of such a row the part of one is erased: cells, row or reference"),
	that(subjectSharedRowsAreRetainedInParts, "a duty to keep the part of one keeps none of another"),
	that(subjectSharedRowsAreRectifiedInParts, "the part of one is rectified"),
	that(subjectConditionsPickRows, "a relation with a condition holds for the rows with its value"),
	that(subjectStepsNameTheirPath, "a step that is about no path of its table is ErrManifest"),
	that(subjectExportIsComplete, "every annotated field of every row is exported, and no other"),
	that(subjectExportIsInOrder, "tables, rows and fields come in their order"),
	that(subjectExportKeepsSecrets, "what says export:no is corrected and erased, and never exported"),
	that(subjectExportHasTypedValues, "values are exported as what they are in the table"),
	that(subjectExportHasNULLAsNil, "NULL is exported as nil"),
	that(subjectExportSaysWhy, "a record says why, why still, and until when data is held"),
	that(subjectExportTellsWhatWasErased, "of a subject that was erased, surrogates are not exported"),
	that(subjectExportHasTheLedgers, "the ledgers' lines follow, in the order of intake"),
	that(subjectExportEndsWithYield, "an error of yield ends the export and comes back"),
	that(subjectExportReadsOneSnapshot, "all of it is read from one snapshot"),
	that(subjectExportComesBeforeWrites, "after a write of its session an export is ErrSession"),
	that(subjectExportMayFollowAppends, "appends that are held back are no obstacle"),
}
