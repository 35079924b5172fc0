package httpapi_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/habeas-data/habeas/adapters/http/httpapi"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports"
)

// large returns the records of an export of 5 MiB. The buffer of an export is smaller, so the export is streamed.
func large() []domain.ExportRecord {
	records := make([]domain.ExportRecord, 50)
	for i := range records {
		records[i] = domain.ExportRecord{Source: "users", Field: "note", Value: strings.Repeat("x", 100<<10)}
	}
	return records
}

func (f *fixture) export(ctx context.Context) httpapi.Response {
	return f.Handle(ctx, f.Endpoints()[2], httpapi.Request{Subject: as("42")})
}

func TestABufferedExportIsCompleteIfTheSessionIsRepeated(t *testing.T) {
	f := newFixture(t)
	f.sessions.Twice = true
	f.sessions.Rows = large()[:5]
	response := f.export(t.Context())
	var bundle domain.ExportBundle
	if err := json.Unmarshal(response.Body, &bundle); err != nil || response.Stream != nil {
		t.Fatalf("streamed: %v; %v", response.Stream != nil, err)
	}
	if bundle.Records[0].Source != "users" || len(bundle.Records) < 5 || len(bundle.Records) > 6 {
		t.Errorf("%d records", len(bundle.Records))
	}
}

func TestAStreamOutlivesTheContextOfItsRequest(t *testing.T) {
	f := newFixture(t)
	f.sessions.Rows = large()
	ctx, cancel := context.WithCancel(t.Context())
	response := f.export(ctx)
	cancel() // as frameworks do once the handler has returned
	if response.Status != 200 || response.Body != nil || response.Header.Get("Content-Type") != "application/json" {
		t.Fatalf("got status %d", response.Status)
	}
	body, err := io.ReadAll(response.Stream)
	var bundle domain.ExportBundle
	if err != nil || json.Unmarshal(body, &bundle) != nil || len(bundle.Records) < 50 {
		t.Errorf("%d bytes, %d records, %v", len(body), len(bundle.Records), err)
	}
	if last := body[len(body)-1]; last != '\n' {
		t.Errorf("ends with %q", last)
	}
}

// breaksOff checks that the stream fails before the document is complete, and that the error has no details.
func breaksOff(t *testing.T, response httpapi.Response) {
	t.Helper()
	if response.Stream == nil {
		t.Fatalf("not streamed: %d", response.Status)
	}
	body, err := io.ReadAll(response.Stream)
	if !errors.Is(err, io.ErrUnexpectedEOF) || json.Valid(body) {
		t.Errorf("after %d bytes: %v", len(body), err)
	}
}

func TestAStreamIsNotRepeated(t *testing.T) {
	f := newFixture(t)
	f.sessions.Twice = true
	f.sessions.Rows = large()
	breaksOff(t, f.export(t.Context()))
	if f.sessions.Evidence != 2 {
		t.Errorf("%d attempts left evidence, want 2, because a part was sent", f.sessions.Evidence)
	}
}

func TestAPanicWhileStreamingBreaksOff(t *testing.T) {
	f := newFixture(t)
	f.sessions.Rows = append(large(), domain.ExportRecord{Value: panics{}})
	breaksOff(t, f.export(t.Context()))
}

// panics panics when it is encoded.
type panics struct{}

func (panics) MarshalJSON() ([]byte, error) { panic("secret") }

func TestAStreamThatIsNotReadEndsAtTheDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		f.sessions.Rows = large()
		response := f.export(t.Context())
		time.Sleep(httpapi.DefaultTimeout + time.Second) // on the fake clock
		synctest.Wait()
		breaksOff(t, response)
	})
}

func TestAStreamThatIsClosedEndsTheSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		f.sessions.Rows = large()
		response := f.export(t.Context())
		if err := response.Stream.Close(); err != nil {
			t.Error(err)
		}
		synctest.Wait()
		f.sessions.Rows = nil
		if again := f.export(t.Context()); again.Status != 200 { // would block if the first session were still open
			t.Errorf("got status %d", again.Status)
		}
	})
}

