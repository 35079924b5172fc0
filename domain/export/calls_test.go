package export_test

import (
	"context"
	"math"
	"runtime"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/golang/mock/gomock"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/export"
	"github.com/habeas-data/habeas/ports/mocks"
)

// now returns the time of a synctest bubble, which passes only while all goroutines wait.
func now() time.Time { return time.Now() } //nolint:forbidigo // not the wall clock

func TestASystemThatFailsFailsNothingElse(t *testing.T) {
	for name, respond := range map[string]exportFunc{
		"an error": fails,
		"a cancellation": func(context.Context, domain.SubjectRef) ([]domain.ExportRecord, error) {
			return nil, context.Canceled
		},
		"a panic": func(context.Context, domain.SubjectRef) ([]domain.ExportRecord, error) { panic(errBoom) },
		"an end": func(context.Context, domain.SubjectRef) ([]domain.ExportRecord, error) {
			runtime.Goexit()
			return nil, nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, 0,
				resolver(t, "mail", has("address")), resolver(t, "desk", respond), resolver(t, "ads", has("segment")))
			w.expectExport(domain.ExportRecord{Source: "users", Field: "email"})
			bundle, err := w.Export(t.Context(), w.Session, w.Subject)
			if err != nil || !slices.Equal(bundle.IncompleteSources, []string{"desk"}) {
				t.Fatalf("got %v, %v", bundle.IncompleteSources, err)
			}
			if got := printed(bundle.Records); !slices.Equal(got, []string{"users.email", "mail.address", "ads.segment"}) {
				t.Errorf("got %v", got)
			}
		})
	}
}

func TestASystemThatIgnoresItsDeadlineDelaysNoExport(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		ignores := func(context.Context, domain.SubjectRef) ([]domain.ExportRecord, error) {
			<-release
			return records("late"), nil
		}
		w := newWorld(t, time.Minute,
			resolver(t, "mail", ignores), resolver(t, "desk", has("tickets")), resolver(t, "ads", ignores))
		w.expectExport(domain.ExportRecord{Source: "users", Field: "email"})
		start := now()
		bundle, err := w.Export(t.Context(), w.Session, w.Subject)
		waited := now().Sub(start)
		close(release) // their responses come too late
		if err != nil || !slices.Equal(bundle.IncompleteSources, []string{"mail", "ads"}) {
			t.Fatalf("got %v, %v", bundle.IncompleteSources, err)
		}
		if got := printed(bundle.Records); !slices.Equal(got, []string{"users.email", "desk.tickets"}) {
			t.Errorf("got %v", got)
		}
		if waited != time.Minute {
			t.Errorf("waited %v for a deadline of a minute", waited)
		}
	})
}

func TestSystemsAreCalledConcurrently(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := func(field string) exportFunc {
			return func(ctx context.Context, _ domain.SubjectRef) ([]domain.ExportRecord, error) {
				select {
				case <-time.After(40 * time.Second):
					return records(field), nil
				case <-ctx.Done():
					return nil, ctx.Err()
				}
			}
		}
		w := newWorld(t, time.Minute, resolver(t, "mail", slow("address")), resolver(t, "desk", slow("tickets")))
		w.expectExport()
		start := now()
		bundle, err := w.Export(t.Context(), w.Session, w.Subject)
		if err != nil || len(bundle.IncompleteSources) > 0 {
			t.Fatalf("got %v, %v", bundle.IncompleteSources, err)
		}
		if got := printed(bundle.Records); !slices.Equal(got, []string{"mail.address", "desk.tickets"}) {
			t.Errorf("got %v", got)
		}
		if waited := now().Sub(start); waited != 40*time.Second {
			t.Errorf("two responses after 40 seconds each took %v", waited)
		}
	})
}

// The limits of the worker also hold for exports. A system whose call they do not admit is incomplete.
func TestALimitThatDoesNotAdmitACallMakesTheExportIncomplete(t *testing.T) {
	mail := func(context.Context, domain.SubjectRef) ([]domain.ExportRecord, error) {
		return records("address"), nil
	}
	desk := mocks.NewMockResolver(gomock.NewController(t)) // a call fails the test
	desk.EXPECT().Name().Return("desk").AnyTimes()
	left := make(chan string, 2)
	w := newLimited(t, time.Minute, func(_ context.Context, system string) (func(), bool) {
		return func() { left <- system }, system == "mail"
	}, resolver(t, "mail", mail), desk)
	w.expectExport()
	bundle, err := w.Export(t.Context(), w.Session, w.Subject)
	if err != nil || !slices.Equal(bundle.IncompleteSources, []string{"desk"}) ||
		!slices.Equal(printed(bundle.Records), []string{"mail.address"}) || len(left) != 1 || <-left != "mail" {
		t.Errorf("got %v, %v, %v", printed(bundle.Records), bundle.IncompleteSources, err)
	}
}

