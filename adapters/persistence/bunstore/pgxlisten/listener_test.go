package pgxlisten_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore/pgxlisten"
	"github.com/habeas-data/habeas/domain"
)

func TestItListensAndWakesOnceItIsConnected(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := newServer()
		r := run(t, s.config(t), pgxlisten.Options{})
		pass(7 * time.Second)
		r.wantWakes(t, 1)
		if queries, _ := s.heard(); !slices.Equal(queries, []string{"SELECT pg_backend_pid()", "LISTEN habeas_outbox"}) {
			t.Errorf("queries %q", queries)
		}
	})
}

func TestItListensForItsDataMap(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := newServer()
		run(t, s.config(t), pgxlisten.Options{Name: "staff"})
		pass(7 * time.Second)
		if queries, _ := s.heard(); !slices.Contains(queries, "LISTEN habeas_staff_outbox") || len(queries) != 2 {
			t.Errorf("queries %q", queries)
		}
	})
}

func TestEachNotificationWakes(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := newServer()
		r := run(t, s.config(t), pgxlisten.Options{})
		pass(0)
		for n := range int64(3) {
			pass(time.Second)
			s.notify()
			pass(0)
			r.wantWakes(t, n+2)
		}
	})
}

// A single notification wakes the process immediately. If notifications follow each other, random delays
// prevent the processes from waking at the same time. One wake serves all notifications that arrive during a delay.
func TestNotificationsThatFollowEachOtherAreSpread(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := newServer()
		r := run(t, s.config(t), pgxlisten.Options{})
		pass(time.Second)
		s.notify()
		pass(0)
		r.wantWakes(t, 2)
		at := map[time.Duration]bool{}
		for n := range int64(20) {
			pass(50 * time.Millisecond)
			began := time.Now()
			s.notify()
			s.notify()
			for pass(0); r.wakes.Load() < n+3; pass(100 * time.Microsecond) {
				if time.Since(began) > 3*time.Millisecond {
					t.Fatalf("no wake after %v", time.Since(began))
				}
			}
			at[time.Since(began)] = true
			pass(10 * time.Millisecond)
			r.wantWakes(t, n+3)
		}
		if len(at) < 3 {
			t.Errorf("wakes came after %v only", at)
		}
		pass(100 * time.Millisecond)
		s.notify()
		pass(0)
		r.wantWakes(t, 23)
	})
}

func TestAHandlerOfTheApplicationDoesNotConsumeNotifications(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := newServer()
		config := s.config(t)
		config.OnNotification = func(*pgconn.PgConn, *pgconn.Notification) { t.Error("it was called") }
		r := run(t, config, pgxlisten.Options{})
		pass(0)
		s.notify()
		pass(0)
		r.wantWakes(t, 2)
	})
}

func TestASilentConnectionIsCheckedAndKept(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := newServer()
		r := run(t, s.config(t), pgxlisten.Options{})
		pass(20 * time.Second)
		s.notify()
		pass(7 * time.Second)
		queries, _ := s.heard()
		if len(queries) != 4 || !slices.Equal(queries[2:], []string{"-- ping", "-- ping"}) {
			t.Errorf("queries %q", queries)
		}
		pass(time.Second)
		if queries, _ = s.heard(); len(queries) != 5 || len(s.connections()) != 1 {
			t.Errorf("%d connections with queries %q", len(s.connections()), queries)
		}
		r.wantWakes(t, 2)
	})
}

func TestANotificationDuringACheckWakes(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := newServer()
		s.respond = func(s *server, query string) bool {
			if query == "-- ping" {
				s.notify()
			}
			return false
		}
		r := run(t, s.config(t), pgxlisten.Options{})
		pass(8500 * time.Millisecond)
		r.wantWakes(t, 2)
	})
}

func TestAServerThatDoesNotRespondIsLeft(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := newServer()
		s.respond = func(_ *server, query string) bool { return query == "-- ping" } // no response to a ping
		r := run(t, s.config(t), pgxlisten.Options{})
		pass(12 * time.Second)
		if len(s.connections()) != 1 {
			t.Errorf("connections at %v", s.connections())
		}
		pass(2 * time.Second)
		if len(s.connections()) != 2 {
			t.Errorf("connections at %v", s.connections())
		}
		r.wantWakes(t, 2)
		if warnings := r.log.warnings(t); len(warnings) != 1 || warnings[0]["class"] != "timeout" {
			t.Errorf("the log holds %s", r.log.String())
		}
	})
}

func TestALostConnectionIsReplacedAndWakes(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := newServer()
		r := run(t, s.config(t), pgxlisten.Options{})
		pass(time.Second)
		s.drop()
		pass(time.Second)
		r.wantWakes(t, 2)
		s.notify()
		pass(0)
		r.wantWakes(t, 3)
		warnings := r.log.warnings(t)
		if len(warnings) != 1 || warnings[0]["msg"] != "habeas: lost the connection that listens for outbox entries" ||
			warnings[0]["class"] != "unavailable" {
			t.Errorf("the log holds %s", r.log.String())
		}
	})
}

func TestRunEndsWithItsContextAndTerminatesItsConnection(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := newServer()
		r := run(t, s.config(t), pgxlisten.Options{})
		pass(time.Second)
		began := time.Now()
		r.stop()
		pass(0)
		if _, goodbyes := s.heard(); time.Since(began) != 0 || goodbyes != 1 {
			t.Errorf("it took %v, %d goodbyes", time.Since(began), goodbyes)
		}
		if warnings := r.log.warnings(t); len(warnings) > 0 {
			t.Errorf("the log holds %s", r.log.String())
		}
	})
}

func TestAConfigurationThatCannotWorkIsRefused(t *testing.T) {
	good, wake := newServer().config(t), func() {}
	for name, c := range map[string]struct {
		config *pgx.ConnConfig
		wake   func()
		opts   pgxlisten.Options
	}{
		"no connection":           {nil, wake, pgxlisten.Options{}},
		"a connection by hand":    {&pgx.ConnConfig{}, wake, pgxlisten.Options{}},
		"nobody to wake":          {good, nil, pgxlisten.Options{}},
		"a name that is not one":  {good, wake, pgxlisten.Options{Name: "Staff; x"}},
		"a negative time to wait": {good, wake, pgxlisten.Options{Timeout: -1}},
	} {
		if l, err := pgxlisten.New(c.config, c.wake, c.opts); !errors.Is(err, domain.ErrConfiguration) || l != nil {
			t.Errorf("%s: got %v", name, err)
		}
	}
}
