package httpapi_test

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/habeas-data/habeas/adapters/http/httpapi"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/export"
)

// withTempFile makes exporters use the temporary files that the function creates.
func withTempFile(t *testing.T, create func() (export.File, error)) func(*httpapi.Config) {
	t.Helper()
	return func(c *httpapi.Config) {
		var err error
		c.Export, err = export.NewExporter(export.Config{Clock: clock{}, IDs: ids{}, DataMap: c.DataMap, TempFile: create})
		require(t, err)
	}
}

func inTempDir(t *testing.T) func(*httpapi.Config) {
	t.Helper()
	dir := t.TempDir()
	return withTempFile(t, func() (export.File, error) { return os.CreateTemp(dir, "") })
}

func TestASlowReaderDoesNotHoldTheSession(t *testing.T) {
	f := newFixture(t, inTempDir(t))
	f.sessions.Rows = large()
	slow := f.export(t.Context())
	other := f.Handle(t.Context(), f.Endpoints()[1], httpapi.Request{Subject: as("42"), Parameter: "ads"})
	if other.Status != 200 { // would block if the session of the export were still open
		t.Errorf("another request got status %d", other.Status)
	}
	body, err := io.ReadAll(slow.Stream)
	if err != nil || !json.Valid(body) || len(body) < 5_000_000 {
		t.Errorf("%d bytes, %v", len(body), err)
	}
	require(t, slow.Stream.Close())
}

func TestAnExportWithoutATemporaryFileFails(t *testing.T) {
	for _, needsLength := range []bool{false, true} {
		f := newFixture(t, withTempFile(t, func() (export.File, error) { return nil, errors.New("no /tmp/zoe") }))
		f.sessions.Rows = large()
		response := f.Handle(t.Context(), f.Endpoints()[2],
			httpapi.Request{Subject: as("42"), NeedsLength: needsLength})
		logged := f.logged.String()
		if response.Stream != nil || response.Status != 500 || !strings.Contains(logged, "TempDir") ||
			strings.Contains(logged, "zoe") {
			t.Errorf("%d, logged %s", response.Status, logged)
		}
		f.sessions.Rows = nil
		if again := f.export(t.Context()); again.Status != 200 {
			t.Errorf("a small export got status %d", again.Status)
		}
	}
}

// fullDisk is a file that cannot grow.
type fullDisk struct{ export.File }

func (fullDisk) WriteAt([]byte, int64) (int, error) {
	return 0, errors.New("no space left on /tmp/zoe")
}
func (fullDisk) Close() error { return nil }

func TestAFullDiskBreaksOff(t *testing.T) {
	f := newFixture(t, withTempFile(t, func() (export.File, error) { return fullDisk{}, nil }))
	f.sessions.Rows = large()
	response := f.export(t.Context())
	breaksOff(t, response)
	require(t, response.Stream.Close())
	logged := f.logged.String()
	if !strings.Contains(logged, "set TempDir to a directory with free space") || strings.Contains(logged, "zoe") {
		t.Errorf("logged %s", logged)
	}
}

func TestAStreamWithALengthIsComplete(t *testing.T) {
	f := newFixture(t, inTempDir(t))
	get := func() httpapi.Response {
		return f.Handle(t.Context(), f.Endpoints()[2], httpapi.Request{Subject: as("42"), NeedsLength: true})
	}
	f.sessions.Rows = large()
	response := get()
	body, err := io.ReadAll(response.Stream)
	if err != nil || int64(len(body)) != response.Length || !json.Valid(body) {
		t.Errorf("%d of %d bytes, %v", len(body), response.Length, err)
	}
	require(t, response.Stream.Close())
	f.sessions.Rows = append(large(), domain.ExportRecord{Value: panics{}})
	if response := get(); response.Status != 500 || response.Stream != nil {
		t.Errorf("a broken export has the status %d", response.Status)
	}
	f.sessions.Rows = nil
	if response := get(); response.Stream != nil || !json.Valid(response.Body) {
		t.Errorf("a small export is streamed: %v", response.Stream != nil)
	}
}

func TestAShutdownWaitsASecondForAStream(t *testing.T) {
	for name, reads := range map[string]bool{"read": true, "not read": false} {
		t.Run("a stream that is "+name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFixture(t)
				f.sessions.Rows = large()
				shutdown, deadlines := make(chan struct{}), make(chan time.Time, 1)
				response := f.Handle(t.Context(), f.Endpoints()[2], httpapi.Request{
					Subject: as("42"), Shutdown: shutdown,
					SetWriteDeadline: func(deadline time.Time) error {
						deadlines <- deadline
						return nil
					},
				})
				began := time.Now()
				close(shutdown)
				if reads {
					body, err := io.ReadAll(response.Stream)
					if err != nil || !json.Valid(body) {
						t.Errorf("%d bytes, %v", len(body), err)
					}
					require(t, response.Stream.Close())
					time.Sleep(time.Minute) // on the fake clock
					if len(deadlines) > 0 {
						t.Error("a write deadline was set after Close")
					}
					return
				}
				if deadline := <-deadlines; deadline.Sub(began) != time.Second {
					t.Errorf("writes end after %v", deadline.Sub(began))
				}
				breaksOff(t, response)
				require(t, response.Stream.Close())
			})
		})
	}
}
