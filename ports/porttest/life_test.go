package porttest

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/internal/tests/promise"
	"github.com/habeas-data/habeas/ports"
)

func TestLivesThatKeepTheirPromisesPass(t *testing.T) { TestLives(t, inMemory(noDefect)) }

// brokenLife is a defective store of consents. The function divides returns the consents of one life. Its parameters
// are the correct ones, those of all lives, and the state of the subject.
type brokenLife struct {
	ports.ConsentStore
	subjects ports.SubjectStore
	divides  func(own, all []domain.ConsentRecord, state domain.SubjectState) []domain.ConsentRecord
	status   bool // the defect changes the status instead of the history
}

func (b brokenLife) History(ctx context.Context, id domain.SubjectID, purpose string) ([]domain.ConsentRecord, error) {
	if b.status {
		return b.ConsentStore.History(ctx, id, purpose)
	}
	return b.broken(ctx, id, purpose)
}

func (b brokenLife) broken(ctx context.Context, id domain.SubjectID, purpose string) ([]domain.ConsentRecord, error) {
	own, err := b.ConsentStore.History(ctx, id, purpose)
	if err != nil {
		return nil, err
	}
	all, err := b.HistoryOfAllLives(ctx, id, purpose)
	if err != nil {
		return nil, err
	}
	state, err := b.subjects.State(ctx, id)
	return b.divides(own, all, state), err
}

func (b brokenLife) Latest(
	ctx context.Context, id domain.SubjectID, purpose string, asOf *time.Time,
) (*domain.ConsentRecord, error) {
	if !b.status {
		return b.ConsentStore.Latest(ctx, id, purpose, asOf)
	}
	records, err := b.broken(ctx, id, purpose)
	if err != nil || len(records) == 0 {
		return nil, err
	}
	return &records[len(records)-1], nil
}

func (b brokenLife) breaks(store *Store) {
	changesSessions(func(s ports.Session) replacedStores {
		broken := b
		broken.ConsentStore, broken.subjects = s.Consents(), s.Subjects()
		return replacedStores{Session: s, consents: broken}
	})(store)
}

// alsoShows returns a defect: the history of one life has records of earlier lives with these names. Without names, it
// has all of them.
func alsoShows(names ...string) func(*Store) {
	return brokenLife{divides: func(own, all []domain.ConsentRecord, _ domain.SubjectState) []domain.ConsentRecord {
		return slices.DeleteFunc(all, func(r domain.ConsentRecord) bool {
			return !slices.Contains(own, r) && len(names) > 0 && !slices.Contains(names, r.PolicyVersion)
		})
	}}.breaks
}

// neverGrants is a defective store: it records no consent that is given, and so refuses none.
type neverGrants struct{ ports.ConsentStore }

func (n neverGrants) Append(ctx context.Context, r domain.ConsentRecord) error {
	r.Granted = false
	return n.ConsentStore.Append(ctx, r)
}

// forgetsConsents is a defective store: InForce leaves out earlier lives, also in an erasure.
type forgetsConsents struct{ ports.ConsentStore }

func (f forgetsConsents) InForce(ctx context.Context, id domain.SubjectID) ([]domain.ConsentRecord, error) {
	records, err := f.ConsentStore.InForce(ctx, id)
	if err != nil {
		return nil, err
	}
	own, err := f.History(ctx, id, "news")
	return slices.DeleteFunc(records, func(r domain.ConsentRecord) bool {
		return r.Purpose == "news" && !slices.Contains(own, r)
	}), err
}

// restrictsOneLife is a defective store: a restriction is not in force any more when the life of the id has ended.
type restrictsOneLife struct{ ports.RestrictionStore }

func (r restrictsOneLife) Latest(
	ctx context.Context, id domain.SubjectID, purpose *string,
) (global, scoped *domain.RestrictionRecord, err error) {
	global, scoped, err = r.RestrictionStore.Latest(ctx, id, purpose)
	if err != nil {
		return nil, nil, err
	}
	own, err := r.History(ctx, id, nil)
	if len(own) == 0 {
		global = nil
	}
	return global, scoped, err
}

// exportsAllLives is a defective store: an export has the records of all lives.
type exportsAllLives struct {
	ports.SubjectStore
	ports.ConsentStore
}

func (e exportsAllLives) Export(ctx context.Context, id domain.SubjectID, yield func(domain.ExportRecord) error) error {
	all, err := e.HistoryOfAllLives(ctx, id, "news")
	for _, record := range all {
		if err == nil {
			err = yield(domain.ExportRecord{
				Source: datamap.ConsentLedgerSource, Field: "policy_version", Value: record.PolicyVersion,
			})
		}
	}
	return err
}

// listsRegistrations makes a store defective: Find also returns the marks of registrations without an erasure.
func listsRegistrations(store *Store) {
	var registered sync.Map
	changesSessions(func(s ports.Session) replacedStores {
		return replacedStores{
			Session: s, erased: registrationMarks{s.Erased(), &registered},
			subjects: brokenSubjects{SubjectStore: s.Subjects(), register: func(c subjectCall) error {
				registered.Store(c.id, true)
				return c.register()
			}},
		}
	})(store)
}

type registrationMarks struct {
	ports.ErasedStore
	registered *sync.Map
}

func (r registrationMarks) Find(ctx context.Context, ids []domain.SubjectID) ([]domain.ErasureMark, error) {
	found, err := r.ErasedStore.Find(ctx, ids)
	for _, id := range ids {
		if _, is := r.registered.Load(id); is && len(found) == 0 {
			found = append(found, domain.ErasureMark{SubjectID: id, ErasedAt: noon})
		}
	}
	return found, err
}

