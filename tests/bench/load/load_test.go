package load

import (
	"bufio"
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// repeat returns n requests for each connection.
func repeat(n int) func(int) Requests {
	return func(int) Requests {
		left := n
		return func(buffer []byte) ([]byte, bool) {
			left--
			return append(buffer, "GET /x HTTP/1.1\r\nHost: localhost\r\n\r\n"...), left >= 0
		}
	}
}

const forever = 1 << 30

func serve(t *testing.T, handler http.HandlerFunc) string {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return server.Listener.Addr().String()
}

func TestEveryRequestIsAnsweredAndCounted(t *testing.T) {
	var served atomic.Int64
	address := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		served.Add(1)
		_, _ = w.Write([]byte(`{}`))
	})
	result, err := Run(t.Context(), Plan{Address: address, Connections: 3, Duration: time.Minute, Requests: repeat(5)})
	if err != nil {
		t.Fatal(err)
	}
	if result.Responses != 15 || served.Load() != 15 || len(result.Latencies) != 15 {
		t.Errorf("%d answers, %d latencies, %d requests served; want 15",
			result.Responses, len(result.Latencies), served.Load())
	}
	if result.Elapsed <= 0 || result.Elapsed > 30*time.Second {
		t.Errorf("a run without requests left took %v", result.Elapsed)
	}
}

func TestARunEndsWithItsTime(t *testing.T) {
	var served atomic.Int64
	address := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		served.Add(1)
		_, _ = w.Write([]byte(`{}`))
	})
	const duration = 100 * time.Millisecond
	result, err := Run(t.Context(), Plan{Address: address, Connections: 2, Duration: duration, Requests: repeat(forever)})
	if err != nil {
		t.Fatal(err)
	}
	if result.Elapsed > duration || int64(result.Responses) != served.Load() || result.InTime > result.Responses {
		t.Errorf("%v for %d answers of %d, %d latencies",
			result.Elapsed, result.Responses, served.Load(), len(result.Latencies))
	}
}

func TestALateResponseHasALatencyButIsNotInTheRate(t *testing.T) {
	const duration = 20 * time.Millisecond
	address := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		<-time.After(3 * duration)
		_, _ = w.Write([]byte(`{}`))
	})
	result, err := Run(t.Context(), Plan{Address: address, Connections: 2, Duration: duration, Requests: repeat(forever)})
	if err != nil {
		t.Fatal(err)
	}
	if result.Responses != 2 || result.InTime != 0 || result.Latencies[0] < 3*duration ||
		result.Elapsed != duration || result.Rate() != 0 {
		t.Errorf("%d answers, %d latencies in %v", result.Responses, len(result.Latencies), result.Elapsed)
	}
}

func TestAStreamedResponseIsReadCompletely(t *testing.T) {
	address := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte(`{"a":`))
		_ = http.NewResponseController(w).Flush()
		_, _ = w.Write([]byte(`1}`))
	})
	plan := Plan{Address: address, Connections: 1, Duration: time.Minute, Requests: repeat(3)}
	if _, err := Run(t.Context(), plan); err != nil {
		t.Error(err)
	}
}

func TestAFailedRequestFailsTheRun(t *testing.T) {
	for name, handler := range map[string]http.HandlerFunc{
		"another status": func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusCreated) },
		"no JSON":        func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(`{"records":[`)) },
		"a stream that breaks off": func(w http.ResponseWriter, _ *http.Request) {
			_, _ = w.Write([]byte(`{}`))
			_ = http.NewResponseController(w).Flush()
			panic(http.ErrAbortHandler)
		},
	} {
		t.Run(name, func(t *testing.T) {
			address := serve(t, handler)
			plan := Plan{Address: address, Connections: 2, Duration: time.Minute, Requests: repeat(1)}
			if _, err := Run(t.Context(), plan); err == nil {
				t.Error("the run succeeded")
			}
		})
	}
}

func TestAFailureStopsTheOtherConnections(t *testing.T) {
	var served atomic.Int64
	address := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		if served.Add(1) == 100 {
			w.WriteHeader(http.StatusInternalServerError)
			return
		}
		_, _ = w.Write([]byte(`{}`))
	})
	_, err := Run(t.Context(), Plan{Address: address, Connections: 8, Duration: time.Minute, Requests: repeat(forever)})
	if err == nil || !strings.Contains(err.Error(), "the response to GET /x HTTP/1.1 has status 500") {
		t.Errorf("error = %v", err)
	}
}

func TestARunEndsWithItsContext(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	ctx, cancel := context.WithCancel(t.Context())
	go func() { // a server that never responds
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		_, _ = bufio.NewReader(conn).ReadByte()
		cancel()
	}()
	_, err = Run(ctx, Plan{Address: listener.Addr().String(), Connections: 1, Duration: time.Hour, Requests: repeat(1)})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error = %v", err)
	}
}

func TestAPercentileIsALatencyThatWasMeasured(t *testing.T) {
	hundred := make([]time.Duration, 100)
	for i := range hundred {
		hundred[i] = time.Duration(i + 1)
	}
	for _, test := range []struct {
		latencies []time.Duration
		percent   int
		want      time.Duration
	}{{nil, 99, 0}, {hundred[:1], 50, 1}, {hundred[:3], 50, 2}, {hundred, 0, 1}, {hundred, 99, 99}, {hundred, 100, 100}} {
		if got := (Result{Latencies: test.latencies}).Percentile(test.percent); got != test.want {
			t.Errorf("percentile %d of %d = %v, want %v", test.percent, len(test.latencies), got, test.want)
		}
	}
}
