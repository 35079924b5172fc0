package porttest

import (
	"slices"
	"testing"

	"github.com/habeas-data/habeas/internal/promise"
)

// TestOutbox checks that a store keeps the promises of ports.Outbox and of domain.Settlement.
func TestOutbox(t *testing.T, harness StoreHarness) {
	t.Helper()
	promise.Hold(t, outboxPromises, harness, harness.Waive)
}

var outboxPromises = slices.Concat(
	outboxEntryPromises, outboxFleetPromises, outboxFairPromises, outboxOperationsPromises,
)

// outboxFleetPromises are about processes that differ, in what they know or by their clocks, and about what is not as
// expected.
var outboxFleetPromises = []promise.Promise[StoreHarness]{
	that(outboxClaimTakesWhatItsCallerKnows, "a claim with targets takes only theirs, and leaves the others"),
	that(outboxClaimTakesWhatAWrongClockPutOff, "a clock that was ahead keeps no entry waiting"),
	that(outboxClaimAbandonsWhatItCannotRead, "what cannot be read is abandoned, and fails no other"),
	that(outboxUnclaimedEntriesAreMarkedOnce, "what was due for long is marked once, and stays claimable"),
	that(outboxTakesNothingForNothing, "a limit of 0 or less, and no settlement, is nothing"),
	that(outboxReadingIsNoWrite, "reading is no write"),
	that(outboxRequeueTakesAnyNumberOfIDs, "any number of ids is requeued"),
}

var outboxEntryPromises = []promise.Promise[StoreHarness]{
	that(outboxEntriesComeWithTheCommit, "entries are there for others with the commit, not before"),
	that(outboxEntriesGoWithARollback, "what a session enqueued goes with its rollback"),
	that(outboxEntryIDsAreUnique, "an EntryID that is there already is ErrConflict"),
	that(outboxEntriesComeBackAsEnqueued, "an entry is claimed with all that it was enqueued with"),
	that(outboxInstantsAreInUTCAndMicroseconds, "its instants come back in UTC and whole microseconds"),
	that(outboxCorrectionsComeBackAsJSON, "corrections come back as encoding/json has them"),
	that(outboxKeepsCopies, "what was enqueued, settled or returned is a copy"),
	that(outboxSessionClaimsWhatItEnqueued, "what a session holds back is there for its own claim"),
	that(outboxClaimTakesWhatIsDue, "due is what is pending, failed or in flight, and has its time"),
	that(outboxClaimLeavesWhatIsSettledForGood, "what succeeded or was abandoned is never due"),
	that(outboxClaimTakesAnEntryAtItsInstant, "an instant that is the claim's own is due"),
	that(outboxClaimTakesAnExpiredLease, "a lease that has expired makes an entry due again"),
	that(outboxClaimTakesTheOldestFirst, "the oldest are taken, by (EnqueuedAt, EntryID), and come first"),
	that(outboxClaimKeepsToTheLimit, "no more than the limit are taken"),
	that(outboxClaimMarksWhatItTakes, "what is taken is in flight, with its attempt and its lease"),
	that(outboxClaimCanBeRolledBack, "a claim is undone with its session"),
	that(outboxClaimsShareNoEntry, "claims at the same time get different entries (run with -race)"),
	that(outboxClaimsDoNotWaitForEachOther, "claims at the same time do not wait, where the store can do that"),
	that(outboxFailureIsTriedAgainInItsTime, "a failure keeps its class, and waits for its next attempt"),
	that(outboxUntriedEntryIsGivenBack, "what was never tried is given back with the attempt taken off"),
	that(outboxNextAttemptIsAFailures, "only failures have a next attempt, and none but these an error"),
	that(outboxAbandonedErasureKeepsItsRef, "an abandoned erasure keeps its ref"),
	that(outboxAbandonedRectificationIsForgotten, "an abandoned rectification keeps neither ref nor corrections"),
	that(outboxSuccessIsForgotten, "a success keeps neither ref nor corrections"),
	that(outboxSettlementEndsTheLease, "the lease token is cleared"),
	that(outboxSettlementUnderALostLeaseIsStale, "a settlement under another lease is stale and changes nothing"),
	that(outboxResultsAreInOrder, "results are in the order of the settlements"),
	that(outboxEntryIsSettledOnceInACall, "of two settlements in one call, the second is stale"),
	that(outboxSettlementCanBeRolledBack, "a settlement is undone with its session"),
	that(outboxLastSuccessCompletes, "the last success of a subject and operation completes"),
	that(outboxOperationsCompleteOneByOne, "operations of one subject complete by their OperationID"),
	that(outboxOpenEntriesHoldCompletionBack, "entries in any other state hold it back"),
	that(outboxAbandonedErasuresHoldCompletionBack, "abandoned erasures hold it back, until they are requeued"),
	that(outboxAbandonedRectificationsHoldNothingBack, "abandoned rectifications do not hold it back"),
	that(outboxSettlementsAtOnceCompleteOnce, "exactly one of many sessions at the same time completes"),
	that(outboxOverlappingSettlementsCompleteOnce, "a session that settles decides under a lock"),
	that(outboxCountsHaveEveryStatus, "every status is counted, with 0 if need be"),
	that(outboxAbandonedEntriesComeByAge, "abandoned entries come by (EnqueuedAt, EntryID)"),
	that(outboxAbandonedEntriesComeInPages, "up to limit of them, after the one given"),
	that(outboxRequeueMakesErasuresNew, "a requeued erasure is as if never tried"),
	that(outboxRequeueLeavesTheRestAlone, "what is not abandoned, or no erasure, is left as it is"),
	that(outboxWithdrawAbandonsRectifications, "the subject's open rectifications are abandoned and forgotten"),
	that(outboxWithdrawLeavesOthersAlone, "nothing else is withdrawn"),
	that(outboxWithdrawnEntryHasLostItsLease, "the outcome of a withdrawn entry is stale"),
	that(outboxPurgeRemovesWhatSucceeded, "what succeeded and was enqueued before the instant is removed"),
	that(outboxPurgeLeavesTheRestAlone, "nothing else is removed"),
	that(outboxPurgeKeepsToTheLimit, "no more than the limit are removed"),
}
