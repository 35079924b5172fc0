package porttest

import (
	"slices"
	"testing"

	"github.com/habeas-data/habeas/internal/tests/promise"
)

// TestOutbox checks that a store keeps the promises of ports.Outbox and of domain.Settlement.
func TestOutbox(t *testing.T, harness StoreHarness) {
	t.Helper()
	promise.Hold(t, outboxPromises, harness, harness.Waive)
}

var outboxPromises = slices.Concat(
	outboxEntryPromises, outboxFleetPromises, outboxTakePromises, outboxOperationsPromises,
)

// outboxFleetPromises are the promises for processes that share an outbox, but have different resolvers, versions or
// clocks. They also include the promises about unexpected values.
var outboxFleetPromises = []promise.Promise[StoreHarness]{
	that(outboxClaimTakesEntriesOfItsTakes, "A claim takes only entries of its takes."),
	that(outboxClaimTakesEntriesDelayedByAWrongClock, "A clock that was ahead does not delay an entry."),
	that(outboxClaimAbandonsUnreadableEntries, "A claim abandons an entry that it cannot read, and returns the others."),
	that(outboxUnclaimedEntriesAreMarkedOnce,
		"Unclaimed returns an overdue entry once, and the entry stays due for Claim."),
	that(outboxIgnoresEmptyCalls,
		"A call with a limit of 0 or less, or with an empty list, changes nothing and returns no error."),
	that(outboxReadsDoNotCountAsWrites, "A read of the outbox does not count as a write of the session."),
	that(outboxRequeueTakesAnyNumberOfIDs, "Requeue accepts any number of ids."),
}

var outboxEntryPromises = []promise.Promise[StoreHarness]{
	that(outboxEntriesComeWithTheCommit, "Other sessions see the entries of a session only after its commit."),
	that(outboxEntriesGoWithARollback, "A rollback removes the entries that the session has enqueued."),
	that(outboxEntryIDsAreUnique, "Enqueue returns ErrConflict if the EntryID exists already."),
	that(outboxEntriesComeBackAsEnqueued, "A claim returns all values with which an entry was enqueued."),
	that(outboxInstantsAreInUTCAndMicroseconds, "The instants of an entry are returned in UTC and whole microseconds."),
	that(outboxCorrectionsComeBackAsJSON, "Corrections are returned as encoding/json decodes them."),
	that(outboxKeepsCopies, "The outbox copies the values that it receives and returns."),
	that(outboxSessionClaimsItsOwnEntries,
		"A session can claim the entries that it has enqueued, even if the store still buffers them."),
	that(outboxClaimTakesDueEntries, "A claim returns only entries that are due."),
	that(outboxClaimLeavesSucceededAndAbandonedEntries,
		"A claim never returns an entry that has succeeded or was abandoned."),
	that(outboxClaimTakesAnEntryAtItsInstant, "An entry is due at its instant, not only after it."),
	that(outboxClaimTakesAnExpiredLease, "An entry is due again when its lease has expired."),
	that(outboxClaimTakesTheOldestFirst, "A claim takes the oldest entries first, ordered by (EnqueuedAt, EntryID)."),
	that(outboxClaimKeepsToTheLimit, "A claim takes at most as many entries as its takes permit."),
	that(outboxClaimMarksItsEntries, "A claim marks its entries as in flight, counts the attempt and sets the lease."),
	that(outboxClaimCanBeRolledBack, "A rollback undoes a claim."),
	that(outboxClaimsShareNoEntry, "Concurrent claims take different entries (run with -race)."),
	that(outboxClaimsDoNotWaitForEachOther, "Concurrent claims do not wait for each other."),
	that(outboxFailureIsTriedAgainWhenDue,
		"A failed entry has the error class of its settlement, and is due at Settlement.NextAttemptAt."),
	that(outboxUntriedEntryIsGivenBack,
		"A settlement as pending makes the entry due again, and does not count the attempt."),
	that(outboxNextAttemptIsAFailures,
		"Only a settlement as failed sets a next attempt, and a settlement as pending clears the error."),
	that(outboxAbandonedErasureKeepsItsRef, "An abandoned erasure keeps its ref."),
	that(outboxAbandonedRectificationIsForgotten, "An abandoned rectification keeps no ref and no corrections."),
	that(outboxSuccessIsForgotten, "An entry that has succeeded keeps no ref and no corrections."),
	that(outboxSparedEntryWaitsForAnOperator,
		"A spared entry keeps no ref, holds no completion back, and stays listed until it is discarded."),
	that(outboxSettlementEndsTheLease, "A settlement clears the lease token."),
	that(outboxSettlementUnderALostLeaseIsStale,
		"A settlement with a different lease token is stale and changes nothing."),
	that(outboxResultsAreInOrder, "Settle returns its results in the order of the settlements."),
	that(outboxEntryIsSettledOnceInACall, "The second settlement of an entry in one call is stale."),
	that(outboxSettlementCanBeRolledBack, "A rollback undoes a settlement."),
	that(outboxLastSuccessCompletes, "The success of the last entry of an operation completes the operation."),
	that(outboxOperationsCompleteOneByOne, "Each operation of a subject completes by its own OperationID."),
	that(outboxOpenEntriesHoldCompletionBack,
		"A pending, failed or in-flight entry of the operation prevents completion."),
	that(outboxAbandonedErasuresHoldCompletionBack,
		"An abandoned erasure prevents completion until it is requeued and succeeds."),
	that(outboxAbandonedRectificationsHoldNothingBack, "An abandoned rectification does not prevent completion."),
	that(outboxConcurrentSettlementsCompleteOnce, "Exactly one of several concurrent sessions completes an operation."),
	that(outboxOverlappingSettlementsCompleteOnce,
		"Settle takes a lock before it decides whether an operation is complete."),
	that(outboxCountsHaveEveryStatus, "Counts returns every status, with 0 if it has no entries."),
	that(outboxAbandonedEntriesComeByAge, "Abandoned returns entries ordered by (EnqueuedAt, EntryID)."),
	that(outboxAbandonedEntriesComeInPages, "Abandoned returns at most limit entries that follow a given entry."),
	that(outboxRequeueMakesErasuresNew, "Requeue makes an abandoned erasure pending, as if it had never been tried."),
	that(outboxRequeueLeavesTheRestAlone, "Requeue ignores entries that are not abandoned erasures."),
	that(outboxWithdrawAbandonsRectifications,
		"Withdraw abandons the open rectifications of the subject and removes their refs and corrections."),
	that(outboxWithdrawLeavesOthersAlone, "Withdraw changes no other entry."),
	that(outboxWithdrawnEntryHasLostItsLease, "A settlement of a withdrawn entry is stale."),
	that(outboxPurgeRemovesSucceededEntries, "Purge removes succeeded entries that were enqueued before the instant."),
	that(outboxPurgeLeavesTheRestAlone, "Purge removes no other entry."),
	that(outboxPurgeKeepsToTheLimit, "Purge removes at most limit entries."),
}
