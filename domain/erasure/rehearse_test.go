package erasure_test

import (
	"cmp"
	"context"
	"errors"
	"reflect"
	"testing"

	"github.com/golang/mock/gomock"

	"github.com/habeas-data/habeas/adapters/persistence/memory"
	"github.com/habeas-data/habeas/app/stack"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/internal/tests/fixture"
	"github.com/habeas-data/habeas/internal/tests/mocked"
	"github.com/habeas-data/habeas/ports"
	"github.com/habeas-data/habeas/ports/mocks"
)

// holder has a store with Zoe, her two addresses, and keys of an external system.
type holder struct {
	stack.Stack
	store *memory.Store
	zoe   domain.Subject
}

func newHolder(t *testing.T, hooks stack.Hooks) holder {
	t.Helper()
	users := userTable()
	avatar := datamap.Column{Name: "avatar", Type: datamap.TypeText, Personal: &datamap.Annotation{
		Category: domain.CategoryIdentity, Ref: "media",
	}}
	users.Columns = append(users.Columns, avatar)
	dataMap, err := datamap.NewDataMap(users, addressTable())
	check(err)
	store, err := memory.New(dataMap, memory.Options{})
	check(err)
	media := mocks.NewMockKeyResolver(gomock.NewController(t)) // fails the test if it is called
	media.EXPECT().Name().Return("media").AnyTimes()
	engines, err := stack.New(stack.Config{
		Sessions: store, DataMap: dataMap, Resolvers: append(mocked.Resolvers(t, "desk", "mail"), media),
		Options: stack.Options{Hooks: hooks},
	})
	check(err)
	check(store.Insert("users", memory.Row{"id": 42, "email": "zoe@example.org", "avatar": "a.png"}))
	check(store.Insert("addresses", memory.Row{"id": 1, "user_id": 42, "street": "1 Rue de la Paix"}))
	check(store.Insert("addresses", memory.Row{"id": 2, "user_id": 42, "street": "2 Rue de la Paix"}))
	zoe, err := domain.NewSubject("42", ref("desk", "d-1"), ref("desk", "d-2"))
	check(err)
	return holder{engines, store, zoe}
}

func (h holder) rehearse(t *testing.T) datamap.Rehearsal {
	t.Helper()
	rehearsal, err := h.Eraser.Rehearse(t.Context(), h.Sessions, h.zoe)
	if err != nil || rehearsal.Refused != nil {
		t.Fatalf("got %+v, %v", rehearsal, err)
	}
	return rehearsal
}

func (h holder) eraseAs(t *testing.T, fingerprint string) (result domain.ErasureResult, err error) {
	t.Helper()
	err = h.Sessions.Do(t.Context(), func(ctx context.Context, s ports.Session) error {
		result, err = h.Eraser.EraseAsRehearsed(ctx, s, h.zoe, fingerprint)
		return err
	})
	return result, err
}

func (h holder) trail(t *testing.T) []domain.AuditEvent {
	t.Helper()
	return fixture.Trail(t, h.Sessions, h.zoe.ID)
}

func TestARehearsalReturnsTheEffectsOfTheErasure(t *testing.T) {
	h := newHolder(t, stack.Hooks{})
	rehearsal := h.rehearse(t)
	steps := []datamap.RehearsedStep{
		{Step: datamap.Step{Target: "addresses", Strategy: del}, Rows: 2},
		{Step: datamap.Step{Target: "users", Strategy: anon, Columns: []string{"email", "avatar"}}, Rows: 1},
	}
	external := []datamap.RehearsedExternal{
		{Resolver: "desk", Entries: 2}, {Resolver: "mail"}, {Resolver: "media", Entries: 1, Keys: 1},
	}
	if !reflect.DeepEqual(rehearsal.Steps, steps) || !reflect.DeepEqual(rehearsal.External, external) {
		t.Errorf("got %+v\nand  %+v", rehearsal.Steps, rehearsal.External)
	}
	if rehearsal.SubjectID != h.zoe.ID || rehearsal.RehearsedAt.IsZero() || len(rehearsal.Fingerprint) != 32 {
		t.Errorf("got %+v", rehearsal)
	}
	if _, times := h.store.Erased(h.zoe.ID); times != 0 || len(h.trail(t)) != 0 || len(h.store.Entries()) != 0 {
		t.Error("the rehearsal left something")
	}
	result, err := h.eraseAs(t, rehearsal.Fingerprint)
	if err != nil || result.Deleted["addresses"] != 2 || len(h.store.Entries()) != 3 {
		t.Errorf("got %+v, %v", result, err)
	}
}

