package porttest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/internal/tests/promise"
	"github.com/habeas-data/habeas/ports"
)

// TestLives checks that a store keeps the promises about the life of an id (see domain.Life): several people can have
// an id, one after another.
func TestLives(t *testing.T, harness StoreHarness) {
	t.Helper()
	promise.Hold(t, lifePromises, harness, harness.Waive)
}

var lifePromises = []promise.Promise[StoreHarness]{
	that(lifeEndsWithAnErasure,
		"The records before an erasure do not count for a person who registers later under the same id."),
	that(lifeIncludesTheWithdrawalsOfItsErasure,
		"The records that an erasing session appends do not count for a person who registers later."),
	that(lifeThatHasEndedKeepsItsStatus,
		"After the end of a life, the status includes all records, and histories and exports only those after the mark."),
	that(lifeThatHasEndedLeavesNothingToTheNext,
		"A record that is appended after the end of a life never counts for a person who registers later."),
	that(lifeThatEndsMeanwhileLeavesNothingToTheNext,
		"A record whose session waits for an erasure never counts for a person who registers later."),
	that(lifeInErasureIncludesEarlierOnes,
		"In a session that erases a subject, InForce has records of earlier lives and of the session, and Withdraw finds"+
			" entries of the session."),
	that(lifeBeginsInTheSessionOfAnErasure,
		"The records that a session appends after Register count for the person, even if the session erases before."),
	that(lifeIsNotDividedByARollback, "An erasure or a registration that is rolled back or rehearsed divides no ledger."),
	that(lifeBeginsWithARegistration,
		"The records before a registration do not count for the person, until the next erasure."),
	that(lifeBeginsWithARegistrationWithoutAnErasure,
		"Register also divides the ledgers of an id that was never erased, and no reader of marks sees that."),
	that(lifeWithoutRecordsNeedsNoRegistration, "Register stores nothing for an id without a mark and without records."),
	that(lifeNeedsARowToBeRegistered, "Register returns ErrConflict if the subject's table has no row of the subject."),
	that(lifeIsJudgedByItsRow, "State returns whether the subject has a row, and the life that mark and row show."),
	that(lifeOfABlankRowEnds,
		"An erasure writes one surrogate into the subject's row if nothing else would show that its life has ended."),
	that(lifeThatHasEndedGivesNoConsent,
		"A consent for a person whose erased row is still there is refused with ErrErased. A withdrawal is recorded."),
	that(lifeIsReadWithoutALock, "State only reads, and does not wait for a session that holds the lock of the subject."),
}

// lifeUnderTest is a store in which several people have zoe's id, one after another. All other subjects keep theirs.
type lifeUnderTest struct{ shopUnderTest }

// lives opens a store in which others[0] has a row and records.
func (h StoreHarness) lives(t testing.TB) lifeUnderTest {
	t.Helper()
	s := lifeUnderTest{shopUnderTest{h.open(t)}}
	s.Insert(t, "people", others[0].person())
	do(t, s.Store, func(ctx context.Context, session ports.Session) error {
		return appendNamed(ctx, session, others[0].id(t), "another")
	})
	return s
}

// register inserts zoe's row, as an application does when a person registers. The row has a creation time if createdAt
// is not nil.
func (s lifeUnderTest) register(t testing.TB, createdAt any) {
	t.Helper()
	row := zoe.person()
	row["created_at"] = createdAt
	s.Insert(t, "people", row)
}

// removal deletes zoe's row.
var removal = []datamap.Step{{Target: "people", Strategy: domain.StrategyDelete}}

// erase erases zoe in one session: it locks the subject, appends records with the given names, and applies the steps.
func (s lifeUnderTest) erase(t testing.TB, steps []datamap.Step, names ...string) {
	t.Helper()
	do(t, s.Store, func(ctx context.Context, session ports.Session) error {
		return eraseWith(ctx, session, zoe.id(t), steps, names...)
	})
}

func eraseWith(ctx context.Context, s ports.Session, id domain.SubjectID, steps []datamap.Step, names ...string) error {
	if _, err := s.Subjects().Lock(ctx, id, noon); err != nil {
		return err
	}
	if err := appendNamed(ctx, s, id, names...); err != nil {
		return err
	}
	return errOf(s.Subjects().Apply(ctx, id, steps))
}

// record appends zoe's records with the given names in one session.
func (s lifeUnderTest) record(t testing.TB, names ...string) {
	t.Helper()
	do(t, s.Store, func(ctx context.Context, session ports.Session) error {
		return appendNamed(ctx, session, zoe.id(t), names...)
	})
}

