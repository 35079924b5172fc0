package porttest

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/ports"
)

// The next person's row shows that it is new, or the evidence does not tell.
func lifeEndsWithAnErasure(t testing.TB, h StoreHarness) {
	for kind, createdAt := range map[string]any{"a later row": after(10), "a row without a creation time": nil} {
		s := h.lives(t)
		s.register(t, noon)
		s.record(t, "first", "old")
		ads := consentRecord(zoe.id(t), "old", true, 0)
		ads.Purpose = "ads"
		consents.add(t, s.Store, true, ads)
		s.erase(t, removal)
		s.register(t, createdAt)
		s.expect(t, kind, shown{all: "first old"})
		s.record(t, "new")
		s.expect(t, kind+" and a record", shown{"new", "new", "first old new"})
	}
}

// The session appends a withdrawal before the steps and another one after them, as the last thing before its commit.
// It reads in between, so that the store sends the records separately.
func lifeIncludesTheWithdrawalsOfItsErasure(t testing.TB, h StoreHarness) {
	s, id := h.lives(t), zoe.id(t)
	s.register(t, noon)
	s.record(t, "old")
	do(t, s.Store, func(ctx context.Context, session ports.Session) error {
		if err := eraseWith(ctx, session, id, removal, "withdrawal"); err != nil {
			return err
		}
		if _, err := session.Consents().InForce(ctx, id); err != nil {
			return err
		}
		return appendNamed(ctx, session, id, "last")
	})
	s.register(t, after(10))
	s.expect(t, "after an erasure with withdrawals", shown{all: "old withdrawal last"})
}

// The application deletes the second person's row without an erasure. That also ends a life.
func lifeThatHasEndedKeepsItsStatus(t testing.TB, h StoreHarness) {
	s := h.lives(t)
	s.register(t, noon)
	s.record(t, "old")
	s.erase(t, removal)
	s.expect(t, "without a row", shown{status: "old", all: "old"})
	s.register(t, after(10))
	s.expect(t, "with another row", shown{all: "old"})
	s.apply(t, zoe, removal...)
	s.expect(t, "without a row again", shown{status: "old", all: "old"})
	s.register(t, after(20))
	s.record(t, "new")
	s.apply(t, zoe, removal...)
	s.expect(t, "without a row that was not erased", shown{"new", "new", "old new"})
}

// Each way to append the records sends them in another statement or transaction.
func lifeThatHasEndedLeavesNothingToTheNext(t testing.TB, h StoreHarness) {
	id := zoe.id(t)
	for how, add := range map[string]func(ctx context.Context, s ports.Session) error{
		"one append": func(ctx context.Context, s ports.Session) error {
			return s.Consents().Append(ctx, consentRecord(id, "late", true, 0))
		},
		"appends to both ledgers": func(ctx context.Context, s ports.Session) error {
			return appendNamed(ctx, s, id, "late", "last")
		},
		"appends for several subjects": func(ctx context.Context, s ports.Session) error {
			return errors.Join(appendNamed(ctx, s, others[1].id(t), "other"), appendNamed(ctx, s, id, "late"),
				appendNamed(ctx, s, others[2].id(t), "other"))
		},
		"an append after a lock": func(ctx context.Context, s ports.Session) error {
			return errors.Join(errOf(s.Subjects().LockToRectify(ctx, id)), appendNamed(ctx, s, id, "late"))
		},
		"appends with reads between them": func(ctx context.Context, s ports.Session) error {
			for _, name := range []string{"late", "last"} {
				if err := appendNamed(ctx, s, id, name); err != nil {
					return err
				}
				latest, err := s.Consents().Latest(ctx, id, "news", nil)
				if err != nil {
					return err
				}
				assert(t, consents.nameOf(latest) == name, "the session that has appended %s reads another record", name)
			}
			return nil
		},
	} {
		s := h.lives(t)
		s.register(t, noon)
		s.record(t, "old")
		s.erase(t, removal)
		do(t, s.Store, add)
		s.register(t, after(10))
		all, err := "", error(nil)
		do(t, s.Store, func(ctx context.Context, s ports.Session) error {
			all, err = consents.namesOf(s.Consents().HistoryOfAllLives(ctx, id, "news"))
			return err
		})
		assert(t, len(all) > len("old"), "%s: the consents of all lives are [%s]", how, all)
		s.expect(t, how, shown{all: all})
	}
}

// The records are appended while the erasing session is open. A store may make their session wait.
func lifeThatEndsMeanwhileLeavesNothingToTheNext(t testing.TB, h StoreHarness) {
	id := zoe.id(t)
	for how, add := range map[string]func(ctx context.Context, s ports.Session) error{
		"one append": func(ctx context.Context, s ports.Session) error {
			return s.Consents().Append(ctx, consentRecord(id, "late", true, 0))
		},
		"appends to both ledgers": func(ctx context.Context, s ports.Session) error {
			return appendNamed(ctx, s, id, "late")
		},
		"an append and a read": func(ctx context.Context, s ports.Session) error {
			return errors.Join(appendNamed(ctx, s, id, "late"), errOf(s.Consents().Latest(ctx, id, "news", nil)))
		},
	} {
		s := h.lives(t)
		s.register(t, noon)
		s.record(t, "old")
		appended := make(chan error, 1)
		begin, end := concurrently(func() { appended <- try(t, s.Store, add) })
		do(t, s.Store, func(ctx context.Context, session ports.Session) error {
			err := eraseWith(ctx, session, id, removal)
			begin()
			if early, done := receiveWithin(appended, moment); done {
				appended <- early
			}
			return err
		})
		end()
		err := <-appended
		assert(t, err == nil, "%s: the session failed: %v", how, err)
		s.register(t, after(10))
		s.expect(t, how+" during an erasure", shown{all: "old late"})
	}
}

