package verification_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/habeas-data/habeas/adapters/persistence/memory"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/domain/erasure"
	"github.com/habeas-data/habeas/domain/verification"
	"github.com/habeas-data/habeas/internal/tests/fixture"
	"github.com/habeas-data/habeas/ports"
)

const delay = 5 * time.Minute

// fleet is a store with users, shared by several processes that verify erasures.
type fleet struct {
	*memory.Store
	movingClock *fixture.Clock
	ids         *fixture.IDs
	eraser      *erasure.Eraser
	fails       func(of domain.SubjectID) error // error of a search
	races       func()                          // called after a search
}

func newFleet(t *testing.T) *fleet {
	t.Helper()
	dataMap := fleetMap(t)
	f := &fleet{movingClock: fixture.NewClock(noon), ids: &fixture.IDs{}}
	var err error
	f.Store, err = memory.New(dataMap, memory.Options{})
	check(err)
	f.eraser, err = erasure.NewEraser(erasure.Config{Clock: f.movingClock, IDs: f.ids, DataMap: dataMap})
	check(err)
	return f
}

func fleetMap(t *testing.T) datamap.DataMap {
	t.Helper()
	letters := fixture.Child("letters", "users")
	letters.Columns = append(letters.Columns, datamap.Column{
		Name: "body", Type: datamap.TypeText, Personal: &datamap.Annotation{Category: domain.CategoryCommunication},
	})
	return fixture.MustMap(t, fixture.Users(), letters)
}

// process returns another verifier.
func (f *fleet) process(t *testing.T) *verification.Verifier {
	t.Helper()
	verifier, err := verification.NewVerifier(verification.Config{
		Sessions: f, Clock: f.movingClock, IDs: f.ids, DataMap: fleetMap(t), Plan: f.eraser.Plan(),
	})
	check(err)
	return verifier
}

// Do implements ports.SessionFactory.
func (f *fleet) Do(ctx context.Context, fn func(context.Context, ports.Session) error) error {
	return f.Store.Do(ctx, func(ctx context.Context, s ports.Session) error { return fn(ctx, searched{s, f}) })
}

// searched is a session in which the search for data that is left over can fail.
type searched struct {
	ports.Session
	fleet *fleet
}

func (s searched) Erased() ports.ErasedStore { return search{s.Session.Erased(), s.fleet} }

type search struct {
	ports.ErasedStore
	fleet *fleet
}

func (s search) LeftOver(
	ctx context.Context, id domain.SubjectID, steps []datamap.Step, at time.Time,
) (domain.Leftovers, error) {
	if s.fleet.fails != nil {
		if err := s.fleet.fails(id); err != nil {
			return nil, err
		}
	}
	if races := s.fleet.races; races != nil {
		s.fleet.races = nil
		races()
	}
	return s.ErasedStore.LeftOver(ctx, id, steps, at)
}

// erase adds users and erases them, one minute apart.
func (f *fleet) erase(t *testing.T, ids ...int64) {
	t.Helper()
	for _, id := range ids {
		_ = f.Insert("users", memory.Row{"id": id, "email": "mail@example.org"}) // the user may exist
		subject, err := domain.NewSubject(strconv.FormatInt(id, 10))
		check(err)
		check(f.Store.Do(t.Context(), func(ctx context.Context, s ports.Session) error {
			_, err := f.eraser.Erase(ctx, s, subject)
			return err
		}))
		f.movingClock.Advance(time.Minute)
	}
}

// verified returns the subject of each event of a verification.
func (f *fleet) verified(t *testing.T, ids ...int64) (found []string) {
	t.Helper()
	for _, id := range ids {
		subject := fixture.MustID(t, strconv.FormatInt(id, 10))
		for _, event := range fixture.Trail(t, f.Store, subject) {
			if event.EventType == domain.EventErasureVerified || event.EventType == domain.EventErasureLeftOver {
				found = append(found, subject.String())
			}
		}
	}
	return found
}

