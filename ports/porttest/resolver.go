package porttest

import (
	"testing"
	"time"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/internal/promise"
	"github.com/habeas-data/habeas/ports"
)

// ResolverHarness makes what TestResolver works with.
type ResolverHarness struct {
	// Open returns a resolver and the external system that it talks to, seeded, healthy and shared with nobody. It is
	// called once for each case, and again for each fault. What has to be cleaned up is registered with t.Cleanup.
	Open func(t testing.TB) ResolverSystem
	// Patience is how long a call may take after its deadline has passed; 0 means 10 s.
	Patience time.Duration
}

func (h ResolverHarness) patience() time.Duration {
	if h.Patience == 0 {
		return 10 * time.Second
	}
	return h.Patience
}

// ResolverSystem is a resolver and the external system that it answers for: a fake, a sandbox or a recording.
type ResolverSystem struct {
	// Resolver is what is tested. Required.
	Resolver ports.Resolver

	// Populated names a subject who has a value in every field of the covered surface, in two objects for each family of
	// fields ({id}), and in everything that the surface excludes. Required.
	Populated domain.SubjectRef
	// Bystander names another subject who has data, and who must never notice. Required.
	Bystander domain.SubjectRef
	// Absent names nobody, by an id that the system could have. Required.
	Absent domain.SubjectRef

	// Keys are keys of the system for a resolver that takes keys (ports.KeyResolver). Without them, the case is skipped.
	Keys ResolverKeys

	// Excluded are texts, such as a message's body, that the system holds of Populated in what the surface excludes. They
	// must be there when the surface has exclusions, and must occur nowhere else.
	Excluded []string
	// Secrets must never be in the text of an error: tokens, hosts, what the system writes in its own error messages.
	// The values of the refs are secrets without being listed; all of them should be too long to occur by chance.
	Secrets []string

	// Transient are faults after which trying again can succeed; at least one is required.
	Transient []ResolverFault
	// Permanent are refusals that trying again would meet again; without one, the case is skipped.
	Permanent []ResolverFault
	// Heal ends the fault that was injected. Required.
	Heal func()
	// Hang makes the system accept calls and not answer, until t ends. Without it, the case is skipped.
	Hang func()
}

// ResolverKeys are keys of an external system.
type ResolverKeys struct {
	Populated []string // two or more, with data under each; of the subject Populated or not
	Bystander string   // with data that must stay
	Absent    string   // without data, but one that the system could have
}

// ResolverFault is a way in which the external system fails.
type ResolverFault struct {
	Name   string
	Inject func() // from now on every call meets the fault, until Heal

	SparesExport bool // ExportSubject works all the same
	SparesErase  bool // EraseSubject works all the same
}

// TestResolver checks that a resolver keeps the promises of ports.Resolver and of the errors that it returns.
func TestResolver(t *testing.T, harness ResolverHarness) {
	t.Helper()
	promise.Hold(t, resolverPromises, harness, nil)
}

// resolverPromises are the cases by name. They take a testing.TB, so that the suite's own test can watch them fail.
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
	promise.That(resolverAbsentSubjectIsErasedAlready,
		"An erasure of an unknown subject succeeds with alreadyAbsent."),
	promise.That(resolverErasureLeavesNothingToExport, "An export after an erasure returns no erased data."),
	promise.That(resolverErasureLeavesOthersAlone, "An erasure does not affect other subjects."),
	promise.That(resolverErasureCanBeRepeated,
		"A repeated erasure succeeds, for the same entry and for another entry."),
	promise.That(resolverKeysAreExportedAndErased,
		"Only the given keys are exported and erased, and a repeated call succeeds."),
	promise.That(resolverKeyIsNotMatchedAsAPrefix, "A key never matches another key that begins with it."),
	promise.That(resolverTransientFaultIsTriedAgain, "A transient fault is not reported as a ResolverError."),
	promise.That(resolverErasureSucceedsOnceTheFaultHasPassed,
		"The same entry succeeds after the transient fault has passed."),
	promise.That(resolverPermanentFaultIsAResolverError, "A permanent refusal is reported as a ResolverError."),
	promise.That(resolverErrorsContainNoSecrets,
		"An error names the resolver, and contains no identifier, secret or URL."),
	promise.That(resolverEndedContextEndsTheCall, "A call with an ended context returns the error of the context."),
	promise.That(resolverDeadlineIsHonoured, "A call returns at its deadline, even if the system does not respond."),
	promise.That(resolverCallsCanBeMadeConcurrently, "A resolver is safe for concurrent use (run with -race)."),
}

// open opens a system and checks that it is complete.
func (h ResolverHarness) open(t testing.TB) ResolverSystem {
	t.Helper()
	s := h.Open(t)
	switch {
	case s.Resolver == nil || s.Heal == nil || len(s.Transient) == 0:
		t.Fatalf("the harness is incomplete: Resolver, Heal and at least one transient fault are required")
	case s.Keys.Absent != "" && (len(s.Keys.Populated) < 2 || s.Keys.Bystander == ""):
		t.Fatalf("the harness is incomplete: Keys need two Populated, a Bystander and an Absent")
	case s.Populated.Value == "" || s.Bystander.Value == "" || s.Absent.Value == "":
		t.Fatalf("the harness is incomplete: Populated, Bystander and Absent are required")
	}
	return s
}
