package stack_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/golang/mock/gomock"

	"github.com/habeas-data/habeas/adapters/http/httpapi"
	"github.com/habeas-data/habeas/adapters/persistence/memory"
	"github.com/habeas-data/habeas/app/stack"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/observation"
	"github.com/habeas-data/habeas/internal/tests/fixture"
	"github.com/habeas-data/habeas/internal/tests/observed"
	"github.com/habeas-data/habeas/ports"
	"github.com/habeas-data/habeas/ports/mocks"
)

var errBoom = errors.New("boom: zoe@example.org")

// world is a stack in memory whose observer is a recorder. The only external system is "desk", and the subject 42 has
// an id (ref) in it.
type world struct {
	stack.Stack
	api      *httpapi.API
	recorder *observed.Recorder
	desk     *mocks.MockRectifyingResolver
	hook     func() error
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{recorder: &observed.Recorder{}, desk: mocks.NewMockRectifyingResolver(gomock.NewController(t))}
	w.desk.EXPECT().Name().Return("desk").AnyTimes()
	dataMap := fixture.MustMap(t, users)
	store, err := memory.New(dataMap, memory.Options{Observer: w.recorder})
	must(t, err)
	must(t, store.Insert("users", memory.Row{"id": 42, "email": "zoe@example.org"}))
	w.Stack, err = stack.New(stack.Config{
		Sessions: store, DataMap: dataMap, Resolvers: []ports.Resolver{w.desk},
		Options: stack.Options{
			Observer: w.recorder,
			Hooks: stack.Hooks{BeforeErasure: func(context.Context, ports.Session, domain.Subject) error {
				if w.hook == nil {
					return nil
				}
				return w.hook()
			}},
		},
	})
	must(t, err)
	w.api, err = w.API(httpapi.Config{})
	must(t, err)
	w.api = w.api.With(httpapi.WithRestriction())
	return w
}

func zoe(t *testing.T) domain.Subject {
	t.Helper()
	return fixture.MustSubject(t, "42", domain.SubjectRef{Kind: "desk", Value: "c-1"})
}

// request sends a request to the API and returns the status of the response.
func (w *world) request(t *testing.T, method, path, body string) int {
	t.Helper()
	response := w.api.Route(t.Context(), method, path, httpapi.Request{
		Subject:     func(context.Context) (domain.Subject, error) { return zoe(t), nil },
		ContentType: "application/json", Body: strings.NewReader(body),
	})
	if response.Stream != nil {
		_, err := io.Copy(io.Discard, response.Stream)
		must(t, err)
		must(t, response.Stream.Close())
	}
	return response.Status
}

func TestRightsAreObservedInTheirSessionAndRequest(t *testing.T) {
	w := newWorld(t)
	w.desk.EXPECT().ExportSubject(gomock.Any(), gomock.Any()).Return(nil, nil)
	w.desk.EXPECT().ExportSubject(gomock.Any(), gomock.Any()).Return(nil, errBoom)
	const ok = "ok 200"
	for _, c := range []struct{ method, path, body, route, right, call string }{
		{"POST", "/consent", `{"granted":true,"policy_version":"1","purpose":"news"}`, "", "consent granted: ok", ""},
		{"POST", "/consent", `{"granted":false,"policy_version":"1","purpose":"news"}`, "", "consent withdrawn: ok", ""},
		{"POST", "/restriction", `{"restricted":true}`, "", "restriction placed: ok", ""},
		{"POST", "/restriction", `{"restricted":false}`, "", "restriction lifted: ok", ""},
		{"GET", "/export", "", "", "export: ok", "call desk export: ok"},
		{"GET", "/export", "", "", "export: incomplete", "call desk export: internal"},
		{"DELETE", "/", "", "", "erasure: ok", ""},
		{"GET", "/consent/news", "", "/consent/{purpose}", "", ""},
	} {
		if status := w.request(t, c.method, c.path, c.body); status != http.StatusOK {
			t.Fatalf("%s %s: %d", c.method, c.path, status)
		}
		if c.route == "" {
			c.route = c.path
		}
		in := "request " + c.method + " " + c.route
		var want []string
		if c.call != "" {
			want = append(want, in+" > session > "+c.call)
		}
		want = append(want, in+" > session: ok")
		if c.right != "" {
			want = append(want, c.right)
		}
		w.recorder.Want(t, append(want, in+": "+ok)...)
	}
}

