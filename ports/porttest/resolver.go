package porttest

import (
	"testing"
	"time"

	"github.com/habeas-data/habeas/domain"
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

// ResolverFault is a way in which the external system fails.
type ResolverFault struct {
	Name   string
	Inject func() // from now on every call meets the fault, until Heal

	SparesExport bool // ExportSubject works all the same
	SparesErase  bool // EraseSubject works all the same
}

// TestResolver checks that a resolver keeps the promises of ports.Resolver and of the errors that it returns:
//
//	promise                                                          case
//	the name is 1 to 255 characters without a comma                  name is valid
//	the name and the surface never change                            name and surface never change
//	the surface lists fields once, in categories there are           surface is well formed
//	an export stays within the covered surface                       export stays within the surface
//	the covered surface promises nothing that is not exported        surface is exported in full
//	what is excluded is not exported                                 exclusions are not exported
//	records have a row, and a value that a bundle can hold           records are well formed
//	a subject that is not known has no records, which is no error    absent subject has no records
//	erasing a subject that is not known succeeds, alreadyAbsent      absent subject is erased already
//	what was erased is exported no more                              erasure leaves nothing to export
//	nobody else is erased                                            erasure leaves others alone
//	erasing again succeeds, for the same entry and another           erasure can be repeated
//	a fault that passes is no ResolverError                          transient fault is tried again
//	once it has passed, the same entry succeeds                      erasure succeeds once the fault has passed
//	a refusal for good is a ResolverError                            permanent fault is a resolver error
//	errors name the resolver and no identifier, secret or URL        errors give nothing away
//	a context that has ended ends the call, whose error is its own   ended context ends the call
//	a deadline is honoured while the system does not answer          deadline is honoured
//	a resolver is safe for concurrent use (run with -race)           calls can be made at once
func TestResolver(t *testing.T, harness ResolverHarness) {
	t.Helper()
	for _, c := range resolverCases {
		t.Run(c.name, func(t *testing.T) { c.run(t, harness) })
	}
}

// resolverCases are the cases by name. They take a testing.TB, so that the suite's own test can watch them fail.
var resolverCases = []suiteCase[ResolverHarness]{
	{"name is valid", resolverNameIsValid},
	{"name and surface never change", resolverNameAndSurfaceNeverChange},
	{"surface is well formed", resolverSurfaceIsWellFormed},
	{"export stays within the surface", resolverExportStaysWithinTheSurface},
	{"surface is exported in full", resolverSurfaceIsExportedInFull},
	{"exclusions are not exported", resolverExclusionsAreNotExported},
	{"records are well formed", resolverRecordsAreWellFormed},
	{"absent subject has no records", resolverAbsentSubjectHasNoRecords},
	{"absent subject is erased already", resolverAbsentSubjectIsErasedAlready},
	{"erasure leaves nothing to export", resolverErasureLeavesNothingToExport},
	{"erasure leaves others alone", resolverErasureLeavesOthersAlone},
	{"erasure can be repeated", resolverErasureCanBeRepeated},
	{"transient fault is tried again", resolverTransientFaultIsTriedAgain},
	{"erasure succeeds once the fault has passed", resolverErasureSucceedsOnceTheFaultHasPassed},
	{"permanent fault is a resolver error", resolverPermanentFaultIsAResolverError},
	{"errors give nothing away", resolverErrorsGiveNothingAway},
	{"ended context ends the call", resolverEndedContextEndsTheCall},
	{"deadline is honoured", resolverDeadlineIsHonoured},
	{"calls can be made at once", resolverCallsCanBeMadeAtOnce},
}

// open opens a system and checks that it is complete.
func (h ResolverHarness) open(t testing.TB) ResolverSystem {
	t.Helper()
	s := h.Open(t)
	switch {
	case s.Resolver == nil || s.Heal == nil || len(s.Transient) == 0:
		t.Fatalf("the harness is incomplete: Resolver, Heal and at least one transient fault are required")
	case s.Populated.Value == "" || s.Bystander.Value == "" || s.Absent.Value == "":
		t.Fatalf("the harness is incomplete: Populated, Bystander and Absent are required")
	}
	return s
}
