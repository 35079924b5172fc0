package erasure_test

import (
	"errors"
	"strconv"
	"testing"
	"time"

	"github.com/golang/mock/gomock"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/domain/erasure"
	"github.com/habeas-data/habeas/internal/tests/fixture"
	"github.com/habeas-data/habeas/internal/tests/mocked"
)

var (
	errBoom = errors.New("boom: zoe@example.org")
	noon    = time.Date(2024, 3, 1, 12, 0, 0, 0, time.UTC)

	// The steps of every erasure in these tests.
	deleteSessions = datamap.Step{Target: "sessions", Strategy: del}
	anonymizeUsers = datamap.Step{Target: "users", Strategy: anon, Columns: []string{"email"}}
	retainUsers    = datamap.Step{Target: "users", Strategy: keep, Columns: []string{"vat"}}
)

// world is an eraser with mocks of its dependencies. An unexpected call fails the test.
type world struct {
	*erasure.Eraser
	mocked.Bundle
}

// newWorld makes an eraser with the named resolvers, and a subject with the given refs.
func newWorld(t *testing.T, resolverNames []string, refs ...domain.SubjectRef) world {
	t.Helper()
	return newWorldWith(t, domain.Purposes{}, resolverNames, refs...)
}

// newWorldWith also declares purposes.
func newWorldWith(t *testing.T, purposes domain.Purposes, resolverNames []string, refs ...domain.SubjectRef) world {
	t.Helper()
	return newConfigured(t, func(c *erasure.Config) { c.Purposes = purposes }, resolverNames, refs...)
}

// newConfigured does the same as newWorld, and also changes the configuration of the eraser.
func newConfigured(
	t *testing.T, change func(*erasure.Config), resolverNames []string, refs ...domain.SubjectRef,
) world {
	t.Helper()
	b := mocked.New(t, noon, refs...)
	dataMap := fixture.MustMap(t,
		users(personal("email", anon), personal("vat", keep)), child("sessions", "users", personal("agent", del)))
	config := erasure.Config{
		Clock: b.Clock, IDs: b.IDs, DataMap: dataMap, Resolvers: mocked.Resolvers(t, resolverNames...),
	}
	change(&config)
	eraser, err := erasure.NewEraser(config)
	if err != nil {
		t.Fatal(err)
	}
	return world{eraser, b}
}

// allowStores lets an erasure call the session's stores any number of times, in addition to its steps. The stores
// return no consent in force and no withdrawn correction.
func (w world) allowStores() {
	w.Consents.EXPECT().InForce(gomock.Any(), w.ID).Return(nil, nil).AnyTimes()
	w.Restrictions.EXPECT().ClearReasons(gomock.Any(), w.ID).Return(nil).AnyTimes()
	w.Outbox.EXPECT().Withdraw(gomock.Any(), w.ID).AnyTimes()
	w.Audit.EXPECT().AppendOnRollback(gomock.Any(), gomock.Any()).AnyTimes()
}

// allowStoresExceptLedgers does the same as allowStores, except for the ledgers of consents and restrictions. The test
// must expect the calls of these ledgers.
func (w world) allowStoresExceptLedgers() {
	w.Outbox.EXPECT().Withdraw(gomock.Any(), w.ID).AnyTimes()
	w.Audit.EXPECT().AppendOnRollback(gomock.Any(), gomock.Any()).AnyTimes()
}

// The following functions expect the calls of an erasure, with the events and their ids.

func (w world) locks() *gomock.Call {
	return w.Subjects.EXPECT().Lock(gomock.Any(), w.ID, noon).Return(noon, nil)
}

func (w world) requested(id string, external, refs int) *gomock.Call {
	return w.Audit.EXPECT().AppendEvidence(gomock.Any(), w.Event(id, "erasure_requested", domain.Payload{
		"local_steps": 3, "external_steps": external, "refs": refs,
	}))
}

// steps are the local steps of the plan, which change the application's own tables.
var steps = []datamap.Step{deleteSessions, anonymizeUsers, retainUsers}

func (w world) applies(rows ...int64) *gomock.Call {
	return w.Subjects.EXPECT().Apply(gomock.Any(), w.ID, steps).Return(domain.Applied{Rows: rows}, nil)
}

// appliesUntil expects that the store carries out the steps in order. The step with the given index fails with the
// given error, and no further step follows.
func (w world) appliesUntil(failed int, err error) *gomock.Call {
	applied := domain.Applied{Rows: make([]int64, failed)}
	return w.Subjects.EXPECT().Apply(gomock.Any(), w.ID, steps).Return(applied, err)
}

// succeeded expects one event per step, with ids from id-2 on.
func (w world) succeeded(rows ...int64) *gomock.Call {
	events := make([]any, len(steps))
	for i, step := range steps {
		events[i] = w.Event("id-"+strconv.Itoa(2+i), "erasure_step_succeeded", domain.Payload{
			"target": step.Target, "strategy": string(step.Strategy), "rows": rows[i],
		})
	}
	return w.Audit.EXPECT().Append(gomock.Any(), events...)
}

func (w world) failed(id string, step datamap.Step, class string) *gomock.Call {
	return w.Audit.EXPECT().AppendEvidence(gomock.Any(), w.Event(id, "erasure_step_failed", domain.Payload{
		"target": step.Target, "strategy": string(step.Strategy), "error": class,
	}))
}

// completed expects the end of an erasure. The erasure is complete immediately if it added no outbox entry.
func (w world) completed(id string, deleted, anonymized, retained int64, enqueued int, skipped string) *gomock.Call {
	events := []any{w.Event(id, "erasure_local_completed", domain.Payload{
		"deleted": deleted, "anonymized": anonymized, "retained": retained,
		"enqueued": enqueued, "skipped_resolvers": skipped,
	})}
	if enqueued == 0 {
		events = append(events, w.Event(mocked.After(id), "erasure_completed", nil))
	}
	return w.Audit.EXPECT().Append(gomock.Any(), events...)
}

func ref(kind, value string) domain.SubjectRef { return domain.SubjectRef{Kind: kind, Value: value} }