// The second person has the id when it is erased again. A consent of the first person that was never withdrawn is in
// force in the erasing session, so that it can be withdrawn.
func lifeInErasureIncludesEarlierOnes(t testing.TB, h StoreHarness) {
	s, id := h.lives(t), zoe.id(t)
	s.register(t, noon)
	consents.add(t, s.Store, true, consentRecord(id, "old", true, 0))
	s.erase(t, removal)
	s.register(t, after(10))
	ads := consentRecord(id, "new", true, 0)
	ads.Purpose = "ads"
	consents.add(t, s.Store, true, ads)
	do(t, s.Store, func(ctx context.Context, session ports.Session) error {
		expect := func(when, want string) error {
			got, err := consents.namesOf(session.Consents().InForce(ctx, id))
			assert(t, got == want, "in an erasure, %s, the consents in force are [%s], want [%s]", when, got, want)
			return err
		}
		if err := expect("before the lock", "new"); err != nil {
			return err
		}
		if _, err := session.Subjects().Lock(ctx, id, noon); err != nil {
			return err
		}
		if err := expect("after the lock", "old new"); err != nil {
			return err
		}
		mails := consentRecord(id, "unsent", true, 0)
		mails.Purpose = "mails"
		if err := errors.Join(session.Consents().Append(ctx, mails),
			session.Outbox().Enqueue(ctx, toRectify(t, "unsent", id, 0)),
			errOf(session.Subjects().Apply(ctx, id, removal))); err != nil {
			return err
		}
		withdrawn, err := session.Outbox().Withdraw(ctx, id)
		expectEntries(t, "withdrawn", withdrawn, "unsent")
		return errors.Join(err, expect("after the steps", "old new unsent"))
	})
}

// The row has no creation time, so only the registration shows that it belongs to another person.
func lifeBeginsInTheSessionOfAnErasure(t testing.TB, h StoreHarness) {
	s, id := h.lives(t), zoe.id(t)
	s.register(t, nil)
	s.record(t, "old")
	do(t, s.Store, func(ctx context.Context, session ports.Session) error {
		return errors.Join(appendNamed(ctx, session, id, "before"), eraseWith(ctx, session, id, nil, "withdrawal"),
			session.Subjects().Register(ctx, id, noon), appendNamed(ctx, session, id, "new"))
	})
	s.expect(t, "after an erasure and a registration", shown{"new", "new", "old before withdrawal new"})
}

func lifeIsNotDividedByARollback(t testing.TB, h StoreHarness) {
	id := zoe.id(t)
	for how, use := range map[string]func(ctx context.Context, s ports.Session) error{
		"an erasure": func(ctx context.Context, s ports.Session) error {
			return eraseWith(ctx, s, id, removal, "withdrawal")
		},
		"a registration": func(ctx context.Context, s ports.Session) error {
			return s.Subjects().Register(ctx, id, noon)
		},
	} {
		s := h.lives(t)
		s.register(t, noon)
		s.record(t, "old")
		undo(t, s.Store, use)
		err := rehearse(t, s.Store, use)
		assert(t, err == nil, "a rehearsal of %s failed: %v", how, err)
		s.expect(t, "after "+how+" without a commit", shown{"old", "old", "old"})
		s.record(t, "new")
		s.expect(t, "after "+how+" without a commit, and a record", shown{"new", "old new", "old new"})
	}
}

func lifeThatHasEndedGivesNoConsent(t testing.TB, h StoreHarness) {
	s, id := h.lives(t), zoe.id(t)
	decide := func(what string, granted bool, more ...func(context.Context, ports.Session) error) error {
		return try(t, s.Store, func(ctx context.Context, session ports.Session) error {
			err := session.Consents().Append(ctx, consentRecord(id, what, granted, 0))
			for _, use := range more {
				err = cmp.Or(err, use(ctx, session))
			}
			return err
		})
	}
	accepted := func(what string, granted bool) {
		t.Helper()
		err := decide(what, granted)
		assert(t, err == nil, "a consent (granted: %v) of %s was refused: %v", granted, what, err)
	}
	accepted("a visitor", true)
	s.erase(t, removal)
	accepted("an erased visitor", true)
	s.register(t, nil)
	s.erase(t, []datamap.Step{anonymizeStep(t, "people")})
	isError(t, "a consent of an erased person", decide("an erased person", true), domain.ErrErased)
	isError(t, "a consent with a restriction", decide("an erased person", true,
		func(ctx context.Context, session ports.Session) error {
			return session.Restrictions().Append(ctx, restrictionRecord(id, nil, "an erased person", true, 0))
		}), domain.ErrErased)
	isError(t, "a consent that its session reads", decide("an erased person", true,
		func(ctx context.Context, session ports.Session) error {
			return errOf(session.Consents().History(ctx, id, "news"))
		}), domain.ErrErased)
	accepted("an erased person", false)
	s.rectify(t, zoe, rectifies("people", "email", "right"))
	accepted("somebody who registered again", true)
	shown := read(t, s.Store, func(ctx context.Context, session ports.Session) ([]string, error) {
		all, err := consents.namesOf(session.Consents().HistoryOfAllLives(ctx, id, "news"))
		own, ownErr := consents.namesOf(session.Consents().History(ctx, id, "news"))
		return []string{all, own}, errors.Join(err, ownErr)
	})
	again := "somebody who registered again"
	assert(t, slices.Equal(shown, []string{"a visitor an erased visitor an erased person " + again, again}),
		"the consents of all lives, and those of the last one, are %q", shown)
}