// erase erases the subject, and then runs the given function in the same session.
func (w *world) erase(t *testing.T, subject domain.Subject, then func() error) error {
	t.Helper()
	return w.Sessions.Do(t.Context(), func(ctx context.Context, s ports.Session) error {
		if _, err := w.Eraser.Erase(ctx, s, subject); err != nil {
			return err
		}
		return then()
	})
}

func succeed() error { return nil }

func TestAFailedErasureIsObserved(t *testing.T) {
	w := newWorld(t)
	unknown := fixture.MustSubject(t, "42", domain.SubjectRef{Kind: "zoe@example.org", Value: "c-1"})
	_ = w.erase(t, unknown, succeed)
	w.recorder.Want(t, "session: subject", "erasure: subject")

	w.hook = func() error { return domain.ErrUnavailable }
	_ = w.erase(t, zoe(t), succeed)
	w.recorder.Want(t, "session: unavailable", "erasure: unavailable")

	w.hook = func() error { panic(errBoom) }
	_ = w.erase(t, zoe(t), succeed)
	w.recorder.Want(t, "session: internal", "erasure: panic")
}

// The observer is notified of an erasure only after its session has ended.
func TestAnErasureThatRollsBackIsObservedAsFailed(t *testing.T) {
	w := newWorld(t)
	_ = w.erase(t, zoe(t), func() error {
		if lines := w.recorder.Lines(); len(lines) > 0 {
			t.Errorf("observed before the end of the session: %v", lines)
		}
		return context.DeadlineExceeded
	})
	w.recorder.Want(t, "session: timeout", "erasure: timeout")
	func() {
		defer func() { _ = recover() }()
		_ = w.erase(t, zoe(t), func() error { panic(errBoom) })
	}()
	w.recorder.Want(t, "session: panic", "erasure: internal")
}

func TestRectificationsAreObserved(t *testing.T) {
	w := newWorld(t)
	for want, corrections := range map[string]domain.Corrections{
		"ok": {domain.CategoryContact: "new@example.org"}, "invalid": {"zoe@example.org": "x"},
	} {
		_ = w.Sessions.Do(t.Context(), func(ctx context.Context, s ports.Session) error {
			_, err := w.Rectifier.RectifySubject(ctx, s, zoe(t), corrections)
			return err
		})
		w.recorder.Want(t, "session: "+want, "rectification: "+want)
	}
}

// A decision counts as failed for the observer in two cases: the decision is not valid, or its session fails.
func TestFailedDecisionsAreObserved(t *testing.T) {
	w := newWorld(t)
	_ = w.Sessions.Do(t.Context(), func(ctx context.Context, s ports.Session) error {
		_, err := w.Consent.Record(ctx, s, zoe(t).ID, domain.ConsentDecision{Granted: true})
		return err
	})
	w.recorder.Want(t, "session: invalid", "consent granted: invalid")
	_ = w.Sessions.Do(t.Context(), func(ctx context.Context, s ports.Session) error {
		_, err := w.Restriction.Record(ctx, s, zoe(t).ID, domain.RestrictionDecision{Restricted: true, Source: "test"})
		must(t, err)
		return domain.ErrConflict
	})
	w.recorder.Want(t, "session: conflict", "restriction placed: conflict")
}