func TestAnErasureThatDiffersFromItsRehearsalIsAConflict(t *testing.T) {
	h := newHolder(t, stack.Hooks{})
	fingerprint := h.rehearse(t).Fingerprint
	check(h.store.Insert("addresses", memory.Row{"id": 3, "user_id": 42, "street": "3 Rue de la Paix"}))
	if _, err := h.eraseAs(t, fingerprint); !errors.Is(err, domain.ErrConflict) {
		t.Errorf("got %v, want %v", err, domain.ErrConflict)
	}
	if rows, err := h.store.Rows("addresses"); err != nil || len(rows) != 3 || len(h.store.Entries()) != 0 {
		t.Error("something is erased")
	}
	trail := h.trail(t)
	if len(trail) != 2 || trail[0].EventType != domain.EventErasureRequested ||
		trail[1].EventType != domain.EventErasureStepFailed ||
		trail[1].Payload["target"] != "rehearsal" || trail[1].Payload["error"] != "conflict" {
		t.Errorf("the trail is %+v", trail)
	}
	if _, err := h.eraseAs(t, h.rehearse(t).Fingerprint); err != nil {
		t.Errorf("an erasure that was rehearsed again: %v", err)
	}
}

func TestAMalformedFingerprintIsInvalidAndLeavesNoTrace(t *testing.T) {
	h := newHolder(t, stack.Hooks{})
	for _, fingerprint := range []string{"", "abc", "zz3ce8de0d0f95a2d56adb0ff0b96c14"} {
		_, err := h.eraseAs(t, fingerprint)
		var invalid *domain.Error
		if !errors.As(err, &invalid) || invalid.Code != domain.ErrInvalid || invalid.Fields[0].Field != "fingerprint" {
			t.Errorf("%q: got %v", fingerprint, err)
		}
	}
	if len(h.trail(t)) > 0 {
		t.Error("there is a trail")
	}
}

func TestARehearsalCallsTheHookBeforeAndNotTheOneAfter(t *testing.T) {
	rehearsing := []bool{}
	h := newHolder(t, stack.Hooks{
		BeforeErasure: func(ctx context.Context, _ ports.Session, _ domain.Subject) error {
			rehearsing = append(rehearsing, ports.Rehearsing(ctx))
			return nil
		},
		AfterErasure: func(context.Context, domain.Subject, domain.ErasureResult) error {
			rehearsing = append(rehearsing, false)
			return nil
		},
	})
	fingerprint := h.rehearse(t).Fingerprint
	if !reflect.DeepEqual(rehearsing, []bool{true}) {
		t.Errorf("the hooks saw %v of a rehearsal", rehearsing)
	}
	if _, err := h.eraseAs(t, fingerprint); err != nil || len(rehearsing) != 3 {
		t.Errorf("the hooks saw %v of an erasure, %v", rehearsing, err)
	}
}

// ending returns a session factory whose Rehearse runs the function of the session. If this function succeeds, Rehearse
// returns the given error, as a failed commit would.
func (w world) ending(t *testing.T, commit error) ports.SessionFactory {
	t.Helper()
	sessions := mocks.NewMockSessionFactory(gomock.NewController(t))
	sessions.EXPECT().Rehearse(gomock.Any(), gomock.Any()).DoAndReturn(
		func(ctx context.Context, fn func(context.Context, ports.Session) error) error {
			if err := fn(ctx, w.Session); err != nil {
				return err
			}
			return commit
		})
	return sessions
}

