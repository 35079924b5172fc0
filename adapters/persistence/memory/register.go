package memory

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/request"
	"github.com/habeas-data/habeas/ports"
)

// Register implements ports.Session.
func (s *session) Register() ports.Register {
	return ports.Register{Requests: requestStore{s}, Holds: holdStore{s}}
}

// entered is a request with its number of intake.
type entered struct {
	request.Request
	seq int64
}

// requestStore implements ports.RequestStore.
type requestStore struct{ *session }

func (r requestStore) Add(ctx context.Context, added request.Request) (request.Request, bool, error) {
	state, err := r.write(ctx)
	if err != nil {
		return request.Request{}, false, err
	}
	if standing := state.openLike(added); standing != nil {
		return storedRequest(*standing), false, nil
	}
	added = storedRequest(added)
	if err := state.append(newRecords{requests: []request.Request{added}}); err != nil {
		return request.Request{}, false, r.fail(err)
	}
	return storedRequest(added), true, nil
}

func (r requestStore) Append(_ context.Context, added request.Request) error {
	if err := r.usable(); err != nil {
		return err
	}
	r.unwritten.requests = append(r.unwritten.requests, storedRequest(added))
	return nil
}

func (r requestStore) Update(ctx context.Context, changed request.Request) error {
	state, err := r.write(ctx)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(state.requests, func(e entered) bool { return e.Number == changed.Number })
	if i < 0 || state.requests[i].Version != changed.Version-1 {
		return conflict("request", "the request has changed, or does not exist") // nothing was written
	}
	before := state.requests[i]
	changed.Kind, changed.ReceivedAt, changed.EnteredAt = before.Kind, before.ReceivedAt, before.EnteredAt
	other := state.openLike(changed)
	if changed.State.IsOpen() && other != nil && other.Number != changed.Number {
		return r.fail(conflict("request", "the subject has another open request of this kind"))
	}
	state.requests = slices.Clone(state.requests)
	state.requests[i] = entered{storedRequest(changed), before.seq}
	if state.life(changed.SubjectID) == domain.LifeEnded {
		state.closeLedgers(changed.SubjectID)
	}
	return nil
}

func (r requestStore) Find(ctx context.Context, number request.Number) (*request.Request, error) {
	found, err := r.where(ctx, func(e entered) bool { return e.Number == number })
	if err != nil || len(found) == 0 {
		return nil, err
	}
	return &found[0], nil
}

func (r requestStore) Of(ctx context.Context, id domain.SubjectID) ([]request.Request, error) {
	state, err := r.recorded(ctx)
	if err != nil {
		return nil, err
	}
	until := state.erasures[id].RequestsUntil
	own := state.requestsWhere(func(e entered) bool { return e.SubjectID == id && e.seq > until })
	slices.Reverse(own)
	return upTo(request.MaxPage, own), nil
}

func (r requestStore) Standing(
	ctx context.Context, id domain.SubjectID, since time.Time,
) (standing request.Standing, err error) {
	state, err := r.recorded(ctx)
	if err != nil {
		return standing, err
	}
	since, until := domain.Instant(since), state.erasures[id].RequestsUntil
	standing.Open = state.requestsWhere(func(e entered) bool { return e.SubjectID == id && e.State.IsOpen() })
	standing.Held = state.isHeld(id)
	standing.Entered = len(state.requestsWhere(func(e entered) bool {
		onlyRecorded := e.Version <= 1 && e.State.IsClosed() && e.Kind != request.Erasure
		return e.SubjectID == id && e.seq > until && e.Channel == request.SelfService && !e.EnteredAt.Before(since) &&
			!onlyRecorded
	}))
	return standing, nil
}

func (r requestStore) List(ctx context.Context, query request.Query) ([]request.Request, error) {
	if err := query.Check(); err != nil {
		return nil, err
	}
	query.DueBefore = domain.Instant(query.DueBefore)
	found, err := r.where(ctx, func(e entered) bool { return query.Matches(e.Request) })
	if err != nil || !query.SubjectID.IsZero() || query.Reference != "" {
		return upTo(query.Limit, found), err
	}
	slices.SortFunc(found, func(a, b request.Request) int {
		return comparePlaces(query.Closed, *query.Next(a).After, *query.Next(b).After)
	})
	if query.After != nil {
		after := request.Position{At: domain.Instant(query.After.At), Number: query.After.Number}
		found = slices.DeleteFunc(found, func(r request.Request) bool {
			return comparePlaces(query.Closed, *query.Next(r).After, after) <= 0
		})
	}
	return upTo(query.Limit, found), nil
}