// A session in a wrapper of the application still reports its end, because AfterEnd is a method of ports.Session.
func TestOperationsOfAWrappedSessionAreObservedAfterItsEnd(t *testing.T) {
	w := newWorld(t)
	must(t, w.Sessions.Do(t.Context(), func(ctx context.Context, s ports.Session) error {
		_, err := w.Consent.Record(ctx, struct{ ports.Session }{s}, zoe(t).ID, domain.ConsentDecision{
			Purpose: "news", PolicyVersion: "1", Source: "test",
		})
		if lines := w.recorder.Lines(); len(lines) != 0 {
			t.Errorf("observed in the session: %v", lines)
		}
		return err
	}))
	w.recorder.Want(t, "session: ok", "consent withdrawn: ok")
}

func TestCallsOfAnExportThatDoNotReturnAreObserved(t *testing.T) {
	synctest.Test(t, callsThatDoNotReturn)
}

func callsThatDoNotReturn(t *testing.T) {
	w := newWorld(t)
	released := make(chan struct{})
	w.desk.EXPECT().ExportSubject(gomock.Any(), gomock.Any()).DoAndReturn(
		func(context.Context, domain.SubjectRef) ([]domain.ExportRecord, error) {
			<-released // ignores the end of its context
			return nil, nil
		})
	w.desk.EXPECT().ExportSubject(gomock.Any(), gomock.Any()).DoAndReturn(
		func(context.Context, domain.SubjectRef) ([]domain.ExportRecord, error) { panic(errBoom) })
	w.desk.EXPECT().ExportSubject(gomock.Any(), gomock.Any()).Return([]domain.ExportRecord{{}}, nil) // not valid
	for _, want := range []string{"timeout", "panic", "invalid"} {
		must(t, w.Sessions.Do(t.Context(), func(ctx context.Context, s ports.Session) error {
			_, err := w.Exporter.Export(ctx, s, zoe(t))
			return err
		}))
		w.recorder.Want(t, "session > call desk export: "+want, "session: ok", "export: incomplete")
	}
	close(released)
}

// The observer returns a context for each activity. The external system must get the context of its call.
func TestACallOfAnExportHasTheContextOfItsActivity(t *testing.T) {
	w := newWorld(t)
	w.desk.EXPECT().ExportSubject(gomock.Any(), gomock.Any()).DoAndReturn(
		func(ctx context.Context, _ domain.SubjectRef) ([]domain.ExportRecord, error) {
			_, inner := ports.StartActivity(ctx, w.recorder, observation.Activity{Kind: observation.ActivityRequest})
			inner.End(observation.ActivityEnd{Outcome: domain.OutcomeOK})
			return nil, nil
		})
	must(t, w.Sessions.Do(t.Context(), func(ctx context.Context, s ports.Session) error {
		_, err := w.Exporter.Export(ctx, s, zoe(t))
		return err
	}))
	const call = "session > call desk export"
	w.recorder.Want(t, call+" > request: ok", call+": ok", "session: ok", "export: ok")
}

func TestAnObserverThatPanicsChangesNothing(t *testing.T) {
	dataMap := fixture.MustMap(t, users)
	for _, broken := range []observed.Broken{{}, {AtEnd: true}} {
		store, err := memory.New(dataMap, memory.Options{Observer: broken})
		must(t, err)
		engines, err := stack.New(stack.Config{
			Sessions: store, DataMap: dataMap, Options: stack.Options{Observer: broken},
		})
		must(t, err)
		api, err := engines.API(httpapi.Config{})
		must(t, err)
		w := &world{api: api.With(httpapi.WithRestriction())}
		for path, method := range map[string]string{"/": "DELETE", "/export": "GET", "/restriction": "GET"} {
			response := w.api.Route(t.Context(), method, path, httpapi.Request{
				Subject: func(context.Context) (domain.Subject, error) { return domain.NewSubject("42") },
			})
			if response.Status != http.StatusOK {
				t.Errorf("%s %s: %d", method, path, response.Status)
			}
		}
	}
}

var must = fixture.Must