func TestARefusalOfTheDatabaseIsAResultAndOtherErrorsAreErrors(t *testing.T) {
	refused := func(code domain.Code) error {
		return &domain.Error{Code: code, Op: "erase", Message: "by a constraint (table parcels)", Err: errBoom}
	}
	for name, c := range map[string]struct {
		step, commit error
		class        string // of the refusal; empty for an error
	}{
		"a constraint":           {refused(domain.ErrConflict), nil, "conflict"},
		"a value that is kept":   {refused(domain.ErrLeftOver), nil, "left_over"},
		"a missing privilege":    {refused(domain.ErrConfiguration), nil, "configuration"},
		"a NOT NULL column":      {refused(domain.ErrManifest), nil, "manifest"},
		"a trigger that raises":  {refused(""), nil, "internal"},
		"a deferred constraint":  {nil, refused(domain.ErrConflict), "conflict"},
		"a database that is off": {refused(domain.ErrUnavailable), nil, ""},
		"a commit that is off":   {nil, refused(domain.ErrUnavailable), ""},
		"a session that is used": {nil, refused(domain.ErrSession), ""},
		"a foreign error":        {errBoom, nil, ""},
		"a cancellation":         {&domain.Error{Err: context.Canceled}, nil, ""},
		"a missed deadline":      {nil, &domain.Error{Err: context.DeadlineExceeded}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, []string{"desk"}, ref("desk", "d-1"))
			w.allowStores()
			w.Audit.EXPECT().Append(gomock.Any(), gomock.Any()).AnyTimes()
			w.Audit.EXPECT().AppendEvidence(gomock.Any(), gomock.Any()).AnyTimes()
			w.Outbox.EXPECT().Enqueue(gomock.Any(), gomock.Any()).AnyTimes()
			w.locks()
			want := datamap.Rehearsal{
				SubjectID: w.ID, RehearsedAt: noon, External: []datamap.RehearsedExternal{{Resolver: "desk", Entries: 1}},
				Refused: &datamap.Refusal{Class: c.class, Message: "habeas: erase: by a constraint (table parcels)"},
			}
			if c.step != nil {
				w.appliesUntil(1, c.step)
				want.Steps = []datamap.RehearsedStep{}
				want.Refused.Target, want.Refused.Strategy = "users", anon
			} else {
				w.applies(3, 1, 1)
				want.Steps = []datamap.RehearsedStep{
					{Step: deleteSessions, Rows: 3}, {Step: anonymizeUsers, Rows: 1}, {Step: retainUsers, Rows: 1},
				}
			}
			got, err := w.Rehearse(t.Context(), w.ending(t, c.commit), w.Subject)
			switch {
			case c.class == "":
				if !errors.Is(err, cmp.Or(c.step, c.commit)) || !reflect.DeepEqual(got, datamap.Rehearsal{}) {
					t.Errorf("got %+v, %v", got, err)
				}
			case err != nil || !reflect.DeepEqual(got, want):
				t.Errorf("got %+v (%+v), %v, want %+v", got, got.Refused, err, want)
			}
		})
	}
}

// A refusal is a rejection of the erasure by the database. An error of the hook Before is not a refusal, even if it has
// the same code.
func TestAnErrorOfAHookIsNotARefusal(t *testing.T) {
	ofHook := &domain.Error{Code: domain.ErrConflict, Message: "not today"}
	h := newHolder(t, stack.Hooks{
		BeforeErasure: func(context.Context, ports.Session, domain.Subject) error { return ofHook },
	})
	_, err := h.Eraser.Rehearse(t.Context(), h.store, h.zoe)
	if !errors.Is(err, ofHook) || len(h.trail(t)) > 0 {
		t.Errorf("got %v", err)
	}
}

func TestASubjectThatDoesNotFitOpensNoSession(t *testing.T) {
	w := newWorld(t, nil)
	for _, subject := range []domain.Subject{{}, {ID: w.ID, Refs: []domain.SubjectRef{ref("unknown", "u")}}} {
		sessions := mocks.NewMockSessionFactory(gomock.NewController(t))
		if _, err := w.Rehearse(t.Context(), sessions, subject); !errors.Is(err, domain.ErrSubject) {
			t.Errorf("got %v, want %v", err, domain.ErrSubject)
		}
	}
}
