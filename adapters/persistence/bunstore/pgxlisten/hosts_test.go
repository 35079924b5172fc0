package pgxlisten_test

import (
	"context"
	"errors"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore/pgxlisten"
)

// frozenFirst returns a configuration with two hosts. The first one does not respond, and the second one is the server
// s.
func frozenFirst(t *testing.T, s *server, parameters string) *pgx.ConnConfig {
	t.Helper()
	config, err := pgx.ParseConfig("postgres://frozen.invalid,secret.invalid/db?sslmode=disable" + parameters)
	must(t, err)
	config.LookupFunc = s.config(t).LookupFunc
	config.DialFunc = func(ctx context.Context, network, address string) (net.Conn, error) {
		if !strings.HasPrefix(address, "frozen") {
			return s.dial(ctx, network, address)
		}
		client, _ := net.Pipe()
		return client, nil
	}
	return config
}

func TestAFrozenHostDoesNotBlockTheNextHost(t *testing.T) {
	for parameters, within := range map[string]time.Duration{
		"":                    5 * time.Second,
		"&connect_timeout=2":  2 * time.Second,
		"&connect_timeout=60": 5 * time.Second,
	} {
		bubble(t, func(t *testing.T) {
			s := newServer()
			config := frozenFirst(t, s, parameters)
			r := run(t, config, pgxlisten.Options{})
			pass(within - time.Millisecond)
			r.wantWakes(t, 0)
			pass(2 * time.Millisecond)
			r.wantWakes(t, 1)
			if warnings := r.log.warnings(t); len(warnings) > 0 {
				t.Errorf("%s: the log holds %s", parameters, r.log.String())
			}
		})
	}
}

func TestAServerThatFreezesIsLeftWithin15Seconds(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := newServer()
		s.respond = func(_ *server, query string) bool { return query == "-- ping" } // no response to a ping
		r := run(t, s.config(t), pgxlisten.Options{})
		pass(15 * time.Second)
		r.wantWakes(t, 2)
	})
}

func TestWhileAStandbyIsPromotedItConnectsTwiceASecondAndLogsRarely(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := newServer()
		config := s.config(t)
		promoted := time.Now().Add(20 * time.Second)
		config.ValidateConnect = func(context.Context, *pgconn.PgConn) error {
			if time.Now().Before(promoted) {
				return errors.New("read only connection")
			}
			return nil
		}
		r := run(t, config, pgxlisten.Options{})
		pass(20*time.Second - time.Millisecond)
		r.wantWakes(t, 0)
		pass(501 * time.Millisecond)
		r.wantWakes(t, 1)
		if warnings := r.log.warnings(t); len(warnings) != 1 {
			t.Errorf("%d warnings", len(warnings))
		}
	})
}

func TestAProxyIsLoggedOnce(t *testing.T) {
	for pid, warnings := range map[string]int{"1": 0, "4711": 1} { // the server announced the process id 1
		bubble(t, func(t *testing.T) {
			s := newServer()
			s.respond = func(s *server, query string) bool {
				if query == "SELECT pg_backend_pid()" {
					column := pgproto3.FieldDescription{Name: []byte("pg_backend_pid"), DataTypeOID: 23}
					s.say(&pgproto3.RowDescription{Fields: []pgproto3.FieldDescription{column}},
						&pgproto3.DataRow{Values: [][]byte{[]byte(pid)}})
				}
				return false
			}
			r := run(t, s.config(t), pgxlisten.Options{})
			for range 2 {
				pass(time.Second)
				s.drop()
			}
			pass(time.Second)
			r.wantWakes(t, 3)
			if got := strings.Count(r.log.String(), "goes through a proxy"); got != warnings {
				t.Errorf("pid %s: the log holds %s", pid, r.log.String())
			}
		})
	}
}
