package porttest

import (
	"slices"
	"testing"
)

// TestOutbox checks that a store keeps the promises of ports.Outbox and of domain.Settlement:
//
//	promise                                                          case
//	entries are there for others with the commit, not before         outbox entries come with the commit
//	what a session enqueued goes with its rollback                   outbox entries go with a rollback
//	an EntryID that is there already is ErrConflict                  outbox entry ids are unique
//	an entry is claimed with all that it was enqueued with           outbox entries come back as enqueued
//	its instants come back in UTC and whole microseconds             outbox instants are in UTC and microseconds
//	corrections come back as encoding/json has them                  outbox corrections come back as JSON
//	what was enqueued, settled or returned is a copy                 outbox keeps copies
//	what a session holds back is there for its own claim             outbox session claims what it enqueued
//	due is what is pending, failed or in flight, and has its time    outbox claim takes what is due
//	what succeeded or was abandoned is never due                     outbox claim leaves what is settled for good
//	an instant that is the claim's own is due                        outbox claim takes an entry at its instant
//	a lease that has expired makes an entry due again                outbox claim takes an expired lease
//	the oldest are taken, by (EnqueuedAt, EntryID), and come first   outbox claim takes the oldest first
//	no more than the limit are taken                                 outbox claim keeps to the limit
//	what is taken is in flight, with its attempt and its lease       outbox claim marks what it takes
//	a claim is undone with its session                               outbox claim can be rolled back
//	claims at the same time get different entries (run with -race)   outbox claims share no entry
//	claims at the same time do not wait, where the store can do that outbox claims do not wait for each other
//	a failure keeps its class, and waits for its next attempt        outbox failure is tried again in its time
//	what was never tried is given back with the attempt taken off    outbox untried entry is given back
//	only failures have a next attempt, and none but these an error   outbox next attempt is a failure's
//	an abandoned erasure keeps its ref                               outbox abandoned erasure keeps its ref
//	an abandoned rectification keeps neither ref nor corrections     outbox abandoned rectification is forgotten
//	a success keeps neither ref nor corrections                      outbox success is forgotten
//	the lease token is cleared                                       outbox settlement ends the lease
//	a settlement under another lease is stale and changes nothing    outbox settlement under a lost lease is stale
//	results are in the order of the settlements                      outbox results are in order
//	of two settlements in one call, the second is stale              outbox entry is settled once in a call
//	a settlement is undone with its session                          outbox settlement can be rolled back
//	the last success of a subject and operation completes            outbox last success completes
//	entries in any other state hold it back                          outbox open entries hold completion back
//	abandoned erasures hold it back, until they are requeued         outbox abandoned erasures hold completion back
//	abandoned rectifications do not hold it back                     outbox abandoned rectifications hold nothing back
//	exactly one of many sessions at the same time completes          outbox settlements at once complete once
//	a session that settles decides under a lock                      outbox overlapping settlements complete once
//	every status is counted, with 0 if need be                       outbox counts have every status
//	abandoned entries come by (EnqueuedAt, EntryID)                  outbox abandoned entries come by age
//	up to limit of them, after the one given                         outbox abandoned entries come in pages
//	a requeued erasure is as if never tried                          outbox requeue makes erasures new
//	what is not abandoned, or no erasure, is left as it is           outbox requeue leaves the rest alone
//	the subject's open rectifications are abandoned and forgotten    outbox withdraw abandons rectifications
//	nothing else is withdrawn                                        outbox withdraw leaves others alone
//	the outcome of a withdrawn entry is stale                        outbox withdrawn entry has lost its lease
//	what succeeded and was enqueued before the instant is removed    outbox purge removes what succeeded
//	nothing else is removed                                          outbox purge leaves the rest alone
//	no more than the limit are removed                               outbox purge keeps to the limit
//	a claim with targets takes only theirs, and leaves the others    outbox claim takes what its caller knows
//	a clock that was ahead keeps no entry waiting                    outbox claim takes what a wrong clock put off
//	what cannot be read is abandoned, and fails no other             outbox claim abandons what it cannot read
//	what was due for long is marked once, and stays claimable        outbox unclaimed entries are marked once
//	a limit of 0 or less, and no settlement, is nothing              outbox takes nothing for nothing
//	reading is no write                                              outbox reading is no write
//	any number of ids is requeued                                    outbox requeue takes any number of ids
//	resolvers have equal shares, and what others leave over          outbox claim shares its limit among resolvers
//	so have new entries and retries                                  outbox claim shares its limit with retries
//	claims of one take turns                                         outbox claim of one takes turns
//	no more than its own limit is taken of a resolver                outbox claim keeps to the limit of a resolver
//	DueFrom passes over nothing that is due since then               outbox claim takes what is due from an instant on
//
// And those of ports.OutboxOperations, where a store implements it:
//
//	what is left is counted by resolver and status, and since when   outbox backlog counts by resolver
//	abandoned erasures are requeued by resolver and age              outbox requeue takes what matches
//	what was abandoned succeeds, and is forgotten                    outbox discard settles what was abandoned
//	the last one of a subject's erasure completes                    outbox discard completes an erasure
//	the first claim after a requeue is kept                          outbox knows since when a requeued entry is tried
func TestOutbox(t *testing.T, harness StoreHarness) {
	t.Helper()
	runStore(t, harness, outboxCases)
}

