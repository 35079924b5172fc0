package nethttp_test

import (
	"log/slog"
	"testing"
	"time"

	"github.com/habeas-data/habeas/adapters/http/httpapi"
	"github.com/habeas-data/habeas/adapters/persistence/memory"
	"github.com/habeas-data/habeas/app/stack"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/internal/tests/fixture"
	"github.com/habeas-data/habeas/internal/tests/httpfake"
)

// largeStore is a store in which subject 42 has 2.5 MiB of data.
type largeStore struct {
	httpfake.Large

	dataMap datamap.DataMap
	timeout time.Duration // the timeout of the API; 0 means the default
}

func newLargeStore(t *testing.T) *largeStore {
	t.Helper()
	dataMap := fixture.MustMap(t, users)
	store, err := memory.New(dataMap, memory.Options{})
	require(t, err)
	return &largeStore{Large: httpfake.Large{SessionFactory: store}, dataMap: dataMap}
}

func (h *largeStore) api(t *testing.T) *httpapi.API {
	t.Helper()
	engines, err := stack.New(stack.Config{Sessions: h, DataMap: h.dataMap})
	require(t, err)
	api, err := engines.API(httpapi.Config{Logger: slog.New(slog.DiscardHandler), Timeout: h.timeout})
	require(t, err)
	return api
}
