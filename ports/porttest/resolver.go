package porttest

import (
	"reflect"
	"testing"
	"time"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/internal/tests/promise"
	"github.com/habeas-data/habeas/ports"
)

// ResolverHarness creates the systems for TestResolver.
type ResolverHarness struct {
	// Open returns a resolver and its external system. The system works, contains the test data, and is not shared with
	// another case. Open is called once for each case, and again for each fault. Open registers its cleanup with
	// t.Cleanup. Required.
	Open func(t testing.TB) ResolverSystem
	// Patience is the time that a call may still take after its deadline. The default for 0 is 10 s.
	Patience time.Duration
}

func (h ResolverHarness) patience() time.Duration {
	if h.Patience == 0 {
		return 10 * time.Second
	}
	return h.Patience
}

// ResolverSystem is a resolver under test and its external system. The system may be a fake, a sandbox or a recording.
type ResolverSystem struct {
	// Resolver is the resolver under test. Required.
	Resolver ports.Resolver

	// Populated is the ref of a subject with test data. The subject has a value in every field of the covered surface (the
	// data that the resolver exports and erases), and values in all data that the surface excludes. A field name with {id}
	// stands for a family of fields, such as one field for each order. The subject has values for two different ids in
	// each family. Required.
	Populated domain.SubjectRef
	// Bystander is the ref of another subject with data. No call for other subjects may change this data. Required.
	Bystander domain.SubjectRef
	// Absent is the ref of a subject that the system does not know. The id must be valid in the system. Required.
	Absent domain.SubjectRef

	// Keys are keys of the system. Required if the resolver implements ports.KeyResolver, and not allowed otherwise.
	Keys ResolverKeys

	// Excluded are texts from the excluded data of the Populated subject, such as the body of a message. See
	// CoveredSurface.Exclusions. Required if the surface has exclusions. The texts must not occur in a covered field.
	Excluded []string
	// Secrets are texts that no error may contain, such as tokens, host names and error messages of the system. The values
	// of the refs and the Keys are secrets, too, and need not be listed. Each secret, ref and key should be so long that
	// no error contains it by chance.
	Secrets []string

	// Transient are faults after which a retry can succeed. At least one fault is required.
	Transient []ResolverFault
	// Permanent are faults in which the system refuses a call and would refuse each retry, too. Without Permanent, the
	// cases about permanent faults are skipped.
	Permanent []ResolverFault
	// Heal ends the injected fault. Required.
	Heal func()
	// Hang makes the system accept calls and send no response until the test ends. Without Hang, the cases about
	// deadlines are skipped.
	Hang func()
}

// ResolverKeys are keys of an external system.
type ResolverKeys struct {
	Populated []string // two or more keys under which the system has records, of any subject
	Bystander string   // a key with records that no call for other keys may change
	Absent    string   // a valid key without records
}

// ResolverFault is a way in which the external system can fail.
type ResolverFault struct {
	Name   string
	Inject func() // makes every call fail with the fault until ResolverSystem.Heal is called

	SparesExport bool // true if ExportSubject and ExportKeys succeed in spite of the fault
	SparesErase  bool // true if EraseSubject and EraseKeys succeed in spite of the fault
}

// TestResolver checks that a resolver keeps the promises of ports.Resolver, and that its errors follow the rules of
// domain.ResolverError and domain.RetryLaterError. If the resolver implements ports.KeyResolver, TestResolver also
// checks ExportKeys and EraseKeys.
//
// No case may be skipped. Check this with go test -v, because a skipped case does not fail the test. The suite skips
// cases if the harness does not set ResolverSystem.Permanent or ResolverSystem.Hang.
func TestResolver(t *testing.T, harness ResolverHarness) {
	t.Helper()
	promise.Hold(t, resolverPromises, harness, nil)
}