func lifeDefects() defects {
	judges := func(change func(*domain.SubjectState)) func(*Store) {
		return brokenSubjects{state: func(c subjectCall) (domain.SubjectState, error) {
			state, err := c.state()
			change(&state)
			return state, err
		}}.breaks
	}
	return defects{
		"histories of all lives": {alsoShows(), found{
			"the history of consents is [first old], want []": {lifeEndsWithAnErasure},
		}},
		"an export of all lives": {changesSessions(func(s ports.Session) replacedStores {
			return replacedStores{Session: s, subjects: exportsAllLives{s.Subjects(), s.Consents()}}
		}), found{"the consents in an export is [first old], want []": {lifeEndsWithAnErasure}}},
		"a status of all lives": {brokenLife{status: true, divides: func(
			_, all []domain.ConsentRecord, _ domain.SubjectState,
		) []domain.ConsentRecord {
			return all
		}}.breaks, found{"the latest consent is [old], want []": {lifeEndsWithAnErasure}}},
		"a status of no ended life": {brokenLife{status: true, divides: func(
			own, _ []domain.ConsentRecord, _ domain.SubjectState,
		) []domain.ConsentRecord {
			return own
		}}.breaks, found{"the latest consent is [], want [old]": {lifeThatHasEndedKeepsItsStatus}}},
		"a restriction that ends with the life": {changesSessions(func(s ports.Session) replacedStores {
			return replacedStores{Session: s, restrictions: restrictsOneLife{s.Restrictions()}}
		}), found{"the global restriction is [], want [old]": {lifeThatHasEndedKeepsItsStatus}}},
		"numbers before the withdrawals": {alsoShows("withdrawal", "last"), found{
			"the history of consents is [withdrawal last], want []": {lifeIncludesTheWithdrawalsOfItsErasure},
		}},
		"numbers of the erasure only": {alsoShows("late", "last"), found{
			"the history of consents is [late": {lifeThatHasEndedLeavesNothingToTheNext},
			"during an erasure: the history":   {lifeThatEndsMeanwhileLeavesNothingToTheNext},
		}},
		"numbers of no registration": {alsoShows("between"), found{
			"the history of consents is [between], want []": {lifeBeginsWithARegistration},
		}},
		"consents that are never given": {changesSessions(func(s ports.Session) replacedStores {
			return replacedStores{Session: s, consents: neverGrants{s.Consents()}}
		}), found{"a consent of an erased person: want the error": {lifeThatHasEndedGivesNoConsent}}},
		"an erasure of one life": {changesSessions(func(s ports.Session) replacedStores {
			return replacedStores{Session: s, consents: forgetsConsents{s.Consents()}}
		}), found{"after the lock, the consents in force are [new]": {lifeInErasureIncludesEarlierOnes}}},
		"a registration immediately, in a separate session": {func(store *Store) {
			sessions := store.Sessions
			brokenSubjects{register: func(c subjectCall) error {
				return sessions.Do(context.Background(), func(ctx context.Context, other ports.Session) error {
					return other.Subjects().Register(ctx, c.id, c.at)
				})
			}}.breaks(store)
		}, found{"after a registration without a commit": {lifeIsNotDividedByARollback}}},
		"a registration that does nothing": {
			brokenSubjects{register: func(subjectCall) error { return nil }}.breaks, found{
				"a row that was registered":                   {lifeBeginsWithARegistration},
				"after a registration without an erasure":     {lifeBeginsWithARegistrationWithoutAnErasure},
				"after an erasure and a registration":         {lifeBeginsInTheSessionOfAnErasure},
				"of an id without a row: want the error":      {lifeNeedsARowToBeRegistered},
				"State of an earlier row that was registered": {lifeIsJudgedByItsRow},
			},
		},
		"a registration that is an erasure": {
			brokenSubjects{register: func(c subjectCall) error { return errOf(c.Lock(c.ctx, c.id, c.at)) }}.breaks, found{
				"State of a subject that was never erased is":             {lifeBeginsWithARegistrationWithoutAnErasure},
				"a registration without a mark and without records has":   {lifeWithoutRecordsNeedsNoRegistration},
				"a registration of an id without a row: want the error":   {lifeNeedsARowToBeRegistered},
				"State of a row that was registered is true, \"unknown\"": {lifeBeginsWithARegistration},
			},
		},
		"marks of registrations": {listsRegistrations, found{
			"by the subject": {lifeBeginsWithARegistrationWithoutAnErasure},
			"has the mark":   {lifeWithoutRecordsNeedsNoRegistration},
		}},
		"a life without erasures": {judges(func(state *domain.SubjectState) { state.Life = "" }), found{
			`want true, "ended"`: {lifeIsJudgedByItsRow},
		}},
		"every row is new": {judges(func(state *domain.SubjectState) {
			if state.Present && state.Life != "" {
				state.Life = domain.LifeNew
			}
		}), found{"State of a row that the erasure has overwritten": {lifeIsJudgedByItsRow}}},
		"a blank row that stays blank": {judges(func(state *domain.SubjectState) {
			if state.Present && state.Life == domain.LifeEnded && state.Evidence.Blank {
				state.Life = domain.LifeUnknown
			}
		}), found{"State of a blank row with a precise creation time": {lifeOfABlankRowEnds}}},
		"a state that takes the lock": {
			brokenSubjects{state: subjectCall.hold}.breaks,
			found{"an export after State failed": {lifeIsReadWithoutALock}},
		},
	}
}

func TestLivesThatBreakAPromiseFail(t *testing.T) {
	promise.ExpectDefects(t, lifePromises, brokenStore, lifeDefects())
}
