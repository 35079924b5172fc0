package porttest

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/domain/plan"
	"github.com/habeas-data/habeas/ports"
)

// beginLife calls Register for zoe.
func (s lifeUnderTest) beginLife(t testing.TB) {
	t.Helper()
	s.do(t, func(ctx context.Context, subjects ports.SubjectStore) error {
		return subjects.Register(ctx, zoe.id(t), noon)
	})
}

// expectLife checks the state of zoe that State returns, and the one that LockToRectify returns.
func (s lifeUnderTest) expectLife(t testing.TB, what string, present bool, life domain.Life) {
	t.Helper()
	got := read(t, s.Store, func(ctx context.Context, session ports.Session) (domain.SubjectState, error) {
		return session.Subjects().State(ctx, zoe.id(t))
	})
	assert(t, got.Present == present && got.Life == life, "State of %s is %v, %q, want %v, %q",
		what, got.Present, got.Life, present, life)
	s.expectState(t, "is "+what, zoe, domain.SubjectState{Present: present, Life: life})
}

// The rows have no creation time, so only the registration shows that the life is new.
func lifeBeginsWithARegistration(t testing.TB, h StoreHarness) {
	s := h.lives(t)
	s.register(t, nil)
	s.record(t, "old")
	s.erase(t, removal)
	s.register(t, nil)
	s.record(t, "between")
	s.expect(t, "before the registration", shown{"between", "between", "old between"})
	s.expectLife(t, "a row without evidence", true, domain.LifeUnknown)
	s.beginLife(t)
	s.expectLife(t, "a row that was registered", true, domain.LifeNew)
	s.expect(t, "after the registration", shown{all: "old between"})
	s.record(t, "new")
	s.expect(t, "after the registration and a record", shown{"new", "new", "old between new"})
	s.do(t, func(ctx context.Context, subjects ports.SubjectStore) error {
		return errOf(subjects.Lock(ctx, zoe.id(t), noon))
	})
	s.expectLife(t, "a row that was registered before the last erasure", true, domain.LifeUnknown)
	s.expect(t, "after the next erasure", shown{all: "old between new"})
}

func lifeBeginsWithARegistrationWithoutAnErasure(t testing.TB, h StoreHarness) {
	m := h.openMarks(t)
	s := lifeUnderTest{shopUnderTest(m)}
	s.register(t, noon)
	s.record(t, "old")
	s.beginLife(t)
	check := func(what string) {
		t.Helper()
		s.expectOf(t, what, zoe, shown{all: "old"})
		s.expectLife(t, "a subject that was never erased", true, "") // it also locks the subject for a rectification
		expectMarks(t, what, m.list(t, everyMark))
		expectMarks(t, what+", by the subject", m.find(t, zoe.id(t)))
	}
	check("after a registration without an erasure")
	check("after a rectification")
	ofAll := map[string]string{"consents": "old"}
	for what, ledger := range map[string]func(context.Context, ports.Session) error{
		"consents": func(ctx context.Context, session ports.Session) error {
			return session.Consents().Append(ctx, consentRecord(zoe.id(t), "old", true, 0))
		},
		"restrictions": func(ctx context.Context, session ports.Session) error {
			return session.Restrictions().Append(ctx, restrictionRecord(zoe.id(t), nil, "old", true, 0))
		},
	} {
		only := lifeUnderTest{shopUnderTest(h.openMarks(t))} // without records of other people
		only.register(t, noon)
		do(t, only.Store, ledger)
		only.beginLife(t)
		only.expectOf(t, "after a registration of an id that has "+what+" only", zoe, shown{all: ofAll[what]})
	}
	s.record(t, "new")
	s.expectOf(t, "after a record", zoe, shown{"new", "new", "old new"})
	s.erase(t, removal)
	s.expectLife(t, "a subject that was erased after that", false, domain.LifeEnded)
	expectMarks(t, "of the first erasure", m.list(t, everyMark), "7 at 0s, 1")
}

func lifeWithoutRecordsNeedsNoRegistration(t testing.TB, h StoreHarness) {
	s := h.lives(t)
	requireHook(t, s.Erased != nil, "Erased")
	s.register(t, noon)
	s.beginLife(t)
	_, marked := s.Erased(t, zoe.id(t))
	assert(t, !marked, "a registration without a mark and without records has left a mark")
	s.expectLife(t, "a subject without records", true, "")
	s.record(t, "first")
	s.expect(t, "after a registration without records", shown{"first", "first", "first"})
}

func lifeNeedsARowToBeRegistered(t testing.TB, h StoreHarness) {
	s := h.lives(t)
	s.record(t, "old")
	refused := func(what string) {
		t.Helper()
		isError(t, "a registration of "+what, s.try(t, func(ctx context.Context, subjects ports.SubjectStore) error {
			return subjects.Register(ctx, zoe.id(t), noon)
		}), domain.ErrConflict)
	}
	refused("an id without a row")
	s.expect(t, "after a registration that was refused", shown{"old", "old", "old"})
	s.erase(t, removal)
	refused("an erased id without a row")
	s.expectLife(t, "a subject without a row", false, domain.LifeEnded)
}

