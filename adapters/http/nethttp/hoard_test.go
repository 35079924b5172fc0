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
	"github.com/habeas-data/habeas/ports"
)

// hoard is a store in which subject 42 has 2.5 MiB of data, and whose exports can be cut.
type hoard struct {
	ports.SessionFactory
	dataMap domain.DataMap
	cut     atomic.Bool
	timeout time.Duration
}

func newHoard(t *testing.T) *hoard {
	t.Helper()
	dataMap, err := domain.NewDataMap(users)
	require(t, err)
	store, err := memory.New(dataMap, memory.Options{})
	require(t, err)
	return &hoard{SessionFactory: store, dataMap: dataMap}
}

const (
	hoarded     = 40
	hoardedSize = 64 << 10
)

func (h *hoard) api(t *testing.T) *httpapi.API {
	t.Helper()
	engines, err := stack.New(stack.Config{Sessions: h, DataMap: h.dataMap})
	require(t, err)
	api, err := engines.API(httpapi.Config{Logger: slog.New(slog.DiscardHandler), Timeout: h.timeout})
	require(t, err)
	return api
}

func (h *hoard) isWhole(body []byte) bool {
	var bundle domain.ExportBundle
	return json.Unmarshal(body, &bundle) == nil && len(bundle.Records) == hoarded
}

// Do implements ports.SessionFactory.
func (h *hoard) Do(ctx context.Context, fn func(context.Context, ports.Session) error) error {
	return h.SessionFactory.Do(ctx, func(ctx context.Context, s ports.Session) error {
		return fn(ctx, hoardSession{s, h})
	})
}

type hoardSession struct {
	ports.Session
	hoard *hoard
}

func (s hoardSession) Subjects() ports.SubjectStore {
	return hoardSubjects{s.Session.Subjects(), s.hoard}
}

type hoardSubjects struct {
	ports.SubjectStore
	hoard *hoard
}

func (s hoardSubjects) Export(_ context.Context, _ domain.SubjectID, yield func(domain.ExportRecord) error) error {
	value := strings.Repeat("x", hoardedSize)
	for i := range hoarded {
		if i == hoarded/2 && s.hoard.cut.Load() {
			return errors.New("the connection to the store is lost")
		}
		if err := yield(domain.ExportRecord{Source: "users", Field: "note", Value: value}); err != nil {
			return err
		}
	}
	return nil
}