// appendNamed appends three records for each name: a consent, a global restriction, and a restriction of a purpose.
// The numbers of the two ledgers therefore differ.
func appendNamed(ctx context.Context, s ports.Session, id domain.SubjectID, names ...string) error {
	for _, name := range names {
		if err := s.Consents().Append(ctx, consentRecord(id, name, true, 0)); err != nil {
			return err
		}
		for _, purpose := range []*string{nil, pointer("news")} {
			if err := s.Restrictions().Append(ctx, restrictionRecord(id, purpose, name, true, 0)); err != nil {
				return err
			}
		}
	}
	return nil
}

// shown is what the two ledgers show of a subject: the names of records, with spaces between them.
type shown struct {
	status  string // the record in force, by every method that returns the status
	history string // by every method that returns the history of one life, and by Export
	all     string // the consents of all lives
}

// expect checks what all methods show of zoe, in one session that only reads. In the messages, what says when it is
// called. It also checks that the records of the other subject are in force.
func (s lifeUnderTest) expect(t testing.TB, what string, want shown) {
	t.Helper()
	s.expectOf(t, what, zoe, want)
	s.expectOf(t, what+", another subject", others[0], shown{"another", "another", "another"})
}

func (s lifeUnderTest) expectOf(t testing.TB, what string, who customer, want shown) {
	t.Helper()
	do(t, s.Store, func(ctx context.Context, session ports.Session) error {
		for _, reading := range readings(who.id(t)) {
			got, err := reading.read(ctx, session)
			if err != nil {
				return fmt.Errorf("%s: %w", reading.what, err)
			}
			wanted := map[string]string{"status": want.status, "history": want.history, "all": want.all}[reading.of]
			assert(t, got == wanted, "%s: %s is [%s], want [%s]", what, reading.what, got, wanted)
		}
		return nil
	})
}

// reading reads the names of records. The field of is the field of shown in which they are expected.
type reading struct {
	what, of string
	read     func(context.Context, ports.Session) (string, error)
}

// readings returns a reading for each method that returns records of the subject.
func readings(id domain.SubjectID) []reading {
	latest := after(3600)
	return []reading{
		{"the latest consent", "status", func(ctx context.Context, s ports.Session) (string, error) {
			record, err := s.Consents().Latest(ctx, id, "news", nil)
			return consents.nameOf(record), err
		}},
		{"the latest consent as of an instant", "status", func(ctx context.Context, s ports.Session) (string, error) {
			record, err := s.Consents().Latest(ctx, id, "news", &latest)
			return consents.nameOf(record), err
		}},
		{"the consents in force", "status", func(ctx context.Context, s ports.Session) (string, error) {
			return consents.namesOf(s.Consents().InForce(ctx, id))
		}},
		{"the global restriction", "status", func(ctx context.Context, s ports.Session) (string, error) {
			global, _, err := s.Restrictions().Latest(ctx, id, nil)
			return restrictions.nameOf(global), err
		}},
		{"the restriction of a purpose", "status", func(ctx context.Context, s ports.Session) (string, error) {
			_, scoped, err := s.Restrictions().Latest(ctx, id, pointer("news"))
			return restrictions.nameOf(scoped), err
		}},
		{"the history of consents", "history", func(ctx context.Context, s ports.Session) (string, error) {
			return consents.namesOf(s.Consents().History(ctx, id, "news"))
		}},
		{"the history of global restrictions", "history", func(ctx context.Context, s ports.Session) (string, error) {
			return restrictions.namesOf(s.Restrictions().History(ctx, id, nil))
		}},
		{"the history of restrictions of a purpose", "history", func(ctx context.Context, s ports.Session) (string, error) {
			return restrictions.namesOf(s.Restrictions().History(ctx, id, pointer("news")))
		}},
		{"the consents of all lives", "all", func(ctx context.Context, s ports.Session) (string, error) {
			return consents.namesOf(s.Consents().HistoryOfAllLives(ctx, id, "news"))
		}},
		{"the consents in an export", "history", func(ctx context.Context, s ports.Session) (string, error) {
			return exportedCells(ctx, s, id, datamap.ConsentLedgerSource, "policy_version")
		}},
		{"the restrictions in an export", "history", func(ctx context.Context, s ports.Session) (string, error) {
			return exportedCells(ctx, s, id, datamap.RestrictionLedgerSource, "source")
		}},
	}
}

// namesOf returns the names of records, with spaces between them.
func (l ledger[R]) namesOf(records []R, err error) (string, error) {
	names := make([]string, len(records))
	for i, record := range records {
		names[i] = l.name(record)
	}
	return strings.Join(names, " "), err
}

// exportedCells returns the texts that an export contains of a column of a ledger, without repeated ones.
func exportedCells(ctx context.Context, s ports.Session, id domain.SubjectID, source, field string) (string, error) {
	var cells []string
	err := s.Subjects().Export(ctx, id, func(r domain.ExportRecord) error {
		if r.Source == source && r.Field == field {
			cells = append(cells, fmt.Sprint(r.Value))
		}
		return nil
	})
	return strings.Join(slices.Compact(cells), " "), err
}