// comparePlaces compares the places of two requests in a list: by their instants, and by their numbers if these are
// equal. If last is set, the last instant comes first. Requests without an instant come at the end.
func comparePlaces(last bool, a, b request.Position) int {
	if a.At.IsZero() != b.At.IsZero() {
		return b.At.Compare(a.At)
	}
	if last {
		a, b = b, a
	}
	return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.Number, b.Number))
}

func (r requestStore) Counts(ctx context.Context, at time.Time) (counts request.Counts, err error) {
	open, err := r.where(ctx, func(e entered) bool { return !e.State.IsClosed() })
	if err != nil {
		return counts, err
	}
	at = domain.Instant(at)
	soon := at.Add(request.SoonDays * 24 * time.Hour)
	count := func(n *int, counts bool) {
		if counts && *n < request.MaxCount {
			*n++
		}
	}
	for _, r := range open {
		overdue := !r.DueAt.IsZero() && !r.DueAt.After(at)
		count(&counts.Open, true)
		count(&counts.DueSoon, !r.DueAt.IsZero() && !overdue && !r.DueAt.After(soon))
		count(&counts.Overdue, overdue)
		count(&counts.Suspended, !r.SuspendedAt.IsZero())
		count(&counts.OnHold, r.State == request.OnHold)
	}
	return counts, nil
}

func (r requestStore) Purge(ctx context.Context, closedBefore time.Time, limit int) (int64, error) {
	state, err := r.write(ctx)
	if err != nil {
		return 0, err
	}
	closedBefore = domain.Instant(closedBefore)
	old := state.requestsWhere(func(e entered) bool {
		return e.State.IsClosed() && e.ClosedAt.Before(closedBefore) && !state.isHeld(e.SubjectID)
	})
	slices.SortStableFunc(old, func(a, b request.Request) int { return a.ClosedAt.Compare(b.ClosedAt) })
	purged := map[request.Number]bool{}
	for _, r := range upTo(limit, old) {
		purged[r.Number] = true
	}
	state.requests = slices.DeleteFunc(slices.Clone(state.requests), func(e entered) bool { return purged[e.Number] })
	return int64(len(purged)), nil
}

// recorded returns the state to read from, with the requests that the session has appended.
func (r requestStore) recorded(ctx context.Context) (*state, error) {
	return r.read(ctx, len(r.unwritten.requests) > 0)
}

// where returns copies of the requests that are chosen, in the order of intake.
func (r requestStore) where(ctx context.Context, chosen func(entered) bool) ([]request.Request, error) {
	state, err := r.recorded(ctx)
	if err != nil {
		return nil, err
	}
	return state.requestsWhere(chosen), nil
}

func (s *state) requestsWhere(chosen func(entered) bool) (found []request.Request) {
	for _, e := range s.requests {
		if chosen(e) {
			found = append(found, storedRequest(e.Request))
		}
	}
	return found
}

// openLike returns the open request of the subject and the kind of r, or nil. A request without a subject is like no
// other one.
func (s *state) openLike(r request.Request) *request.Request {
	i := slices.IndexFunc(s.requests, func(e entered) bool {
		return !r.SubjectID.IsZero() && e.SubjectID == r.SubjectID && e.Kind == r.Kind && e.State.IsOpen()
	})
	if i < 0 {
		return nil
	}
	return &s.requests[i].Request
}

// enter adds a request with the next number of intake.
func (s *state) enter(r request.Request) error {
	if slices.ContainsFunc(s.requests, func(e entered) bool { return e.Number == r.Number }) {
		return conflict("request", "a request with that number already exists")
	}
	s.lastRequest++
	s.requests = append(s.requests, entered{r, s.lastRequest})
	return nil
}

// storedRequest returns a copy of the request in the form in which every store returns it.
func storedRequest(r request.Request) request.Request {
	r.Asked = append([]request.Reason(nil), r.Asked...)
	for _, at := range []*time.Time{
		&r.ReceivedAt, &r.EnteredAt, &r.DueAt, &r.SuspendedAt, &r.LapsesAt, &r.ExtendedAt, &r.ExecuteAfter,
		&r.NextAttemptAt, &r.ClosedAt,
	} {
		*at = domain.Instant(*at)
	}
	return r
}
