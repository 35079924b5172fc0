package replay_test

import (
	"context"
	"testing"

	"github.com/habeas-data/habeas/adapters/persistence/memory"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/domain/replay"
	"github.com/habeas-data/habeas/internal/tests/fixture"
	"github.com/habeas-data/habeas/ports"
)

// lowWorld is a world with a sequence of the application that stands at a number.
type lowWorld struct {
	*world
	at int64
}

func (w lowWorld) Do(ctx context.Context, fn func(context.Context, ports.Session) error) error {
	return w.world.Do(ctx, func(ctx context.Context, s ports.Session) error { return fn(ctx, lowSession{s, w.at}) })
}

type lowSession struct {
	ports.Session
	at int64
}

func (s lowSession) Installation() ports.InstallationStore {
	return lowSequences{s.Session.Installation(), s.at}
}

type lowSequences struct {
	ports.InstallationStore
	at int64
}

func (s lowSequences) LowSequences(_ context.Context, highest int64) ([]string, error) {
	if s.at <= highest {
		return []string{"users_id_seq"}, nil
	}
	return nil, nil
}

// restoredFrom returns an empty database with the installation.
func restoredFrom(t *testing.T, own datamap.Installation) *restored {
	t.Helper()
	store, err := memory.New(fixture.MustMap(t, fixture.Users()), memory.Options{})
	must(t, err)
	return &restored{&world{Store: store, fail: map[string]error{}}, own}
}

// restored is a world whose installation has another id than the memory gives.
type restored struct {
	*world
	own datamap.Installation
}

func (w *restored) replay(t *testing.T, lines string, change func(*replay.Config)) (domain.ReplayReport, error) {
	t.Helper()
	return w.world.replay(t, lines, func(c *replay.Config) {
		c.Sessions = w
		change(c)
	})
}

func (w *restored) Do(ctx context.Context, fn func(context.Context, ports.Session) error) error {
	return w.world.Do(ctx, func(ctx context.Context, s ports.Session) error {
		return fn(ctx, restoredSession{lowSession{Session: s}, w.own})
	})
}

type restoredSession struct {
	lowSession
	own datamap.Installation
}

func (s restoredSession) Installation() ports.InstallationStore {
	return renamed{s.Session.Installation(), s.own}
}

type renamed struct {
	ports.InstallationStore
	own datamap.Installation
}

func (r renamed) Read(context.Context) (datamap.Installation, error) { return r.own, nil }