// A resolver that ignores its deadline keeps no place from the worker.
func TestACallThatIgnoresItsDeadlineKeepsNoPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release, left := make(chan struct{}), make(chan string, 2)
		ignores := func(context.Context, domain.SubjectRef) ([]domain.ExportRecord, error) {
			<-release
			return nil, nil
		}
		w := newLimited(t, time.Minute, func(_ context.Context, system string) (func(), bool) {
			return func() { left <- system }, true
		}, resolver(t, "mail", ignores))
		w.expectExport()
		_, err := w.Export(t.Context(), w.Session, w.Subject)
		synctest.Wait()
		if err != nil || len(left) != 1 {
			t.Errorf("%d places were left at the deadline, %v", len(left), err)
		}
		close(release)
		synctest.Wait()
		if len(left) != 1 {
			t.Errorf("the place was left %d times", len(left))
		}
	})
}

func TestEverySystemHasADeadline(t *testing.T) {
	for configured, want := range map[time.Duration]time.Duration{
		0:         export.DefaultResolverTimeout,
		time.Hour: time.Hour,
	} {
		synctest.Test(t, func(t *testing.T) {
			check := func(ctx context.Context, _ domain.SubjectRef) ([]domain.ExportRecord, error) {
				if deadline, ok := ctx.Deadline(); !ok || deadline.Sub(now()) != want {
					t.Errorf("the deadline is at %v, want it %v from now", deadline, want)
				}
				return nil, nil
			}
			w := newWorld(t, configured, resolver(t, "desk", check))
			w.expectExport()
			if _, err := w.Export(t.Context(), w.Session, w.Subject); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestASystemWithTwoRefsIsCalledTwiceAndNamedOnce(t *testing.T) {
	desk := mocks.NewMockResolver(gomock.NewController(t))
	desk.EXPECT().Name().Return("desk").AnyTimes()
	w := newWorld(t, 0, desk)
	w.Subject.Refs = nil
	for _, value := range []string{"old", "new", "newest"} {
		w.Subject.Refs = append(w.Subject.Refs, domain.SubjectRef{Kind: "desk", Value: value})
	}
	desk.EXPECT().ExportSubject(gomock.Any(), w.Subject.Refs[0]).DoAndReturn(fails)
	desk.EXPECT().ExportSubject(gomock.Any(), w.Subject.Refs[1]).DoAndReturn(has("tickets"))
	desk.EXPECT().ExportSubject(gomock.Any(), w.Subject.Refs[2]).DoAndReturn(fails)
	w.expectExport()
	bundle, err := w.Export(t.Context(), w.Session, w.Subject)
	if err != nil || !slices.Equal(bundle.IncompleteSources, []string{"desk"}) {
		t.Fatalf("got %v, %v", bundle.IncompleteSources, err)
	}
	if got := printed(bundle.Records); !slices.Equal(got, []string{"desk.tickets"}) {
		t.Errorf("got %v", got)
	}
}

func TestASystemWithAnInvalidValueIsIncomplete(t *testing.T) {
	for _, value := range []any{math.NaN(), math.Inf(1), time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC), make(chan int)} {
		odd := func(context.Context, domain.SubjectRef) ([]domain.ExportRecord, error) {
			return []domain.ExportRecord{{Field: "odd", Value: value}}, nil
		}
		w := newWorld(t, 0, resolver(t, "desk", odd))
		w.expectExport(domain.ExportRecord{Source: "users", Field: "email"})
		bundle, err := w.Export(t.Context(), w.Session, w.Subject)
		if err != nil || !slices.Equal(bundle.IncompleteSources, []string{"desk"}) || len(bundle.Records) != 1 {
			t.Errorf("%v: got %v, %v", value, bundle.IncompleteSources, err)
		}
	}
}
