package supportdesk_test

import (
	"context"
	"errors"
	"io"
	"log"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/habeas-data/habeas/adapters/supportdesk"
	"github.com/habeas-data/habeas/adapters/supportdesk/desktest"
)

func quiet() *log.Logger { return log.New(io.Discard, "", 0) }

func TestARequestWithoutAResponseTimesOut(t *testing.T) {
	latch := desktest.NewLatch()
	w := newWorld(t, func(o *supportdesk.Options) { o.Timeout = 500 * time.Millisecond })
	w.desk.Always(latch.Hold)
	for method, err := range w.exportAndErase(context.Background(), t) {
		mustRetry(t, err, 0, method+" got no response in time")
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s: %v does not wrap context.DeadlineExceeded", method, err)
		}
	}
	for range 2 { // the connections are closed, too
		<-latch.Left()
	}
}

// stalling is a Fault that sends a header and the beginning of a body, and then waits until the client has
// disconnected.
func stalling(w http.ResponseWriter, r *http.Request, _ http.HandlerFunc) {
	w.Header().Set("Content-Type", "application/json")
	_, _ = io.WriteString(w, `{"type":"contact",`)
	_ = http.NewResponseController(w).Flush()
	<-r.Context().Done()
}

func TestABodyThatStallsTimesOut(t *testing.T) {
	w := newWorld(t, func(o *supportdesk.Options) { o.Timeout = 500 * time.Millisecond })
	w.desk.Always(stalling)
	for method, err := range w.exportAndErase(context.Background(), t) {
		mustRetry(t, err, 0, method+" got an incomplete response")
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s: %v does not wrap context.DeadlineExceeded", method, err)
		}
	}
}

func TestACallEndsWithItsContext(t *testing.T) {
	latch := desktest.NewLatch()
	w := newWorld(t)
	w.desk.Always(latch.Hold)
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		<-latch.Entered()
		cancel()
	}()
	_, err := w.EraseSubject(ctx, ref(zoeID), entry)
	mustRetry(t, err, 0, "DELETE got no response: the call was canceled")
	if !errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("the error is %v", err)
	}
	<-latch.Left()
}

func TestAnExportEndsWithItsContextBetweenPages(t *testing.T) {
	w := newWorld(t)
	ctx, cancel := context.WithCancel(context.Background())
	w.desk.SetPageSizes(1)
	w.desk.Script(desktest.OK, desktest.OK, func(_ http.ResponseWriter, r *http.Request, _ http.HandlerFunc) {
		cancel()
		<-r.Context().Done()
	})
	records, err := w.ExportSubject(ctx, ref(zoeID))
	mustRetry(t, err, 0, "POST got no response")
	if !errors.Is(err, context.Canceled) || records != nil {
		t.Errorf("ExportSubject = %d records, %v", len(records), err)
	}
}

func TestTheSizeOfAResponseIsBounded(t *testing.T) {
	w := newWorld(t)
	w.desk.Always(func(rw http.ResponseWriter, r *http.Request, _ http.HandlerFunc) {
		rw.Header().Set("Content-Type", "application/json")
		for chunk := strings.Repeat(" ", 1<<20); r.Context().Err() == nil; { // until the client has left
			if _, err := io.WriteString(rw, chunk); err != nil {
				return
			}
		}
	})
	for method, err := range w.exportAndErase(t.Context(), t) {
		mustRetry(t, err, 0, method+" got a response that cannot be used: the body is too large")
	}
}

func TestALargeResponseWithinTheBoundIsRead(t *testing.T) {
	w := newWorld(t)
	document := `{"type":"contact","id":"` + zoeID + `","email":"a@example.org"}`
	w.desk.Script(desktest.JSON(document + strings.Repeat(" ", supportdesk.MaxBody-len(document))))
	if got := values(w.export(t))["contact.email"]; got != "a@example.org" {
		t.Errorf("exported %v", got)
	}
}

func TestAThousandCallsLeaveNothingBehind(t *testing.T) {
	w := newWorld(t)
	before := goleak.IgnoreCurrent()
	faults := []desktest.Fault{
		desktest.OK, desktest.Status(500), desktest.CutBody, desktest.HangUp, desktest.Status(404), desktest.HTML(),
		desktest.Redirect(302, "/"), desktest.TruncateJSON,
	}
	var workers sync.WaitGroup
	for worker := range 8 {
		workers.Go(func() {
			for i := range 125 {
				w.desk.Script(faults[(worker+i)%len(faults)])
				if i%2 == 0 {
					_, _ = w.ExportSubject(context.Background(), ref(zoeID))
				} else {
					_, _ = w.EraseSubject(context.Background(), ref(zoeID), entry)
					w.desk.Add(zoe(), conversation("515"))
				}
			}
		})
	}
	workers.Wait()
	goleak.VerifyNone(t, before)
}

// A context can end while its call opens a connection. This connection may be established only after the call has
// returned. It must then be closed.
func TestCallsThatAreCanceledLeaveNothingBehind(t *testing.T) {
	w := newWorld(t)
	latch := desktest.NewLatch()
	w.desk.Always(latch.Hold)
	before := goleak.IgnoreCurrent()
	for i := range 200 {
		ctx, cancel := context.WithTimeout(context.Background(), time.Duration(i)*20*time.Microsecond)
		_, err := w.EraseSubject(ctx, ref(zoeID), entry)
		cancel()
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Fatalf("EraseSubject = %v", err)
		}
	}
	goleak.VerifyNone(t, before)
}

// counting is an HTTP transport that counts requests. It panics if the resolver closes it.
type counting struct {
	http.RoundTripper
	mu    sync.Mutex
	trips int
}

func (c *counting) RoundTrip(r *http.Request) (*http.Response, error) {
	c.mu.Lock()
	c.trips++
	c.mu.Unlock()
	return c.RoundTripper.RoundTrip(r)
}

func (c *counting) CloseIdleConnections() { panic("only the caller may close its transport") }

func TestATransportOfTheCallerIsUsedAndNotClosed(t *testing.T) {
	own := new(http.Transport)
	defer own.CloseIdleConnections()
	transport := &counting{RoundTripper: own}
	w := newWorld(t, func(o *supportdesk.Options) { o.Transport = transport })
	w.export(t)
	if transport.trips != 2 {
		t.Errorf("the transport got %d requests, want 2", transport.trips)
	}
}
