package nethttp_test

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/habeas-data/habeas/adapters/http/httpapi"
	"github.com/habeas-data/habeas/adapters/persistence/memory"
	"github.com/habeas-data/habeas/app/stack"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/internal/tests/fixture"
	"github.com/habeas-data/habeas/ports"
)

// largeStore is a store in which subject 42 has 2.5 MiB of data.
type largeStore struct {
	ports.SessionFactory
	dataMap datamap.DataMap
	cut     atomic.Bool   // exports fail after recordsUntilCut records
	timeout time.Duration // the timeout of the API; 0 means the default
}

func newLargeStore(t *testing.T) *largeStore {
	t.Helper()
	dataMap := fixture.MustMap(t, users)
	store, err := memory.New(dataMap, memory.Options{})
	require(t, err)
	return &largeStore{SessionFactory: store, dataMap: dataMap}
}

const (
	largeRecords    = 24
	largeRecordSize = 64 << 10
	recordsUntilCut = 20 // more than 1 MiB, so that the response is streamed
)

func (h *largeStore) api(t *testing.T) *httpapi.API {
	t.Helper()
	engines, err := stack.New(stack.Config{Sessions: h, DataMap: h.dataMap})
	require(t, err)
	api, err := engines.API(httpapi.Config{Logger: slog.New(slog.DiscardHandler), Timeout: h.timeout})
	require(t, err)
	return api
}

func (h *largeStore) isComplete(body []byte) bool {
	var bundle struct{ Records []json.RawMessage }
	return json.Unmarshal(body, &bundle) == nil && len(bundle.Records) == largeRecords
}

// Do implements ports.SessionFactory.
func (h *largeStore) Do(ctx context.Context, fn func(context.Context, ports.Session) error) error {
	return h.SessionFactory.Do(ctx, func(ctx context.Context, s ports.Session) error {
		return fn(ctx, largeSession{s, h})
	})
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

func (s largeSubjects) Export(_ context.Context, _ domain.SubjectID, yield func(domain.ExportRecord) error) error {
	value := strings.Repeat("x", largeRecordSize)
	for i := range largeRecords {
		if i == recordsUntilCut && s.store.cut.Load() {
			return errors.New("the connection to the store is lost")
		}
		if err := yield(domain.ExportRecord{Source: "users", Field: "note", Value: value}); err != nil {
			return err
		}
	}
	return nil
}