func TestAStoreThatEndsTheGoroutineGets500(t *testing.T) {
	f := newFixture(t)
	f.sessions.Before = func(context.Context) error {
		runtime.Goexit()
		return nil
	}
	if response := f.export(t.Context()); response.Status != 500 {
		t.Errorf("got status %d", response.Status)
	}
}

func TestCloseWaitsForTheWorkOnTheStream(t *testing.T) {
	for name, heeds := range map[string]bool{"that heeds its context": true, "that does not": false} {
		t.Run("a store "+name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFixture(t)
				f.sessions.Rows = large()
				began := time.Now()
				var ended atomic.Bool
				f.sessions.After = func(ctx context.Context) {
					<-ctx.Done()
					time.Sleep(time.Second) // the time of the rollback
					if !heeds {
						time.Sleep(time.Hour)
					}
					ended.Store(true)
				}
				response := f.export(t.Context())
				if err := response.Stream.Close(); err != nil {
					t.Error(err)
				}
				want := time.Second
				if !heeds {
					want = httpapi.DefaultTimeout
				}
				if took := time.Since(began); took != want || ended.Load() != heeds {
					t.Errorf("Close took %v, ended %v", took, ended.Load())
				}
				time.Sleep(2 * time.Hour)
			})
		})
	}
}

func TestTheRequestsContextIsNotUsedAfterHandle(t *testing.T) {
	f := newFixture(t)
	f.sessions.Rows = large()
	over := &reused{Context: t.Context(), t: t}
	response := f.export(over)
	over.gone.Store(true)
	if _, err := io.ReadAll(response.Stream); err != nil {
		t.Error(err)
	}
	if err := response.Stream.Close(); err != nil {
		t.Error(err)
	}
	again := &reused{Context: t.Context(), t: t}
	f.Handle(again, f.Endpoints()[1], httpapi.Request{Subject: as("42"), Parameter: "ads"})
	again.gone.Store(true)
}

// reused is a context that the framework reuses for another request after Handle has returned.
type reused struct {
	context.Context
	t    *testing.T
	gone atomic.Bool
}

func (r *reused) check() {
	if r.gone.Load() {
		r.t.Error("the context is used after Handle")
	}
}

func (r *reused) Value(key any) any {
	r.check()
	return r.Context.Value(key)
}

func (r *reused) Done() <-chan struct{} {
	r.check()
	return r.Context.Done()
}

func (r *reused) Err() error {
	r.check()
	return r.Context.Err()
}

func TestAResponseThatMustBeWholeIsBuffered(t *testing.T) {
	f := newFixture(t)
	f.sessions.Rows = large()
	response := f.Handle(t.Context(), f.Endpoints()[2], httpapi.Request{Subject: as("42"), NoStream: true})
	if response.Stream != nil || response.Status != 200 || !json.Valid(response.Body) || len(response.Body) < 5_000_000 {
		t.Errorf("%d with %d bytes", response.Status, len(response.Body))
	}
}

func TestTheTimeOfARequestIncludesItsEvidence(t *testing.T) {
	for timeout, reserved := range map[time.Duration]time.Duration{
		0: 2 * time.Second, time.Second: 200 * time.Millisecond,
	} {
		synctest.Test(t, func(t *testing.T) {
			f := newFixture(t, func(c *httpapi.Config) { c.Timeout = timeout })
			whole := timeout
			if timeout == 0 {
				whole = httpapi.DefaultTimeout
			}
			began := time.Now()
			f.sessions.Before = func(ctx context.Context) error {
				<-ctx.Done()
				if left := whole - time.Since(began); left != reserved {
					t.Errorf("%v are left for evidence", left)
				}
				deadline, _ := ports.EvidenceDeadline(ctx)
				time.Sleep(time.Until(deadline)) // as long as writing the evidence may take
				return ctx.Err()
			}
			response := f.export(t.Context())
			if took := time.Since(began); response.Status != 504 || took != whole {
				t.Errorf("%d after %v", response.Status, took)
			}
		})
	}
}
