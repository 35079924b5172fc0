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

// hoard is a store in which every subject has 2.5 MiB of data, and whose exports can be cut.
type hoard struct {
	sessions
	cut   atomic.Bool
	ended chan error                // gets what came of each session; nil for nobody
	see   func(ctx context.Context) // is called before each record
}

const (
	hoarded     = 40
	hoardedSize = 64 << 10
)

func (h *hoard) isWhole(body []byte) bool {
	var bundle domain.ExportBundle
	return json.Unmarshal(body, &bundle) == nil && len(bundle.Records) == hoarded
}

// Do implements ports.SessionFactory.
func (h *hoard) Do(ctx context.Context, fn func(context.Context, ports.Session) error) error {
	err := h.sessions.Do(ctx, func(ctx context.Context, s ports.Session) error { return fn(ctx, hoardSession{s, h}) })
	if h.see != nil {
		h.see(ctx)
	}
	if h.ended != nil {
		h.ended <- err
	}
	return err
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

func (s hoardSubjects) Export(ctx context.Context, _ domain.SubjectID, yield func(domain.ExportRecord) error) error {
	value := strings.Repeat("x", hoardedSize)
	for i := range hoarded {
		if i == hoarded/2 && s.hoard.cut.Load() {
			return errors.New("the connection to the store is lost")
		}
		if s.hoard.see != nil {
			s.hoard.see(ctx)
		}
		if err := yield(domain.ExportRecord{Source: "users", Field: "note", Value: value}); err != nil {
			return err
		}
	}
	return nil
}

// getExport is what a client sees that does not look into the body.
func getExport(t *testing.T, address string) (status int, body []byte, err error) {
	t.Helper()
	client := http.Client{Transport: &http.Transport{}} // which unpacks gzip
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
