package porttest

import "testing"

// TestSubjectStore checks that a store keeps the promises of ports.SubjectStore, on the shop that DataMap describes:
//
//	promise                                                          case
//	an id that the key's type cannot hold is ErrSubject              subject ids that do not fit are refused
//	ids are checked before any statement                             subject ids are checked before any statement
//	an id is matched whole, and exactly                              subject ids are matched whole
//	a session that locks the subject waits for another one that did  subject lock excludes other sessions
//	a lock ends with its session, and can be taken again             subject can be locked again
//	an erasure leaves a mark with its instant, a rectification none  subject lock leaves a mark
//	a rectification is told of erasures, and leaves no mark           subject lock to rectify knows erasures
//	a rectification and an erasure wait for each other               subject lock to rectify excludes erasures
//	a step deletes all rows of the subject, and counts them          subject rows are deleted
//	so it does with rows that refer to each other                    subject replies are deleted in one step
//	a row that others refer to is ErrConflict                        subject rows that others refer to are refused
//	a step anonymizes its columns, and counts the rows               subject columns are anonymized
//	rows are found over any number of relations                      subject rows are found over two hops
//	a retain step counts rows, and leaves them as they are           subject retained rows are counted
//	a retained cell whose duty is over is anonymized                 subject retention that is over is no reason
//	a surrogate fits its column, or is the constant of the data map  subject surrogates fit their columns
//	a surrogate stands where NULL stood, and is never NULL           subject surrogates replace NULL
//	texts and UUIDs get a different surrogate in each cell           subject surrogates are unique
//	no row of another subject is touched by any step                 subject steps touch nobody else
//	external steps and unknown tables are ErrManifest                subject steps are refused
//	steps that meet in a row, or have no column, are ErrManifest     subject steps on one row are refused
//	a session whose steps were refused cannot be committed           subject refused steps cannot be committed
//	a plan leaves of the subject what it retains, and all of others  subject plan erases all
//	a plan that is applied again comes to the same                   subject plan can be applied again
//	what a plan did is undone with its session                       subject plan can be rolled back
//	a subject without rows is no error                               subject without rows has none
//	the number of statements does not depend on that of rows         subject statements do not depend on rows
//	a right value reads back, for the application and an export      subject rectification reads back
//	all rows of the table are rectified and counted, if any          subject rectification counts rows
//	nobody else's rows and no other columns are rectified            subject rectification touches nothing else
//	the values of rectification.Planner.Plan can be written          subject rectification follows its plan
//	no values, an unknown table or column are ErrManifest            subject rectification is refused
//	a rectification is undone with its session                       subject rectification can be rolled back
//	of two sessions that rectify a row the later one stays           subject later rectification stays
//	a value that was given, or exported, is a copy                   subject values are copies
//	every annotated field of every row is exported, and no other     subject export is complete
//	tables, rows and fields come in their order                      subject export is in order
//	values are exported as what they are in the table                subject export has typed values
//	NULL is exported as nil                                          subject export has NULL as nil
//	a record says why, why still, and until when data is held        subject export says why
//	the ledgers' lines follow, in the order of intake                subject export has the ledgers
//	an error of yield ends the export and comes back                 subject export ends with yield
//	all of it is read from one snapshot                              subject export reads one snapshot
//	after a write of its session an export is ErrSession             subject export comes before writes
//	appends that are held back are no obstacle                       subject export may follow appends
func TestSubjectStore(t *testing.T, harness StoreHarness) {
	t.Helper()
	runStore(t, harness, subjectCases)
}

var subjectCases = []suiteCase[StoreHarness]{
	{"subject ids that do not fit are refused", subjectIDsThatDoNotFitAreRefused},
	{"subject ids are checked before any statement", subjectIDsAreCheckedBeforeAnyStatement},
	{"subject ids are matched whole", subjectIDsAreMatchedWhole},
	{"subject lock excludes other sessions", subjectLockExcludesOtherSessions},
	{"subject can be locked again", subjectCanBeLockedAgain},
	{"subject lock leaves a mark", subjectLockLeavesAMark},
	{"subject lock to rectify knows erasures", subjectLockToRectifyKnowsErasures},
	{"subject lock to rectify excludes erasures", subjectLockToRectifyExcludesErasures},
	{"subject rows are deleted", subjectRowsAreDeleted},
	{"subject replies are deleted in one step", subjectRepliesAreDeletedInOneStep},
	{"subject rows that others refer to are refused", subjectRowsThatOthersReferToAreRefused},
	{"subject columns are anonymized", subjectColumnsAreAnonymized},
	{"subject rows are found over two hops", subjectRowsAreFoundOverTwoHops},
	{"subject retained rows are counted", subjectRetainedRowsAreCounted},
	{"subject retention that is over is no reason", subjectRetentionThatIsOverIsNoReason},
	{"subject surrogates fit their columns", subjectSurrogatesFitTheirColumns},
	{"subject surrogates replace NULL", subjectSurrogatesReplaceNULL},
	{"subject surrogates are unique", subjectSurrogatesAreUnique},
	{"subject steps touch nobody else", subjectStepsTouchNobodyElse},
	{"subject steps are refused", subjectStepsAreRefused},
	{"subject steps on one row are refused", subjectStepsOnOneRowAreRefused},
	{"subject refused steps cannot be committed", subjectRefusedStepsCannotBeCommitted},
	{"subject plan erases all", subjectPlanErasesAll},
	{"subject plan can be applied again", subjectPlanCanBeAppliedAgain},
	{"subject plan can be rolled back", subjectPlanCanBeRolledBack},
	{"subject without rows has none", subjectWithoutRowsHasNone},
	{"subject statements do not depend on rows", subjectStatementsDoNotDependOnRows},
	{"subject rectification reads back", subjectRectificationReadsBack},
	{"subject rectification counts rows", subjectRectificationCountsRows},
	{"subject rectification touches nothing else", subjectRectificationTouchesNothingElse},
	{"subject rectification follows its plan", subjectRectificationFollowsItsPlan},
	{"subject rectification is refused", subjectRectificationIsRefused},
	{"subject rectification can be rolled back", subjectRectificationCanBeRolledBack},
	{"subject later rectification stays", subjectLaterRectificationStays},
	{"subject values are copies", subjectValuesAreCopies},
	{"subject export is complete", subjectExportIsComplete},
	{"subject export is in order", subjectExportIsInOrder},
	{"subject export has typed values", subjectExportHasTypedValues},
	{"subject export has NULL as nil", subjectExportHasNULLAsNil},
	{"subject export says why", subjectExportSaysWhy},
	{"subject export has the ledgers", subjectExportHasTheLedgers},
	{"subject export ends with yield", subjectExportEndsWithYield},
	{"subject export reads one snapshot", subjectExportReadsOneSnapshot},
	{"subject export comes before writes", subjectExportComesBeforeWrites},
	{"subject export may follow appends", subjectExportMayFollowAppends},
}
