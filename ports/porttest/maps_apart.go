package porttest

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/domain/plan"
	"github.com/habeas-data/habeas/domain/request"
	"github.com/habeas-data/habeas/domain/search"
	"github.com/habeas-data/habeas/ports"
)

// calls returns an act that calls fn in one session. Its result is the first result of fn.
func calls[T any](what string, fn func(ctx context.Context, t testing.TB, s ports.Session) (T, error)) act {
	return act{what: what, run: func(t testing.TB, s side) any {
		t.Helper()
		return read(t, s.Store, func(ctx context.Context, session ports.Session) (T, error) { return fn(ctx, t, session) })
	}}
}

// changes returns an act that calls fn in one session, and has no result.
func changes(what string, fn func(ctx context.Context, t testing.TB, s ports.Session) error) act {
	return calls(what, func(ctx context.Context, t testing.TB, s ports.Session) (bool, error) {
		t.Helper()
		return true, fn(ctx, t, s)
	})
}

func mapKeepsItsLedgers(t testing.TB, h MapsHarness) {
	expectApart(t, h,
		changes("a consent", func(ctx context.Context, t testing.TB, s ports.Session) error {
			t.Helper()
			return s.Consents().Append(ctx, grant(subjectOf(t, present), "news", 10))
		}),
		changes("a restriction", func(ctx context.Context, t testing.TB, s ports.Session) error {
			t.Helper()
			return s.Restrictions().Append(ctx, restrict(subjectOf(t, present), nil, 10))
		}),
		changes("clearing reasons", func(ctx context.Context, t testing.TB, s ports.Session) error {
			t.Helper()
			return s.Restrictions().ClearReasons(ctx, subjectOf(t, present))
		}),
	)
}

func mapErasesItsOwnSubjects(t testing.TB, h MapsHarness) {
	expectApart(t, h,
		act{what: "a rectification", run: func(t testing.TB, s side) any {
			t.Helper()
			step := domain.RectificationStep{
				Table: s.dataMap.SubjectTable().Name, Values: []domain.ColumnValue{{Column: "phone", Value: "2"}},
			}
			return read(t, s.Store, func(ctx context.Context, session ports.Session) (int64, error) {
				if _, err := session.Subjects().LockToRectify(ctx, subjectOf(t, present)); err != nil {
					return 0, err
				}
				return session.Subjects().Rectify(ctx, subjectOf(t, present), step)
			})
		}},
		act{what: "an erasure", run: func(t testing.TB, s side) any { t.Helper(); return s.erase(t, present) }},
		act{what: "a sweep", run: func(t testing.TB, s side) any {
			t.Helper()
			return read(t, s.Store, func(ctx context.Context, session ports.Session) ([]int64, error) {
				return session.Erased().Sweep(ctx, subjectOf(t, gone), plan.SweepAt(s.plan, overAt))
			})
		}},
	)
}

// Equal requests and holds exist in both data maps, because fill has added them.
func mapKeepsItsRequests(t testing.TB, h MapsHarness) {
	inRequests := func(
		what string, fn func(ctx context.Context, r ports.Register, id domain.SubjectID) (any, error),
	) act {
		return calls(what, func(ctx context.Context, t testing.TB, s ports.Session) (any, error) {
			t.Helper()
			return fn(ctx, s.Register(), subjectOf(t, present))
		})
	}
	expectApart(t, h,
		inRequests("an added request", func(ctx context.Context, r ports.Register, id domain.SubjectID) (any, error) {
			standing, added, err := r.Requests.Add(ctx, asks(3, id, ofKind(request.Erasure)))
			return []any{standing.Number, added}, err
		}),
		inRequests("an update", func(ctx context.Context, r ports.Register, id domain.SubjectID) (any, error) {
			return nil, r.Requests.Update(ctx, nextVersion(asks(1, id), inState(request.Refused, 0)))
		}),
		inRequests("a lift", func(ctx context.Context, r ports.Register, id domain.SubjectID) (any, error) {
			return nil, r.Holds.Update(ctx, lifted(holdOf("1", id)))
		}),
		inRequests("a purge", func(ctx context.Context, r ports.Register, _ domain.SubjectID) (any, error) {
			return r.Requests.Purge(ctx, morning.Add(sinceMorning), 1)
		}),
		inRequests("another hold", func(ctx context.Context, r ports.Register, id domain.SubjectID) (any, error) {
			return nil, r.Holds.Add(ctx, holdOf("another", id))
		}),
	)
}

// idsOf returns the sorted ids of entries.
func idsOf(entries []domain.OutboxEntry, err error) ([]string, error) {
	var ids []string
	for _, entry := range entries {
		ids = append(ids, entry.EntryID)
	}
	slices.Sort(ids)
	return ids, err
}

