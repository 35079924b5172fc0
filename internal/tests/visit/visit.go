// Package visit tests the complete programs of the documentation. It sends HTTP requests to them, as a user would.
package visit

import (
	"context"
	"net"
	"net/http"
	"testing"
	"time"
)

// retryAfter is the wait before Program repeats a request to a program that does not listen yet.
const retryAfter = 10 * time.Millisecond

// FreeAddress returns an unused address on loopback.
func FreeAddress(t testing.TB) string {
	t.Helper()
	listener, err := net.Listen("tcp", "localhost:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	return listener.Addr().String()
}

// Program starts a program, erases user 1 with DELETE /me, and stops the program. The test fails if a step fails.
func Program(t testing.TB, run func(ctx context.Context, address string) error) {
	t.Helper()
	Path(t, "/me", run)
}

// Path is like Program for a program with another path of the erasure.
func Path(t testing.TB, path string, run func(ctx context.Context, address string) error) {
	t.Helper()
	address := FreeAddress(t)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	ended := make(chan error, 1)
	go func() { ended <- run(ctx, address) }()
	if status := erase(ctx, t, address+path, ended); status != http.StatusOK {
		t.Errorf("the status of the erasure is %d", status)
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

func erase(ctx context.Context, t testing.TB, url string, ended <-chan error) (status int) {
	t.Helper()
	request, err := http.NewRequestWithContext(ctx, http.MethodDelete, "http://"+url, nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("X-User", "1")
	for {
		response, err := http.DefaultClient.Do(request)
		if err == nil {
			response.Body.Close()
			return response.StatusCode
		}
		select {
		case err := <-ended:
			t.Fatal("the program has ended:", err)
		case <-time.After(retryAfter):
		}
	}
}