// run calls RunOnce until there is no more work, and returns the error that ends it.
func run(t *testing.T, v *verification.Verifier) (found []domain.Verification, err error) {
	t.Helper()
	for more := true; more && err == nil; {
		var some []domain.Verification
		some, more, err = v.RunOnce(t.Context(), delay)
		found = append(found, some...)
	}
	return found, err
}

func TestAnErasureIsVerifiedOnceItsDelayHasPassed(t *testing.T) {
	f := newFleet(t)
	one, other := f.process(t), f.process(t)
	expect := func(what string, v *verification.Verifier, want ...string) {
		t.Helper()
		before := len(f.verified(t, 1, 2, 3))
		found, err := run(t, v)
		if got := f.verified(t, 1, 2, 3); err != nil || !slices.Equal(got, want) || len(found) != len(want)-before {
			t.Errorf("%s: %v are verified by %d results, want %v: %v", what, got, len(found), want, err)
		}
	}
	expect("nothing", one)
	f.erase(t, 1, 2)
	expect("too early", one)
	f.movingClock.Set(noon.Add(delay))
	expect("the first", one, "1")
	f.movingClock.Set(noon.Add(delay + time.Minute))
	expect("the second, by another process", other, "1", "2")
	expect("nothing twice", one, "1", "2")
	expect("nothing after a restart", f.process(t), "1", "2")
	f.erase(t, 1) // a second time
	f.movingClock.Advance(delay)
	expect("another erasure of the first", one, "1", "1", "2")
}

func TestManyErasuresAreVerifiedInParts(t *testing.T) {
	f := newFleet(t)
	var ids []int64
	for id := range int64(50) {
		ids = append(ids, id+1)
	}
	f.erase(t, ids...)
	f.movingClock.Advance(delay)
	v := f.process(t)
	some, more, err := v.RunOnce(t.Context(), delay)
	if err != nil || !more || len(some) == 0 || len(some) >= len(ids) {
		t.Errorf("%d are verified by one call, %v, %v", len(some), more, err)
	}
	rest, err := run(t, v)
	if got := f.verified(t, ids...); err != nil || len(some)+len(rest) != len(ids) || len(got) != len(ids) {
		t.Errorf("%d and %d are verified, with %d events: %v", len(some), len(rest), len(got), err)
	}
}

// The id of an erased subject no longer fits the key of the subject's table, for example because the type of the key
// was changed.
func TestAnIDThatNoLongerFitsTheKeyDelaysNoVerification(t *testing.T) {
	f := newFleet(t)
	f.erase(t, 1, 2, 3)
	f.movingClock.Advance(delay)
	verifier, err := verification.NewVerifier(verification.Config{
		Sessions: fixture.Misfit{SessionFactory: f, Changed: map[string]string{"1": "anna", "3": "zoe"}},
		Clock:    f.movingClock, IDs: f.ids, DataMap: fleetMap(t), Plan: f.eraser.Plan(),
	})
	check(err)
	found, more, err := verifier.RunOnce(t.Context(), delay)
	if !errors.Is(err, domain.ErrSubject) || strings.Contains(err.Error(), "anna") || more || len(found) != 1 ||
		!slices.Equal(f.verified(t, 1, 2, 3), []string{"2"}) {
		t.Errorf("%d are verified: %v", len(found), err)
	}
	if _, _, err := verifier.RunOnce(t.Context(), delay); err != nil {
		t.Errorf("a second pass: %v", err)
	}
}

// If two processes verify an erasure concurrently, only one of them records events.
func TestAnErasureThatTwoProcessesVerifyIsVerifiedOnce(t *testing.T) {
	f := newFleet(t)
	f.erase(t, 1, 2)
	f.movingClock.Advance(delay)
	one, other := f.process(t), f.process(t)
	f.races = func() {
		if found, err := run(t, other); err != nil || len(found) != 2 {
			t.Errorf("the other process: %v, %v", found, err)
		}
	}
	found, err := run(t, one)
	if got := f.verified(t, 1, 2); err != nil || len(found) > 0 || !slices.Equal(got, []string{"1", "2"}) {
		t.Errorf("%v are verified, by %v: %v", got, found, err)
	}
}

