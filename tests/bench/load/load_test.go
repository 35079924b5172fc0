package load

import (
	"net/http"
	"net/http/httptest"
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