var outboxCases = slices.Concat(outboxEntryCases, outboxFleetCases, outboxFairCases, outboxOperationsCases)

// outboxFleetCases are about processes that differ, in what they know or by their clocks, and about what is not as
// expected.
var outboxFleetCases = []suiteCase[StoreHarness]{
	{"outbox claim takes what its caller knows", outboxClaimTakesWhatItsCallerKnows},
	{"outbox claim takes what a wrong clock put off", outboxClaimTakesWhatAWrongClockPutOff},
	{"outbox claim abandons what it cannot read", outboxClaimAbandonsWhatItCannotRead},
	{"outbox unclaimed entries are marked once", outboxUnclaimedEntriesAreMarkedOnce},
	{"outbox takes nothing for nothing", outboxTakesNothingForNothing},
	{"outbox reading is no write", outboxReadingIsNoWrite},
	{"outbox requeue takes any number of ids", outboxRequeueTakesAnyNumberOfIDs},
}

var outboxEntryCases = []suiteCase[StoreHarness]{
	{"outbox entries come with the commit", outboxEntriesComeWithTheCommit},
	{"outbox entries go with a rollback", outboxEntriesGoWithARollback},
	{"outbox entry ids are unique", outboxEntryIDsAreUnique},
	{"outbox entries come back as enqueued", outboxEntriesComeBackAsEnqueued},
	{"outbox instants are in UTC and microseconds", outboxInstantsAreInUTCAndMicroseconds},
	{"outbox corrections come back as JSON", outboxCorrectionsComeBackAsJSON},
	{"outbox keeps copies", outboxKeepsCopies},
	{"outbox session claims what it enqueued", outboxSessionClaimsWhatItEnqueued},
	{"outbox claim takes what is due", outboxClaimTakesWhatIsDue},
	{"outbox claim leaves what is settled for good", outboxClaimLeavesWhatIsSettledForGood},
	{"outbox claim takes an entry at its instant", outboxClaimTakesAnEntryAtItsInstant},
	{"outbox claim takes an expired lease", outboxClaimTakesAnExpiredLease},
	{"outbox claim takes the oldest first", outboxClaimTakesTheOldestFirst},
	{"outbox claim keeps to the limit", outboxClaimKeepsToTheLimit},
	{"outbox claim marks what it takes", outboxClaimMarksWhatItTakes},
	{"outbox claim can be rolled back", outboxClaimCanBeRolledBack},
	{"outbox claims share no entry", outboxClaimsShareNoEntry},
	{"outbox claims do not wait for each other", outboxClaimsDoNotWaitForEachOther},
	{"outbox failure is tried again in its time", outboxFailureIsTriedAgainInItsTime},
	{"outbox untried entry is given back", outboxUntriedEntryIsGivenBack},
	{"outbox next attempt is a failure's", outboxNextAttemptIsAFailures},
	{"outbox abandoned erasure keeps its ref", outboxAbandonedErasureKeepsItsRef},
	{"outbox abandoned rectification is forgotten", outboxAbandonedRectificationIsForgotten},
	{"outbox success is forgotten", outboxSuccessIsForgotten},
	{"outbox settlement ends the lease", outboxSettlementEndsTheLease},
	{"outbox settlement under a lost lease is stale", outboxSettlementUnderALostLeaseIsStale},
	{"outbox results are in order", outboxResultsAreInOrder},
	{"outbox entry is settled once in a call", outboxEntryIsSettledOnceInACall},
	{"outbox settlement can be rolled back", outboxSettlementCanBeRolledBack},
	{"outbox last success completes", outboxLastSuccessCompletes},
	{"outbox open entries hold completion back", outboxOpenEntriesHoldCompletionBack},
	{"outbox abandoned erasures hold completion back", outboxAbandonedErasuresHoldCompletionBack},
	{"outbox abandoned rectifications hold nothing back", outboxAbandonedRectificationsHoldNothingBack},
	{"outbox settlements at once complete once", outboxSettlementsAtOnceCompleteOnce},
	{"outbox overlapping settlements complete once", outboxOverlappingSettlementsCompleteOnce},
	{"outbox counts have every status", outboxCountsHaveEveryStatus},
	{"outbox abandoned entries come by age", outboxAbandonedEntriesComeByAge},
	{"outbox abandoned entries come in pages", outboxAbandonedEntriesComeInPages},
	{"outbox requeue makes erasures new", outboxRequeueMakesErasuresNew},
	{"outbox requeue leaves the rest alone", outboxRequeueLeavesTheRestAlone},
	{"outbox withdraw abandons rectifications", outboxWithdrawAbandonsRectifications},
	{"outbox withdraw leaves others alone", outboxWithdrawLeavesOthersAlone},
	{"outbox withdrawn entry has lost its lease", outboxWithdrawnEntryHasLostItsLease},
	{"outbox purge removes what succeeded", outboxPurgeRemovesWhatSucceeded},
	{"outbox purge leaves the rest alone", outboxPurgeLeavesTheRestAlone},
	{"outbox purge keeps to the limit", outboxPurgeKeepsToTheLimit},
}
