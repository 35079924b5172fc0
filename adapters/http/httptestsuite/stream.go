package httptestsuite

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/habeas-data/habeas/adapters/persistence/memory"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports"
)

const (
	// bulkSubject is the id of a subject with many rows of 64 KiB each.
	bulkSubject = "1000"
	bulkRows    = 36           // the number of rows that exceed the buffer of an export
	manyRows    = 5 * bulkRows // the number of rows that also exceed the buffers of a connection
)

// openBulk serves the API. The store has the given number of rows of bulkSubject.
func openBulk(t testing.TB, harness Harness, rows int) *world {
	t.Helper()
	w := harness.open(t)
	require(t, w.store.Insert("users", memory.Row{"id": int64(1000), "email": "large@example.org"}))
	note := strings.Repeat("x", 64<<10)
	for i := range rows {
		require(t, w.store.Insert("carts", memory.Row{"id": int64(1000 + i), "user_id": int64(1000), "note": note}))
	}
	return w
}

func largeExportIsStreamed(t testing.TB, harness Harness) {
	w := openBulk(t, harness, bulkRows)
	got := w.expect(t, 200, get("/export").withSubject(bulkSubject))
	var bundle domain.ExportBundle
	if err := json.Unmarshal([]byte(got.body), &bundle); err != nil {
		t.Fatalf("the response is not a bundle: %v", err)
	}
	isComplete := len(bundle.Records) >= bulkRows && bundle.SubjectID.String() == bulkSubject
	assert(t, isComplete && bundle.IncompleteSources != nil,
		"the bundle is incomplete, with %d records", len(bundle.Records))
	got.hasHeaders(t, get("/export"), "application/json")

	w.expect(t, 200, request{method: http.MethodHead, path: "/export", subject: bulkSubject})
	n := w.events(t, bulkSubject, domain.EventExportCompleted)
	assert(t, n == 2, "a GET and a HEAD completed %d exports, want 2", n)
}

func failureHalfwayAbortsTheResponse(t testing.TB, harness Harness) {
	w := openBulk(t, harness, bulkRows)
	w.sessions.cutExportsAfter(bulkRows - 1)
	got, err := w.try(get("/export").withSubject(bulkSubject))
	assert(t, err != nil, "the connection was not closed after %d bytes", len(got.body))
	assert(t, !json.Valid([]byte(got.body)), "a partial response with status %d looks complete", got.status)
	if trail := w.trail(t, bulkSubject); len(trail) != 1 || trail[0].EventType != domain.EventExportRequested {
		t.Errorf("the trail has %d events, want only the request", len(trail))
	}
	w.sessions.cutExportsAfter(1)
	w.expect(t, 500, get("/export").withSubject(bulkSubject)) // no byte was sent before the failure
	w.sessions.cutExportsAfter(0)
	w.expect(t, 200, get("/export"))
}

func unreadResponseIsAborted(t testing.TB, harness Harness) {
	w := openBulk(t, harness, manyRows)
	ended := make(chan error, 1)
	w.sessions.reportTo(ended)
	w.sessions.holdExportsAt(manyRows - 1)
	connection := w.dial(t)
	_, err := io.WriteString(connection,
		"GET "+w.prefix+"/export HTTP/1.1\r\nHost: h\r\n"+subjectHeader+": "+bulkSubject+"\r\n\r\n")
	require(t, err)
	_, err = io.ReadFull(connection, make([]byte, 100))
	require(t, err)
	require(t, connection.Close())
	select {
	case err := <-ended:
		assert(t, err != nil, "the session of an unread response committed")
	case <-time.After(patience):
		t.Fatalf("the session of a disconnected client is still open")
	}
	n := w.events(t, bulkSubject, domain.EventExportCompleted)
	assert(t, n <= 0, "the export counts as completed")
}

// cutExportsAfter makes later exports fail at the record with the given number. The number 0 removes the failure.
func (s *sessions) cutExportsAfter(records int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cut = records
}

// holdExportsAt makes later exports wait at the record with the given number until their context ends, but not longer
// than a client waits for its response.
func (s *sessions) holdExportsAt(record int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.held = record
}

// reportTo makes each later session send its error to the channel when the session ends.
func (s *sessions) reportTo(ended chan<- error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended = ended
}

// Subjects implements ports.Session.
func (s session) Subjects() ports.SubjectStore { return subjects{s.Session.Subjects(), s.sessions} }

type subjects struct {
	ports.SubjectStore
	sessions *sessions
}

// Export implements ports.SubjectStore.
func (s subjects) Export(ctx context.Context, id domain.SubjectID, yield func(domain.ExportRecord) error) error {
	s.sessions.mu.Lock()
	cut, held, number := s.sessions.cut, s.sessions.held, 0
	s.sessions.mu.Unlock()
	return s.SubjectStore.Export(ctx, id, func(record domain.ExportRecord) error {
		switch number++; number {
		case cut:
			return errors.New("the connection to the store is lost")
		case held:
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-time.After(patience / 4):
			}
		}
		return yield(record)
	})
}
