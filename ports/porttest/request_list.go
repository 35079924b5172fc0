package porttest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/request"
	"github.com/habeas-data/habeas/ports"
)

func requestListIsInOrder(t testing.TB, h StoreHarness) {
	s, nobody := h.requests(t), domain.SubjectID{}
	of := func(reference string) edit { return func(r *request.Request) { r.Reference = reference } }
	s.add(t, asks(1, nobody, inState(request.Awaiting, 0), of("A 1")), asks(2, nobody, dueAt(after(30))),
		asks(3, zoe.id(t), dueAt(after(10)), of("A 1")), asks(4, nobody, inState(request.Refused, 10)),
		asks(5, zoe.id(t), dueAt(after(20)), inState(request.Executing, 0)),
		asks(6, zoe.id(t), inState(request.Fulfilled, 30), of("A 1")), asks(7, nobody, inState(request.Lapsed, 20)),
		asks(8, nobody, dueAt(after(-10)), of("a 1")))
	for _, test := range []struct {
		query request.Query
		want  string
	}{
		{request.Query{}, "8 3 5 2 1"},
		{request.Query{Closed: true}, "6 7 4"},
		{request.Query{SubjectID: zoe.id(t)}, "3 5 6"},
		{request.Query{Reference: "A 1"}, "1 3 6"},
	} {
		test.query.Limit = request.MaxPage
		expectNumbers(t, fmt.Sprintf("the query %+v", test.query), s.list(t, test.query), test.want)
		test.query.Limit = 2
		first := strings.Join(strings.Fields(test.want)[:2], " ")
		expectNumbers(t, fmt.Sprintf("the query %+v", test.query), s.list(t, test.query), first)
		test.query.After = &request.Position{At: after(3600), Number: nth(9)}
		if !test.query.SubjectID.IsZero() || test.query.Reference != "" {
			expectNumbers(t, "the position is not ignored", s.list(t, test.query), first)
		}
	}
}

func requestListIsFiltered(t testing.TB, h StoreHarness) {
	s, nobody, id := h.requests(t), domain.SubjectID{}, zoe.id(t)
	s.add(t, asks(1, id, dueAt(after(10))),
		asks(2, nobody, ofKind(request.Erasure), inState(request.OnHold, 0), dueAt(after(20))),
		asks(3, id, ofKind(request.Erasure), dueAt(after(30))), asks(4, nobody, inState(request.Awaiting, 0)),
		asks(5, nobody, ofKind(request.Erasure), inState(request.Refused, 40), dueAt(after(5))),
		asks(6, id, inState(request.Refused, 30)), asks(7, id, inState(request.Fulfilled, 20), dueAt(after(50))))
	for _, test := range []struct {
		query request.Query
		want  string
	}{
		{request.Query{Kind: request.Erasure}, "2 3"},
		{request.Query{Kind: request.Portability}, ""},
		{request.Query{State: request.Received}, "1 3"},
		{request.Query{State: request.Awaiting}, "4"},
		{request.Query{State: request.Refused}, ""},
		{request.Query{Kind: request.Erasure, State: request.OnHold}, "2"},
		{request.Query{DueBefore: after(20)}, "1"},
		{request.Query{DueBefore: after(20).Add(time.Microsecond)}, "1 2"},
		{request.Query{DueBefore: after(10)}, ""},
		{request.Query{Kind: request.Erasure, DueBefore: after(3600)}, "2 3"},
		{request.Query{Closed: true, Kind: request.Erasure}, "5"},
		{request.Query{Closed: true, State: request.Refused}, "5 6"},
		{request.Query{Closed: true, State: request.Received}, ""},
		{request.Query{Closed: true, DueBefore: after(50)}, "5"},
		{request.Query{SubjectID: id, State: request.Refused}, "6"},
		{request.Query{SubjectID: id, Kind: request.Access, DueBefore: after(51)}, "1 7"},
	} {
		test.query.Limit = request.MaxPage
		expectNumbers(t, fmt.Sprintf("the query %+v", test.query), s.list(t, test.query), test.want)
	}
}

// steady is the number of requests that do not change while pages are read. Three of them each have the same instant,
// and some have none.
const steady = 12