var resolverPromises = []promise.Promise[ResolverHarness]{
	promise.That(resolverNameIsValid, "The name has 1 to 255 characters and no comma."),
	promise.That(resolverNameAndSurfaceNeverChange, "The name and the covered surface never change."),
	promise.That(resolverSurfaceIsWellFormed, "The covered surface lists each field once, with a valid category."),
	promise.That(resolverExportStaysWithinTheSurface, "An export contains only fields of the covered surface."),
	promise.That(resolverSurfaceIsExportedInFull, "An export contains every field of the covered surface."),
	promise.That(resolverExclusionsAreNotExported, "An export contains no excluded data."),
	promise.That(resolverRecordsAreWellFormed,
		"Each record has a field, a row, and a value that an export bundle can hold."),
	promise.That(resolverAbsentSubjectHasNoRecords,
		"An export of an unknown subject returns no records and no error."),
	promise.That(resolverAbsentSubjectIsErasedAlready, "An erasure of an unknown subject succeeds with alreadyAbsent."),
	promise.That(resolverErasureLeavesNothingToExport, "An export after an erasure returns no erased data."),
	promise.That(resolverErasureLeavesOthersAlone, "An erasure does not affect other subjects."),
	promise.That(resolverErasureCanBeRepeated, "A repeated erasure succeeds, for the same entry and for another entry."),
	promise.That(resolverKeysAreExportedAndErased,
		"Only the given keys are exported and erased, and a repeated call succeeds."),
	promise.That(resolverKeyIsNotMatchedAsAPrefix, "A key never matches another key that begins with it."),
	promise.That(resolverTransientFaultIsTriedAgain,
		"During a transient fault, ExportSubject and EraseSubject return an error that is not a ResolverError."),
	promise.That(resolverErasureSucceedsOnceTheFaultHasPassed,
		"An erasure for the same entry succeeds after the transient fault has ended."),
	promise.That(resolverPermanentFaultIsAResolverError, "A permanent refusal is reported as a ResolverError."),
	promise.That(resolverErrorsContainNoSecrets,
		"An error names the resolver, and contains no identifier, secret or URL."),
	promise.That(resolverEndedContextEndsTheCall, "A call with an ended context returns the error of the context."),
	promise.That(resolverDeadlineIsHonoured, "A call returns at its deadline, even if the system does not respond."),
	promise.That(resolverTransientFaultIsTriedAgainForKeys,
		"During a transient fault, ExportKeys and EraseKeys return an error that is not a ResolverError."),
	promise.That(resolverErasureSucceedsOnceTheFaultHasPassedForKeys,
		"An erasure of keys for the same entry succeeds after the transient fault has ended."),
	promise.That(resolverPermanentFaultIsAResolverErrorForKeys,
		"ExportKeys and EraseKeys report a permanent refusal as a ResolverError."),
	promise.That(resolverErrorsContainNoSecretsForKeys,
		"An error of ExportKeys or EraseKeys names the resolver, and contains no key, identifier, secret or URL."),
	promise.That(resolverEndedContextEndsTheCallForKeys,
		"ExportKeys and EraseKeys return the error of a context that has ended."),
	promise.That(resolverDeadlineIsHonouredForKeys,
		"ExportKeys and EraseKeys return at the deadline, even if the system does not respond."),
	promise.That(resolverCallsCanBeMadeConcurrently, "A resolver is safe for concurrent use (run with -race)."),
	promise.That(resolverCallsCanBeMadeConcurrentlyForKeys,
		"ExportKeys and EraseKeys are safe for concurrent use (run with -race)."),
}

// open opens a system and checks that the harness is complete.
func (h ResolverHarness) open(t testing.TB) ResolverSystem {
	t.Helper()
	s := h.Open(t)
	_, takesKeys := s.Resolver.(ports.KeyResolver)
	switch {
	case s.Resolver == nil || s.Heal == nil || len(s.Transient) == 0:
		t.Fatalf("the harness is incomplete: Resolver, Heal and at least one transient fault are required")
	case takesKeys && (len(s.Keys.Populated) < 2 || s.Keys.Bystander == "" || s.Keys.Absent == ""):
		t.Fatalf("the harness is incomplete: the resolver implements ports.KeyResolver, so ResolverSystem.Keys needs two " +
			"Populated, a Bystander and an Absent")
	case !takesKeys && !reflect.ValueOf(s.Keys).IsZero():
		t.Fatalf("ResolverSystem.Keys is set, but the resolver does not implement ports.KeyResolver")
	case s.Populated.Value == "" || s.Bystander.Value == "" || s.Absent.Value == "":
		t.Fatalf("the harness is incomplete: Populated, Bystander and Absent are required")
	}
	return s
}
