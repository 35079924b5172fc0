package erasure_test

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/habeas-data/habeas/app/stack"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/ports"
)

// cascading is a store whose database deletes rows besides the steps.
type cascading struct {
	ports.SessionFactory
	rows map[string]int64
}

type cascadingSession struct {
	ports.Session
	rows map[string]int64
}

func (s cascadingSession) Subjects() ports.SubjectStore {
	return cascadingStore{s.Session.Subjects(), s.rows}
}

type cascadingStore struct {
	ports.SubjectStore
	rows map[string]int64
}

func (s cascadingStore) Apply(ctx context.Context, id domain.SubjectID, steps []datamap.Step) (domain.Applied, error) {
	applied, err := s.SubjectStore.Apply(ctx, id, steps)
	applied.Cascaded = maps.Clone(s.rows)
	return applied, err
}

func (c *cascading) Do(ctx context.Context, fn func(context.Context, ports.Session) error) error {
	return c.SessionFactory.Do(ctx, c.in(fn))
}

func (c *cascading) Rehearse(ctx context.Context, fn func(context.Context, ports.Session) error) error {
	return c.SessionFactory.Rehearse(ctx, c.in(fn))
}

func (c *cascading) in(fn func(context.Context, ports.Session) error) func(context.Context, ports.Session) error {
	return func(ctx context.Context, s ports.Session) error { return fn(ctx, cascadingSession{s, c.rows}) }
}

func TestRowsDeletedBesidesAreInResultRehearsalAndTrail(t *testing.T) {
	h := newHolder(t, stack.Hooks{})
	besides := &cascading{h.store, map[string]int64{"likes": 2, "logs": 3}}
	h.Sessions = besides
	rehearsal := h.rehearse(t)
	if !maps.Equal(rehearsal.Cascaded, besides.rows) {
		t.Errorf("the rehearsal counts %v", rehearsal.Cascaded)
	}
	besides.rows = map[string]int64{"likes": 2, "logs": 4}
	if _, err := h.eraseAs(t, rehearsal.Fingerprint); !errors.Is(err, domain.ErrConflict) {
		t.Errorf("after a change of the counts, got %v", err)
	}
	besides.rows["logs"] = 3
	result, err := h.eraseAs(t, rehearsal.Fingerprint)
	if err != nil || !maps.Equal(result.Cascaded, besides.rows) {
		t.Errorf("got %v, %v", result.Cascaded, err)
	}
	clone := result.Clone()
	if clone.Cascaded["likes"] = 0; result.Cascaded["likes"] != 2 {
		t.Error("a clone shares memory")
	}
	events := h.trail(t)
	for _, event := range events {
		if event.EventType == domain.EventErasureLocalCompleted && (event.Payload["cascaded"] != int64(5) ||
			event.Payload["cascaded_tables"] != strings.Join(slices.Sorted(maps.Keys(besides.rows)), ",")) {
			t.Errorf("the trail says %v", event.Payload)
		}
	}
	if len(events) == 0 {
		t.Error("there is no trail")
	}
}

func TestNothingIsSaidIfNoRowsAreDeletedBesides(t *testing.T) {
	h := newHolder(t, stack.Hooks{})
	rehearsal := h.rehearse(t)
	h.Sessions = &cascading{h.store, map[string]int64{}}
	result, err := h.eraseAs(t, rehearsal.Fingerprint)
	if err != nil || result.Cascaded != nil {
		t.Errorf("got %v, %v", result.Cascaded, err)
	}
	for _, event := range h.trail(t) {
		if _, said := event.Payload["cascaded"]; said {
			t.Errorf("the trail says %v", event.Payload)
		}
	}
}