func TestAFailureIsRetriedAndFinallySkipped(t *testing.T) {
	unavailable := &domain.Error{Code: domain.ErrUnavailable}
	for name, c := range map[string]struct {
		err    error
		calls  int // until the second erasure is verified; 0 if it never is
		events []string
	}{
		"a subject that fails":  {errBoom, 4, []string{"2"}},
		"a statement that ends": {unavailable, 4, []string{"2"}},
		"a configuration":       {domain.Misconfigured("verify", "row-level security"), 0, nil},
		"a data map":            {&domain.Error{Code: domain.ErrManifest}, 0, nil},
		"a shutdown":            {context.Canceled, 0, nil},
	} {
		f := newFleet(t)
		f.erase(t, 1, 2)
		f.movingClock.Advance(delay)
		f.fails = func(of domain.SubjectID) error {
			if of.String() == "1" {
				return c.err
			}
			return nil
		}
		v := f.process(t)
		calls := 0
		for n := range 6 {
			_, _, err := v.RunOnce(t.Context(), delay)
			if len(f.verified(t, 2)) > 0 {
				calls = n + 1
				break
			}
			if !errors.Is(err, c.err) {
				t.Errorf("%s: got %v", name, err)
			}
		}
		if got := f.verified(t, 1, 2); calls != c.calls || !slices.Equal(got, c.events) {
			t.Errorf("%s: %v are verified after %d calls, want %v after %d", name, got, calls, c.events, c.calls)
		}
		f.fails = nil
		want := []string{"1", "2"}
		if c.calls > 0 {
			want = c.events
		}
		if _, err := run(t, v); err != nil || !slices.Equal(f.verified(t, 1, 2), want) {
			t.Errorf("%s: once it is gone, %v are verified, want %v: %v", name, f.verified(t, 1, 2), want, err)
		}
	}
}

func TestOldErasuresAreSkipped(t *testing.T) {
	f := newFleet(t)
	f.erase(t, 1, 2)
	f.movingClock.Set(noon.AddDate(0, 0, 8))
	f.erase(t, 3)
	f.movingClock.Advance(delay)
	if _, err := run(t, f.process(t)); err != nil || !slices.Equal(f.verified(t, 1, 2, 3), []string{"3"}) {
		t.Errorf("%v are verified: %v", f.verified(t, 1, 2, 3), err)
	}
}

// If the clock of a process is wrong, the recorded time of an erasure may lie in the future. Such an erasure does not
// delay the verification of later erasures.
func TestAMarkFromTheFutureDelaysNoOther(t *testing.T) {
	for ahead, want := range map[time.Duration][]string{time.Hour: {"1", "2"}, time.Minute: nil} {
		f := newFleet(t)
		f.movingClock.Set(noon.Add(ahead))
		f.erase(t, 1)
		f.movingClock.Set(noon.Add(-delay))
		f.erase(t, 2)
		f.movingClock.Set(noon)
		if _, err := run(t, f.process(t)); err != nil || !slices.Equal(f.verified(t, 1, 2), want) {
			t.Errorf("%v ahead: %v are verified, want %v: %v", ahead, f.verified(t, 1, 2), want, err)
		}
	}
}

func TestLeftOversAreReturned(t *testing.T) {
	f := newFleet(t)
	f.erase(t, 1)
	check(f.Insert("letters", memory.Row{"id": int64(1), "users_id": int64(1), "body": "Dear Zoe"})) // by a late job
	f.movingClock.Advance(delay)
	found, err := run(t, f.process(t))
	if err != nil || len(found) != 1 || fmt.Sprint(found[0].LeftOver) != "[{letters  1}]" {
		t.Errorf("got %+v, %v", found, err)
	}
}
