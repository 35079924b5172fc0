package pgxlisten_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore/pgxlisten"
)

var errNoRoute = errors.New("dial secret_host for secret_user")

// wantWaits checks the times between consecutive connections. Each must be a random duration between half of the wanted
// duration and the wanted duration.
func wantWaits(t *testing.T, connections []time.Duration, want ...time.Duration) {
	t.Helper()
	if len(connections) < len(want)+1 {
		t.Fatalf("only %d connections", len(connections))
	}
	for i, longest := range want {
		if wait := connections[i+1] - connections[i]; wait < longest/2 || wait > longest {
			t.Errorf("wait %d was %v, want %v at most and half of it at least", i+1, wait, longest)
		}
	}
}

func TestTheBackoffDoublesUpToTheLimit(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := newServer()
		s.dialled = func(context.Context, int) error { return errNoRoute }
		r := run(t, s.config(t), pgxlisten.Options{})
		pass(5 * time.Minute)
		var want []time.Duration
		for wait := 100 * time.Millisecond; wait < 30*time.Second; wait *= 2 {
			want = append(want, wait)
		}
		wantWaits(t, s.connections(), append(want, 30*time.Second, 30*time.Second)...)
		r.wantWakes(t, 0)
	})
}

func TestOnlyALongConnectionResetsTheBackoff(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := newServer()
		s.dialled = func(_ context.Context, n int) error {
			if n < 3 {
				return errNoRoute
			}
			return nil
		}
		r := run(t, s.config(t), pgxlisten.Options{})
		pass(400 * time.Millisecond) // at most 100 ms and 200 ms of backoff until it is connected
		for i, c := range []struct{ held, wait time.Duration }{
			{time.Second, 400 * time.Millisecond}, // a short connection does not reset the backoff
			{31 * time.Second, 100 * time.Millisecond},
			{time.Second, 200 * time.Millisecond},
		} {
			wakes := int64(i + 1)
			r.wantWakes(t, wakes)
			pass(c.held)
			s.drop()
			pass(c.wait/2 - time.Millisecond)
			r.wantWakes(t, wakes)
			pass(c.wait/2 + time.Millisecond)
			r.wantWakes(t, wakes+1)
		}
	})
}

func TestAServerThatDoesNotAcceptAConnectionTimesOut(t *testing.T) {
	for name, prepare := range map[string]func(s *server){
		"not connected": func(s *server) {
			s.dialled = func(ctx context.Context, _ int) error {
				<-ctx.Done()
				return fmt.Errorf("secret_host: %w", ctx.Err())
			}
		},
		"no response": func(s *server) { s.greeting = &pgproto3.NoticeResponse{Severity: "NOTICE"} },
		"no LISTEN":   func(s *server) { s.respond = func(*server, string) bool { return true } },
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				s := newServer()
				prepare(s)
				r := run(t, s.config(t), pgxlisten.Options{})
				pass(6*time.Second - time.Millisecond) // a silent server has 1 s to close the connection
				if warnings := r.log.warnings(t); len(warnings) != 1 || warnings[0]["class"] != "timeout" ||
					warnings[0]["msg"] != "habeas: cannot connect to listen for outbox entries" {
					t.Errorf("the log holds %s", r.log.String())
				}
				pass(time.Second)
				if len(s.connections()) != 2 {
					t.Errorf("connections at %v", s.connections())
				}
				r.wantWakes(t, 0)
			})
		})
	}
}

func TestTheLogHasNoAddressesAndNoCredentials(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := newServer()
		s.greeting = &pgproto3.ErrorResponse{
			Severity: "FATAL", Code: "28P01", Message: `password authentication failed for user "secret_user"`,
		}
		s.dialled = func(_ context.Context, n int) error {
			if n == 1 {
				return errNoRoute
			}
			return nil
		}
		r := run(t, s.config(t), pgxlisten.Options{})
		pass(time.Second)
		warnings := r.log.warnings(t)
		if len(warnings) < 2 || warnings[0]["sqlstate"] != nil || warnings[1]["sqlstate"] != "28P01" {
			t.Errorf("the log holds %s", r.log.String())
		}
		if strings.Contains(r.log.String(), "secret") {
			t.Errorf("the log holds %s", r.log.String())
		}
	})
}

func TestRunEndsImmediatelyAtEveryStep(t *testing.T) {
	for name, dialled := range map[string]func(ctx context.Context, n int) error{
		"connecting": func(ctx context.Context, _ int) error { <-ctx.Done(); return ctx.Err() },
		"waiting":    func(context.Context, int) error { return errNoRoute },
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				s := newServer()
				s.dialled = dialled
				r := run(t, s.config(t), pgxlisten.Options{})
				pass(49 * time.Millisecond) // the shortest backoff is 50 ms
				began := time.Now()
				r.stop()
				if waited := time.Since(began); waited != 0 || len(s.connections()) != 1 {
					t.Errorf("it took %v and %d connections", waited, len(s.connections()))
				}
			})
		})
	}
}
