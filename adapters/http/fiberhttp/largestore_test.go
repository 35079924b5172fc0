package fiberhttp_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports"
)

// largeStore is a store in which every subject has 2.5 MiB of data.
type largeStore struct {
	sessions
	cut   atomic.Bool               // exports fail after recordsUntilCut records
	ended chan error                // gets the error of each session, unless it is nil
	see   func(ctx context.Context) // is called before each record and at the end of the session, unless it is nil
}

const (
	largeRecords    = 24
	largeRecordSize = 64 << 10
	recordsUntilCut = 20 // more than 1 MiB, so that the response is streamed
)

func (h *largeStore) isComplete(body []byte) bool {
	var bundle struct{ Records []json.RawMessage }
	return json.Unmarshal(body, &bundle) == nil && len(bundle.Records) == largeRecords
}

// Do implements ports.SessionFactory.
func (h *largeStore) Do(ctx context.Context, fn func(context.Context, ports.Session) error) error {
	err := h.sessions.Do(ctx, func(ctx context.Context, s ports.Session) error { return fn(ctx, largeSession{s, h}) })
	if h.see != nil {
		h.see(ctx)
	}
	if h.ended != nil {
		h.ended <- err
	}
	return err
}

type largeSession struct {
	ports.Session
	store *largeStore
}

func (s largeSession) Subjects() ports.SubjectStore {
	return largeSubjects{s.Session.Subjects(), s.store}
}

type largeSubjects struct {
	ports.SubjectStore
	store *largeStore
}

func (s largeSubjects) Export(ctx context.Context, _ domain.SubjectID, yield func(domain.ExportRecord) error) error {
	value := strings.Repeat("x", largeRecordSize)
	for i := range largeRecords {
		if i == recordsUntilCut && s.store.cut.Load() {
			return errors.New("the connection to the store is lost")
		}
		if s.store.see != nil {
			s.store.see(ctx)
		}
		if err := yield(domain.ExportRecord{Source: "users", Field: "note", Value: value}); err != nil {
			return err
		}
	}
	return nil
}

// getExport sends GET /me/export with a client of net/http. It returns the status and the body.
func getExport(t *testing.T, address string) (status int, body []byte, err error) {
	t.Helper()
	client := http.Client{Transport: &http.Transport{}} // decompresses gzip
	defer client.CloseIdleConnections()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+address+"/me/export", nil)
	require(t, err)
	request.Header.Set("X-User", "42")
	response, err := client.Do(request)
	if err != nil {
		return 0, nil, err
	}
	defer response.Body.Close()
	body, err = io.ReadAll(response.Body)
	return response.StatusCode, body, err
}
