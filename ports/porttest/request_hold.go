package porttest

import (
	"context"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/request"
	"github.com/habeas-data/habeas/internal/tests/promise"
	"github.com/habeas-data/habeas/ports"
)

// TestHoldStore checks that a store keeps the promises of ports.HoldStore. TestRequestStore has the cases of a hold
// beside an erasure or a request.
func TestHoldStore(t *testing.T, harness StoreHarness) {
	t.Helper()
	promise.Hold(t, holdPromises, harness, harness.Waive)
}

var holdPromises = []promise.Promise[StoreHarness]{
	that(holdComesBackAsPlaced, "A hold is returned with the values that were added, in the order of intake."),
	that(holdIDIsUsedOnce, "Add returns ErrConflict if the id exists."),
	that(holdChangesOnlyItsEnd, "Update replaces the date of the review and the end of a hold, and nothing else."),
	that(holdIsLiftedOnce, "Update returns ErrConflict if the hold is lifted or does not exist."),
	that(holdStandsUntilItIsLifted, "A subject is held until the last hold is lifted, also in another life."),
	that(holdListIsThatOfReviews, "List returns the holds that stand and whose review is due, the earliest first."),
}

// holdOf returns a hold that stands.
func holdOf(hold string, id domain.SubjectID) request.Hold {
	return request.Hold{
		ID: hold, SubjectID: id, Ground: request.LegalClaims, PlacedBy: "dpo", PlacedAt: noon, ReviewAt: after(3600),
	}
}

func lifted(hold request.Hold) request.Hold {
	hold.LiftedBy, hold.LiftedAt = "counsel", after(60)
	return hold
}

func (s requestsUnderTest) lift(t testing.TB, holds ...request.Hold) {
	t.Helper()
	s.use(t, func(ctx context.Context, r ports.Register) error {
		for _, hold := range holds {
			if err := r.Holds.Update(ctx, lifted(hold)); err != nil {
				return err
			}
		}
		return nil
	})
}

func (s requestsUnderTest) holdsOf(t testing.TB, id domain.SubjectID) []request.Hold {
	t.Helper()
	return read(t, s.Store, func(ctx context.Context, session ports.Session) ([]request.Hold, error) {
		return session.Register().Holds.Of(ctx, id)
	})
}

func nameOfHold(hold request.Hold) string { return hold.ID }

func holdComesBackAsPlaced(t testing.TB, h StoreHarness) {
	s, id := h.requests(t), zoe.id(t)
	var want []request.Hold
	for i, text := range referenceTexts() {
		hold := request.Hold{
			ID: "hold-" + strconv.Itoa(100-i), SubjectID: id, Ground: request.Ground("statutory_restriction"), Reference: text,
			PlacedBy: text, PlacedAt: after(-i), ReviewAt: after(i), LiftedBy: text, LiftedAt: after(60),
		}
		expectFull(t, hold)
		want = append(want, hold)
	}
	want = append(want, holdOf("bare", id))
	s.hold(t, want...)
	s.hold(t, holdOf("another", others[0].id(t)))
	expectWhole(t, "the holds", nameOfHold, s.holdsOf(t, id), want...)
	do(t, s.Store, inRegister(func(ctx context.Context, r ports.Register) error {
		for _, hold := range want {
			found, err := r.Holds.Find(ctx, hold.ID)
			if err != nil {
				return err
			}
			must(t, found != nil && reflect.DeepEqual(*found, hold), "the hold %s is found as %+v", hold.ID, found)
		}
		for _, unknown := range []string{"", "BARE", "bar", "%"} {
			found, err := r.Holds.Find(ctx, unknown)
			if err != nil {
				return err
			}
			assert(t, found == nil, "the id %q, which does not exist, is found as %+v", unknown, found)
		}
		return nil
	}))
}

func holdIDIsUsedOnce(t testing.TB, h StoreHarness) {
	s, id := h.requests(t), zoe.id(t)
	s.hold(t, holdOf("taken", id))
	for _, end := range []string{"stands", "is lifted"} {
		err := s.tryUse(t, func(ctx context.Context, r ports.Register) error {
			return r.Holds.Add(ctx, holdOf("taken", others[0].id(t)))
		})
		isError(t, "the id of a hold that "+end, err, domain.ErrConflict)
		if end == "stands" {
			s.lift(t, holdOf("taken", id))
		}
	}
	assert(t, len(s.holdsOf(t, others[0].id(t))) == 0, "a hold was added twice")
}