// While the pages are read, requests come and go at the instants of the others.
func requestPagesHaveNoGap(t testing.TB, h StoreHarness) {
	nobody := domain.SubjectID{}
	for _, closed := range []bool{false, true} {
		at := func(n, tie int) request.Request {
			switch {
			case closed:
				return asks(n, nobody, inState(request.Refused, tie))
			case tie == 0:
				return asks(n, nobody, inState(request.Awaiting, 0))
			default:
				return asks(n, nobody, dueAt(after(tie)))
			}
		}
		s, passing := h.requests(t), 0
		for i := range steady {
			s.add(t, at(1000+17*i%steady, i/3))
		}
		for limit := 1; limit <= steady+1; limit += 3 {
			query := request.Query{Closed: closed, Limit: limit}
			var seen []string
			for page := s.list(t, query); ; page = s.list(t, query) {
				seen = append(seen, strings.Fields(numbers(page))...)
				if len(page) < limit || len(seen) > 3*steady {
					break
				}
				last := page[len(page)-1]
				query = query.Next(last)
				if first := string(last.Number) < string(nth(1000)); first { // one that is passing: the place stays
					s.leave(t, last, closed)
				}
				if passing++; passing%3 == 0 {
					s.add(t, at(passing, passing%4))
				}
			}
			all := slices.Sorted(slices.Values(seen))
			assert(t, len(slices.Compact(slices.Clone(all))) == len(all), "closed: %v, pages of %d: a request comes twice: %v",
				closed, limit, seen)
			unchanged := slices.DeleteFunc(all, func(n string) bool { return len(n) < len("1000") })
			assert(t, len(unchanged) == steady, "closed: %v, pages of %d: %d of %d requests are in the pages: %v", closed,
				limit, len(unchanged), steady, seen)
		}
	}
}

// leave takes a request out of its list: it closes an open one, and purges closed ones up to it.
func (s requestsUnderTest) leave(t testing.TB, r request.Request, closed bool) {
	t.Helper()
	if !closed {
		s.update(t, nextVersion(r, inState(request.Withdrawn, 0)))
		return
	}
	reopened := nextVersion(r, inState(request.Received, 0))
	reopened.ClosedAt = time.Time{}
	s.update(t, reopened)
}

func requestListRefusesAQuery(t testing.TB, h StoreHarness) {
	s, id := h.requests(t), zoe.id(t)
	for _, query := range []request.Query{
		{},
		{Limit: -1},
		{Limit: request.MaxPage + 1},
		{SubjectID: id, Limit: 0},
		{SubjectID: id, Reference: "A", Limit: 1},
		{SubjectID: id, Closed: true, Limit: 1},
		{Reference: "A", Closed: true, Limit: 1},
		{SubjectID: id, Reference: "A", Closed: true, Limit: 1},
	} {
		err := s.tryUse(t, func(ctx context.Context, r ports.Register) error { return errOf(r.Requests.List(ctx, query)) })
		isError(t, fmt.Sprintf("the query %+v", query), err, domain.ErrInvalid)
	}
}

func (s requestsUnderTest) expectCounts(t testing.TB, what string, at time.Time, want request.Counts) {
	t.Helper()
	got := read(t, s.Store, func(ctx context.Context, session ports.Session) (request.Counts, error) {
		return session.Register().Requests.Counts(ctx, at)
	})
	assert(t, got == want, "%s: the counts are %+v, want %+v", what, got, want)
}

func requestCountsHaveTheirBounds(t testing.TB, h StoreHarness) {
	s, nobody := h.requests(t), domain.SubjectID{}
	s.expectCounts(t, "without a request", noon, request.Counts{})
	const week = request.SoonDays * 24 * time.Hour
	var requests []request.Request
	for i, from := range []time.Duration{-week, -time.Microsecond, 0, time.Microsecond, week, week + time.Microsecond} {
		requests = append(requests, asks(i+1, nobody, dueAt(noon.Add(from))),
			asks(i+101, nobody, dueAt(noon.Add(from)), inState(request.Refused, 0)))
	}
	undelivered := asks(12, nobody, inState(request.Awaiting, 0), dueAt(noon.Add(2*week)))
	undelivered.SuspendedAt = time.Time{}
	s.add(t, append(requests, asks(11, nobody, inState(request.Awaiting, 0)), undelivered,
		asks(13, nobody, inState(request.OnHold, 0), dueAt(noon)),
		asks(14, zoe.id(t), inState(request.Executing, 0), dueAt(noon.Add(week))),
		asks(15, nobody, inState(request.Scheduled, 0), dueAt(noon.Add(2*week))))...)
	s.expectCounts(t, "at noon", noon, request.Counts{Open: 11, DueSoon: 3, Overdue: 4, Suspended: 1, OnHold: 1})
	s.expectCounts(t, "in a week", noon.Add(week), request.Counts{
		Open: 11, DueSoon: 3, Overdue: 7, Suspended: 1, OnHold: 1,
	})
}

