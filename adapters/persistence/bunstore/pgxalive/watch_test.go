package pgxalive_test

import (
	"context"
	"errors"
	"io"
	"net"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore/pgxalive"
	"github.com/habeas-data/habeas/domain"
)

// hosts simulates servers in memory. A frozen server never responds. Every other server responds to each message with
// one byte.
type hosts struct {
	mu     sync.Mutex
	frozen map[string]bool
	dials  map[string]int
	err    error         // returned by the next dials
	late   time.Duration // the duration of a statement
}

func (h *hosts) config(t *testing.T) *pgx.ConnConfig {
	t.Helper()
	config, err := pgx.ParseConfig("postgres://db.invalid/shop?sslmode=disable")
	must(t, err)
	h.frozen, h.dials = map[string]bool{}, map[string]int{}
	config.DialFunc = h.dial
	return config
}

func (h *hosts) dial(_ context.Context, _, address string) (net.Conn, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.dials[address]++
	if h.err != nil {
		return nil, h.err
	}
	client, server := net.Pipe()
	go h.serve(address, server)
	return client, nil
}

// serve responds to each message on the connection. It responds to an SSLRequest immediately, and to a statement after
// the duration h.late.
func (h *hosts) serve(address string, conn net.Conn) {
	defer conn.Close()
	message := make([]byte, 8)
	for {
		n, err := conn.Read(message)
		if err != nil {
			return
		}
		h.mu.Lock()
		frozen, late := h.frozen[address], h.late
		h.mu.Unlock()
		if frozen {
			_, _ = io.Copy(io.Discard, conn)
			return
		}
		if n < 8 {
			time.Sleep(late)
		}
		if _, err := conn.Write([]byte{'N'}); err != nil {
			return
		}
	}
}

func (h *hosts) freeze(address string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.frozen[address] = true
}

func (h *hosts) dialled(address string) int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.dials[address]
}

// query sends a statement, waits for the response, and returns the duration.
func query(conn net.Conn) (took time.Duration, err error) {
	began := time.Now()
	if _, err = conn.Write([]byte{'Q'}); err == nil {
		_, err = conn.Read(make([]byte, 1))
	}
	return time.Since(began), err
}

func watched(t *testing.T, h *hosts) func(address string) net.Conn {
	t.Helper()
	config := h.config(t)
	must(t, pgxalive.Watch(config, pgxalive.Options{}))
	t.Cleanup(func() { time.Sleep(2 * time.Hour) }) // the servers then have noticed that all connections are closed
	return func(address string) net.Conn {
		conn, err := config.DialFunc(t.Context(), "tcp", address)
		must(t, err)
		t.Cleanup(func() { _ = conn.Close() })
		return conn
	}
}

func TestAStatementOnAFrozenServerFailsAndSoDoAllConnectionsToIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &hosts{}
		dial := watched(t, h)
		first, second, elsewhere := dial("a:1"), dial("a:1"), dial("b:1")
		h.freeze("a:1")
		if took, err := query(first); err == nil || took != pgxalive.DefaultProbeAfter+pgxalive.DefaultTimeout {
			t.Errorf("the statement ended after %v with %v", took, err)
		}
		if took, err := query(second); err == nil || took != 0 {
			t.Errorf("on another connection it ended after %v with %v", took, err)
		}
		if _, err := query(elsewhere); err != nil {
			t.Errorf("another server was left: %v", err)
		}
	})
}

func TestALongStatementIsLeftAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &hosts{late: time.Minute}
		conn := watched(t, h)("a:1")
		if took, err := query(conn); err != nil || took != time.Minute {
			t.Errorf("the statement ended after %v with %v", took, err)
		}
		if n := h.dialled("a:1"); n < 8 || n > 13 { // after 2 s, after another 4 s, and then every 6 s
			t.Errorf("the server was probed %d times", n-1)
		}
	})
}

func TestAServerThatFreezesDuringALongStatementIsLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &hosts{late: 10 * time.Minute}
		conn := watched(t, h)("a:1")
		time.AfterFunc(5*time.Minute, func() { h.freeze("a:1") })
		if took, err := query(conn); err == nil || took > 5*time.Minute+10*time.Second {
			t.Errorf("the statement ended after %v with %v", took, err)
		}
	})
}

func TestAConnectionWithoutAStatementSendsNoProbe(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &hosts{}
		conn := watched(t, h)("a:1")
		if _, err := query(conn); err != nil {
			t.Error(err)
		}
		time.Sleep(time.Hour)
		if n := h.dialled("a:1"); n != 1 {
			t.Errorf("the server was probed %d times", n-1)
		}
		if took, err := query(conn); err != nil || took != 0 {
			t.Errorf("a statement afterwards ended after %v with %v", took, err)
		}
	})
}

func TestAnErrorOfThisMachineSaysNothingAboutTheServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &hosts{late: 20 * time.Second}
		conn := watched(t, h)("a:1")
		h.mu.Lock()
		h.err = errors.New("too many open files")
		h.mu.Unlock()
		if took, err := query(conn); err != nil || took != 20*time.Second {
			t.Errorf("the statement ended after %v with %v", took, err)
		}
	})
}

func TestADeadlineOfTheContextStillEndsAWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &hosts{late: time.Hour}
		conn := watched(t, h)("a:1")
		must(t, conn.SetDeadline(time.Now().Add(time.Second)))
		if took, err := query(conn); err == nil || took != time.Second {
			t.Errorf("the statement ended after %v with %v", took, err)
		}
	})
}

func TestAConfigurationThatCannotBeWatchedIsRefused(t *testing.T) {
	good := (&hosts{}).config(t)
	for name, c := range map[string]struct {
		config *pgx.ConnConfig
		opts   pgxalive.Options
	}{
		"nil":                {nil, pgxalive.Options{}},
		"by hand":            {&pgx.ConnConfig{}, pgxalive.Options{}},
		"a negative silence": {good, pgxalive.Options{ProbeAfter: -1}},
		"a negative timeout": {good, pgxalive.Options{Timeout: -1}},
	} {
		if err := pgxalive.Watch(c.config, c.opts); !errors.Is(err, domain.ErrConfiguration) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