func lifeIsJudgedByItsRow(t testing.TB, h StoreHarness) {
	s := h.lives(t)
	s.expectLife(t, "an unknown id", false, "")
	s.register(t, noon)
	s.expectLife(t, "a subject that was never erased", true, "")
	s.erase(t, []datamap.Step{anonymizeStep(t, "people")})
	s.expectLife(t, "a row that the erasure has overwritten", true, domain.LifeEnded)
	s.rectify(t, zoe, rectifies("people", "email", "right"))
	s.expectLife(t, "an erased row with a value that is no surrogate", true, domain.LifeUnknown)
	s.erase(t, removal)
	s.expectLife(t, "an erased id without a row", false, domain.LifeEnded)
	for _, test := range []struct {
		what      string
		createdAt any
		want      domain.Life
	}{
		{"a row that was created a millisecond later", noon.Add(time.Millisecond), domain.LifeNew},
		{"a row that was created before the erased one", after(-1), domain.LifeUnknown},
		{"a row with the creation time of the erased one", noon, domain.LifeUnknown},
		{"a row without a creation time", nil, domain.LifeUnknown},
	} {
		s.register(t, test.createdAt)
		s.expectLife(t, test.what, true, test.want)
		s.apply(t, zoe, removal...)
		s.expectLife(t, "an erased id without a row", false, domain.LifeEnded)
	}
	s.register(t, after(-1))
	s.beginLife(t)
	s.expectLife(t, "an earlier row that was registered", true, domain.LifeNew)
	s.apply(t, zoe, removal...)
	s.register(t, after(-2))
	s.expectLife(t, "an earlier row in the place of the registered one", true, domain.LifeUnknown)
	s.expectState(t, "is not the one that was erased", others[0], domain.SubjectState{Present: true})
}

func lifeOfABlankRowEnds(t testing.TB, h StoreHarness) {
	for _, test := range []struct {
		what      string
		createdAt any
		written   int
	}{
		{"a blank row without a creation time", nil, 1},
		{"a blank row with a creation time in whole seconds", time.Date(2024, 5, 6, 7, 8, 9, 0, time.UTC), 1},
		{"a blank row with a precise creation time", noon.Add(time.Millisecond), 0},
	} {
		s := h.lives(t)
		s.Insert(t, "people", Row{"tenant": zoe.tenant, "number": zoe.number, "created_at": test.createdAt})
		for range 2 {
			s.erase(t, []datamap.Step{anonymizeStep(t, "people")})
			s.expectLife(t, test.what, true, domain.LifeEnded)
			row, written := s.content(t).of(zoe)["people"][0], 0
			for i, column := range plan.Identifying(peopleTable(t)) {
				if row[column.Name] != nil {
					written++
					assert(t, i == 0, "%s: the surrogate is in the column %s, want the first one", test.what, column.Name)
				}
			}
			assert(t, written == test.written, "%s: %d surrogates, want %d", test.what, written, test.written)
			assert(t, row["score"] == nil, "%s: people.score was NULL, and was overwritten", test.what)
		}
	}
}

func peopleTable(t testing.TB) datamap.Table {
	t.Helper()
	table, ok := DataMap().Table("people")
	must(t, ok, "the data map has no table of people")
	return table
}

// A session can export after State, because State does not write. A store that makes each reader wait for a session
// that writes may also make State wait.
func lifeIsReadWithoutALock(t testing.TB, h StoreHarness) {
	s, id := h.lives(t), zoe.id(t)
	s.register(t, noon)
	do(t, s.Store, func(ctx context.Context, session ports.Session) error {
		if _, err := session.Subjects().State(ctx, id); err != nil {
			return err
		}
		err := session.Subjects().Export(ctx, id, func(domain.ExportRecord) error { return nil })
		assert(t, err == nil, "an export after State failed: %v", err)
		return err
	})
	var state domain.SubjectState
	reads, states := make(chan error, 1), make(chan error, 1)
	begin, end := concurrently(func() {
		reads <- try(t, s.Store, func(ctx context.Context, session ports.Session) error {
			return errOf(session.Consents().History(ctx, id, "news"))
		})
		states <- try(t, s.Store, func(ctx context.Context, session ports.Session) (err error) {
			state, err = session.Subjects().State(ctx, id)
			return err
		})
	})
	err := try(t, s.Store, func(ctx context.Context, session ports.Session) error {
		if _, err := session.Subjects().Lock(ctx, id, noon); err != nil {
			return err
		}
		begin()
		err, read := receiveWithin(reads, moment)
		if !read {
			return nil
		}
		stateErr, done := receiveWithin(states, s.patience/2)
		if done {
			assert(t, state.Present && state.Life == "", "State sees an erasure that is not committed: %+v", state)
		}
		assert(t, done, "State waits for a session that holds the lock of the subject")
		return errors.Join(err, stateErr)
	})
	end()
	assert(t, err == nil, "a session that locks the subject, or one that reads, failed: %v", err)
}