func holdChangesOnlyItsEnd(t testing.TB, h StoreHarness) {
	s, id := h.requests(t), zoe.id(t)
	want := holdOf("hold", id)
	s.hold(t, want, holdOf("other", id))
	want.ReviewAt = after(7200)
	for _, lifts := range []bool{false, true} {
		changed := request.Hold{
			ID: "hold", SubjectID: id, Ground: request.Archiving, Reference: "changed", PlacedBy: "changed", PlacedAt: after(-9),
			ReviewAt: want.ReviewAt,
		}
		if lifts {
			want, changed = lifted(want), lifted(changed)
		}
		s.use(t, func(ctx context.Context, r ports.Register) error { return r.Holds.Update(ctx, changed) })
		expectWhole(t, "the holds", nameOfHold, s.holdsOf(t, id), want, holdOf("other", id))
	}
}

func holdIsLiftedOnce(t testing.TB, h StoreHarness) {
	s, id := h.requests(t), zoe.id(t)
	s.hold(t, holdOf("hold", id))
	errs := s.storm(t, func(ctx context.Context, session ports.Session, i int) error {
		hold := lifted(holdOf("hold", id))
		hold.LiftedBy = strconv.Itoa(i)
		return session.Register().Holds.Update(ctx, hold)
	})
	before := s.holdsOf(t, id)[0]
	for i, err := range errs {
		if strconv.Itoa(i) == before.LiftedBy {
			assert(t, err == nil, "the session that has lifted the hold failed: %v", err)
			continue
		}
		isError(t, "another session", err, domain.ErrConflict)
	}
	for what, hold := range map[string]request.Hold{
		"a hold that is lifted": holdOf("hold", id), "a hold that does not exist": holdOf("other", id),
	} {
		err := s.tryUse(t, func(ctx context.Context, r ports.Register) error { return r.Holds.Update(ctx, hold) })
		isError(t, what, err, domain.ErrConflict)
	}
	expectWhole(t, "the holds", nameOfHold, s.holdsOf(t, id), before)
}

func holdStandsUntilItIsLifted(t testing.TB, h StoreHarness) {
	s, id := h.requests(t), zoe.id(t)
	expect := func(what string, held bool) {
		t.Helper()
		assert(t, s.standing(t, id).Held == held, "%s, the subject is held: %v", what, !held)
	}
	s.register(t, noon)
	s.hold(t, holdOf("another", others[0].id(t)))
	expect("without a hold", false)
	s.hold(t, holdOf("first", id), holdOf("second", id))
	expect("with two holds", true)
	s.lift(t, holdOf("second", id))
	expect("with one of two holds lifted", true)
	s.erase(t, removal)
	s.register(t, after(10))
	expect("in another life", true)
	assert(t, len(s.holdsOf(t, id)) == 2, "in another life, the subject has %d holds", len(s.holdsOf(t, id)))
	s.lift(t, holdOf("first", id))
	expect("with both holds lifted", false)
}

func holdListIsThatOfReviews(t testing.TB, h StoreHarness) {
	s := h.requests(t)
	for i, review := range []int{30, 10, 40, 20, 15} {
		hold := holdOf("at"+strconv.Itoa(review), subject(t, "acme", int64(i)))
		hold.ReviewAt = after(review)
		s.hold(t, hold)
		if review == 15 {
			s.lift(t, hold)
		}
	}
	for _, test := range []struct {
		before, limit int
		want          string
	}{
		{40, 9, "at10 at20 at30"}, {41, 9, "at10 at20 at30 at40"}, {41, 2, "at10 at20"}, {10, 9, ""}, {41, 0, ""},
	} {
		listed := read(t, s.Store, func(ctx context.Context, session ports.Session) ([]request.Hold, error) {
			return session.Register().Holds.List(ctx, after(test.before), test.limit)
		})
		var names []string
		for _, hold := range slices.Clone(listed) {
			names = append(names, hold.ID)
		}
		got := strings.Join(names, " ")
		assert(t, got == test.want, "reviews before %d s, limit %d: [%s], want [%s]", test.before, test.limit, got, test.want)
	}
}
