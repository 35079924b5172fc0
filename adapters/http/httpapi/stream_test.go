package httpapi_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/habeas-data/habeas/adapters/http/httpapi"
	"github.com/habeas-data/habeas/domain"
)

// large is an export that is not held: 5 MiB of it.
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

func TestWhatIsHeldIsWholeAlsoWhereASessionIsRepeated(t *testing.T) {
	f := newFixture(t)
	f.sessions.twice = true
	f.sessions.rows = large()[:5]
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
	f.sessions.rows = large()
	ctx, cancel := context.WithCancel(t.Context())
	response := f.export(ctx)
	cancel() // as frameworks do once the handler has returned
	if response.Status != 200 || response.Body != nil || response.Header.Get("Content-Type") != "application/json" {
		t.Fatalf("answered %d", response.Status)
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

// breaksOff fails unless the stream ends with an error that says nothing, and before the document does.
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

func TestWhatWasSentIsNotRepeated(t *testing.T) {
	f := newFixture(t)
	f.sessions.twice = true
	f.sessions.rows = large()
	breaksOff(t, f.export(t.Context()))
	if f.sessions.evidence != 2 {
		t.Errorf("%d attempts left evidence, want both: what was sent must not go unrecorded", f.sessions.evidence)
	}
}

func TestAPanicWhileStreamingBreaksOff(t *testing.T) {
	f := newFixture(t)
	f.sessions.rows = append(large(), domain.ExportRecord{Value: panics{}})
	breaksOff(t, f.export(t.Context()))
}

// panics panics when it is encoded.
type panics struct{}

func (panics) MarshalJSON() ([]byte, error) { panic("secret") }

func TestAClientThatDoesNotReadIsNotWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		f.sessions.rows = large()
		response := f.export(t.Context())
		time.Sleep(httpapi.DefaultTimeout + time.Second) // of the bubble
		synctest.Wait()
		breaksOff(t, response)
	})
}

func TestAStreamThatIsClosedEndsTheSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		f.sessions.rows = large()
		response := f.export(t.Context())
		if err := response.Stream.Close(); err != nil {
			t.Error(err)
		}
		synctest.Wait()
		f.sessions.rows = nil
		if again := f.export(t.Context()); again.Status != 200 { // the session before is closed: there is one at a time
			t.Errorf("answered %d", again.Status)
		}
	})
}

func TestAStoreThatEndsTheGoroutineIsAnswered500(t *testing.T) {
	f := newFixture(t)
	f.sessions.before = func(context.Context) error {
		runtime.Goexit()
		return nil
	}
	if response := f.export(t.Context()); response.Status != 500 {
		t.Errorf("answered %d", response.Status)
	}
}