func requestNumbersAreLimited(t testing.TB, h StoreHarness) {
	s, id := h.requests(t), zoe.id(t)
	const many = request.MaxCount + 2
	s.use(t, func(ctx context.Context, r ports.Register) error {
		for n := range many {
			suspended := asks(10_000+n, domain.SubjectID{}, inState(request.Awaiting, 0), inState(request.OnHold, 0))
			if err := addAll(ctx, r, asks(n+1, id, inState(request.Executing, 0)), suspended); err != nil {
				return err
			}
		}
		return nil
	})
	own := s.of(t, id)
	assert(t, len(own) == request.MaxPage && own[0].Number == nth(many), "Of returns %d requests, the first one is %s",
		len(own), short(own[0].Number))
	listed := s.list(t, request.Query{SubjectID: id, Limit: request.MaxPage})
	assert(t, len(listed) == request.MaxPage && listed[0].Number == nth(1),
		"List returns %d requests, the first one is %s", len(listed), short(listed[0].Number))
	due := asks(1, id).DueAt
	for when, counts := range map[time.Time]request.Counts{
		due:                        {Overdue: request.MaxCount},
		due.Add(-time.Hour):        {DueSoon: request.MaxCount},
		due.Add(-9 * sinceMorning): {},
	} {
		counts.Open, counts.Suspended, counts.OnHold = request.MaxCount, request.MaxCount, request.MaxCount
		s.expectCounts(t, "with many requests", when, counts)
	}
}

// purge deletes closed requests in a session, and checks their number.
func (s requestsUnderTest) purge(t testing.TB, closedBefore time.Time, limit int, want int64) {
	t.Helper()
	purged := read(t, s.Store, func(ctx context.Context, session ports.Session) (int64, error) {
		return session.Register().Requests.Purge(ctx, closedBefore, limit)
	})
	assert(t, purged == want, "Purge with the limit %d has deleted %d requests, want %d", limit, purged, want)
}

func requestPurgeDeletesTheOldest(t testing.TB, h StoreHarness) {
	s, nobody, held, free := h.requests(t), domain.SubjectID{}, zoe.id(t), others[0].id(t)
	s.hold(t, holdOf("stands", held), holdOf("over", held), holdOf("lifted", free))
	s.lift(t, holdOf("over", held), holdOf("lifted", free))
	s.add(t, asks(1, free, inState(request.Fulfilled, 3)), asks(2, nobody, inState(request.Refused, 1)),
		asks(3, held, inState(request.Refused, 0)), asks(4, free, inState(request.Lapsed, 2)),
		asks(5, nobody, inState(request.Withdrawn, 4)), asks(6, free), asks(7, held, inState(request.Executing, 0)))
	remain := func(what, closed string) {
		t.Helper()
		expectNumbers(t, "closed requests "+what, s.list(t, request.Query{Closed: true, Limit: 9}), closed)
		expectNumbers(t, "open requests "+what, s.list(t, request.Query{Limit: 9}), "6 7")
	}
	s.purge(t, after(4), 0, 0)
	s.purge(t, after(1), 9, 0)
	remain("before a purge", "5 1 4 2 3")
	s.purge(t, after(4), 2, 2)
	remain("after a limited purge", "5 1 3")
	s.purge(t, after(4), 9, 1)
	remain("after a purge", "5 3")
	s.lift(t, holdOf("stands", held))
	s.purge(t, after(4), 9, 1)
	remain("after the end of a hold", "5")
	assert(t, s.find(t, 3) == nil && s.find(t, 5) != nil, "Find does not see the purge")
}