func mapKeepsItsOutbox(t testing.TB, h MapsHarness) {
	unclaimed := calls("finding unclaimed entries",
		func(ctx context.Context, _ testing.TB, s ports.Session) ([]string, error) {
			return idsOf(s.Outbox().Unclaimed(ctx, morning.Add(sinceMorning), 10))
		})
	unclaimed.hidden = true // no method that only reads returns LastError
	expectApart(t, h,
		unclaimed,
		changes("an entry", func(ctx context.Context, t testing.TB, s ports.Session) error {
			t.Helper()
			return s.Outbox().Enqueue(ctx, toErase(t, "more", subjectOf(t, present), tick))
		}),
		calls("a withdrawal", func(ctx context.Context, t testing.TB, s ports.Session) ([]string, error) {
			t.Helper()
			return idsOf(s.Outbox().Withdraw(ctx, subjectOf(t, present)))
		}),
		act{what: "a claim and its success", run: func(t testing.TB, s side) any {
			t.Helper()
			return s.settle(t, map[string]domain.OutboxStatus{"new": domain.OutboxSucceeded, "more": domain.OutboxFailed})
		}},
		calls("requeueing", func(ctx context.Context, _ testing.TB, s ports.Session) ([]string, error) {
			return idsOf(s.OutboxAdmin().Requeue(ctx, []string{"lost"}))
		}),
		calls("discarding", func(ctx context.Context, _ testing.TB, s ports.Session) (int, error) {
			discarded, err := s.OutboxAdmin().Discard(ctx, []string{"change"})
			return len(discarded), err
		}),
		calls("requeueing by a filter", func(ctx context.Context, _ testing.TB, s ports.Session) ([]string, error) {
			return idsOf(s.OutboxAdmin().RequeueMatching(ctx, domain.OutboxFilter{}, 10))
		}),
		calls("a purge", func(ctx context.Context, _ testing.TB, s ports.Session) (int64, error) {
			return s.OutboxAdmin().Purge(ctx, morning.Add(sinceMorning), 10)
		}),
	)
}

func mapKeepsItsTrail(t testing.TB, h MapsHarness) {
	expectApart(t, h,
		changes("an event", func(ctx context.Context, t testing.TB, s ports.Session) error {
			t.Helper()
			return s.Audit().Append(ctx, event("event-2", subjectOf(t, present)))
		}),
		act{what: "evidence", run: func(t testing.TB, s side) any {
			t.Helper()
			undo(t, s.Store, func(ctx context.Context, session ports.Session) error {
				return session.Audit().AppendEvidence(ctx, event("event-3", subjectOf(t, present)))
			})
			return true
		}},
	)
}

func mapKeepsItsMarks(t testing.TB, h MapsHarness) {
	expectApart(t, h,
		changes("a mark", func(ctx context.Context, t testing.TB, s ports.Session) error {
			t.Helper()
			return errOf(s.Subjects().Lock(ctx, subjectOf(t, absent), erasedAt))
		}),
		calls("a position", func(ctx context.Context, _ testing.TB, s ports.Session) (bool, error) {
			return s.Erased().Advance(ctx, "job", 1, 7)
		}),
	)
}

func mapHasItsInstallation(t testing.TB, h MapsHarness) {
	customers, employees := h.two(t)
	first, second := installationOf(t, customers), installationOf(t, employees)
	assert(t, first.ID != "" && first.ID != second.ID, "two data maps have the installation %q", first.ID)
	expectApart(t, h,
		changes("a new id", func(ctx context.Context, _ testing.TB, s ports.Session) error {
			return errOf(s.Installation().Renew(ctx))
		}),
		changes("the start of a worker", func(ctx context.Context, _ testing.TB, s ports.Session) error {
			return s.Installation().Started(ctx, datamap.StartedWorker{Resolvers: []string{"desk"}, Hooks: true})
		}),
		changes("a registration", func(ctx context.Context, _ testing.TB, s ports.Session) error {
			return s.Installation().Registers(ctx)
		}),
		changes("a duty", func(ctx context.Context, _ testing.TB, s ports.Session) error {
			return s.Installation().Duties().Begin(ctx, domain.Duty{Name: domain.DutySweep, Every: time.Hour})
		}),
	)
}

func mapFindsInItsOwnTables(t testing.TB, h MapsHarness) {
	customers, employees := h.two(t)
	for _, s := range []side{customers, employees} {
		prefix := datamap.ObjectPrefix(s.name)
		want := []search.Occurrence{
			{Table: prefix + "restriction_records", Column: "reason", Rows: 1},
			{Table: prefix + "outbox", Column: "corrections", Rows: 1},
		}
		got := s.occurrences(t)
		assert(t, slices.Equal(got, want), "Find found %v, want %v", got, want)
	}
}
