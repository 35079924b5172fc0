package memory

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"time"

	"github.com/habeas-data/habeas/domain"
)

// outbox implements ports.Outbox.
type outbox struct{ *session }

func (o outbox) Enqueue(_ context.Context, entries ...domain.OutboxEntry) error {
	if err := o.usable(); err != nil {
		return err
	}
	for _, entry := range entries {
		corrections, err := asJSON(entry.Corrections)
		if err != nil {
			return o.fail(&domain.Error{Op: "enqueue", Message: "a correction cannot be encoded as JSON", Err: err})
		}
		entry.Corrections = corrections
		if entry.RequestedAt.IsZero() {
			entry.RequestedAt = entry.EnqueuedAt
		}
		o.unwritten.entries = append(o.unwritten.entries, cloneEntry(entry))
		o.enqueued = true
	}
	return nil
}

func (o outbox) Unclaimed(ctx context.Context, dueBefore time.Time, limit int) ([]domain.OutboxEntry, error) {
	if limit < 1 {
		return nil, o.usable()
	}
	state, err := o.write(ctx)
	if err != nil {
		return nil, err
	}
	dueBefore = domain.Instant(dueBefore)
	unclaimed := domain.LastErrorUnclaimed
	due := state.oldest(func(e domain.OutboxEntry) bool {
		return isClaimable(e) && e.EnqueuedAt.Before(dueBefore) &&
			(e.NextAttemptAt == nil || e.NextAttemptAt.Before(dueBefore)) && !equal(e.LastError, &unclaimed)
	})
	return state.change(upTo(limit, due), func(e *domain.OutboxEntry) { e.LastError = &unclaimed }), nil
}

func (o outbox) Counts(ctx context.Context) (map[domain.OutboxStatus]int64, error) {
	state, err := o.read(ctx, len(o.unwritten.entries) > 0)
	if err != nil {
		return nil, err
	}
	counts := map[domain.OutboxStatus]int64{}
	for _, status := range domain.OutboxStatuses() {
		counts[status] = 0
	}
	for _, entry := range state.entries {
		counts[entry.Status]++
	}
	return counts, nil
}

func (o outbox) Abandoned(ctx context.Context, after *domain.OutboxEntry, limit int) ([]domain.OutboxEntry, error) {
	state, err := o.read(ctx, len(o.unwritten.entries) > 0)
	if err != nil {
		return nil, err
	}
	if after != nil {
		cut := cloneEntry(*after)
		after = &cut
	}
	abandoned := state.oldest(func(e domain.OutboxEntry) bool {
		return isUnhandled(e) && (after == nil || e.Compare(*after) > 0)
	})
	var page []domain.OutboxEntry
	for _, entry := range pick(state.entries, upTo(limit, abandoned)) {
		page = append(page, cloneEntry(entry))
	}
	return page, nil
}

func (o outbox) Withdraw(ctx context.Context, id domain.SubjectID) ([]domain.OutboxEntry, error) {
	state, err := o.write(ctx)
	if err != nil {
		return nil, err
	}
	unsent := state.oldest(func(e domain.OutboxEntry) bool {
		return e.SubjectID == id && e.Operation == domain.OperationRectify && isClaimable(e)
	})
	return state.change(unsent, func(e *domain.OutboxEntry) {
		erased := "erased"
		e.Status, e.LastError = domain.OutboxAbandoned, &erased
		e.NextAttemptAt, e.LeaseToken = nil, nil
		forget(e)
	}), nil
}

func (o outbox) Purge(ctx context.Context, enqueuedBefore time.Time, limit int) (int64, error) {
	if limit < 1 {
		return 0, o.usable()
	}
	state, err := o.write(ctx)
	if err != nil {
		return 0, err
	}
	enqueuedBefore = domain.Instant(enqueuedBefore)
	settled := upTo(limit, state.oldest(func(e domain.OutboxEntry) bool {
		return e.Status == domain.OutboxSucceeded && e.EnqueuedAt.Before(enqueuedBefore)
	}))
	for _, i := range settled {
		state.forgetFirstClaims(state.entries[i])
	}
	state.entries = without(state.entries, settled)
	return int64(len(settled)), nil
}

// isClaimable reports whether the entry still has to be executed. It returns true even if a worker holds a lease on the
// entry.
func isClaimable(e domain.OutboxEntry) bool {
	return e.Status == domain.OutboxPending || e.Status == domain.OutboxFailed || e.Status == domain.OutboxInFlight
}

// isUnhandled reports whether an operator has to decide about the entry.
func isUnhandled(e domain.OutboxEntry) bool {
	return e.Status == domain.OutboxAbandoned || e.Status == domain.OutboxSpared
}

// forget removes the corrections and the ref of an outbox entry, because they are personal data. A ref is the id of the
// subject in an external system. forget replaces the ref by an empty one, whose kind is the name of the resolver.
func forget(e *domain.OutboxEntry) {
	e.Ref, e.Corrections = domain.SubjectRef{Kind: e.Resolver}, nil
}

// oldest returns the indexes of the entries for which the given function returns true, oldest first.
func (s *state) oldest(chosen func(domain.OutboxEntry) bool) []int {
	var found []int
	for i, entry := range s.entries {
		if chosen(entry) {
			found = append(found, i)
		}
	}
	slices.SortFunc(found, func(i, j int) int { return s.entries[i].Compare(s.entries[j]) })
	return found
}

func upTo[T any](limit int, all []T) []T { return all[:max(0, min(limit, len(all)))] }

// change applies a function to the outbox entries with the given indexes. It returns copies of the changed entries, in
// the order of the indexes.
func (s *state) change(indexes []int, edit func(*domain.OutboxEntry)) []domain.OutboxEntry {
	var changed []domain.OutboxEntry
	s.entries = slices.Clone(s.entries)
	for _, i := range indexes {
		entry := s.entries[i]
		edit(&entry)
		s.entries[i] = cloneEntry(entry)
		changed = append(changed, cloneEntry(s.entries[i]))
	}
	return changed
}

// cloneEntry returns a copy of e that shares no memory with e. Its times are in UTC and truncated to microseconds.
func cloneEntry(e domain.OutboxEntry) domain.OutboxEntry {
	e.Ref.Extra, e.Ref.Keys = maps.Clone(e.Ref.Extra), slices.Clone(e.Ref.Keys)
	e.Corrections, _ = asJSON(e.Corrections) // Enqueue has checked that they can be encoded
	e.EnqueuedAt, e.RequestedAt = domain.Instant(e.EnqueuedAt), domain.Instant(e.RequestedAt)
	e.TurnAt = domain.Instant(e.TurnAt)
	e.LastAttemptAt, e.NextAttemptAt = cloneInstant(e.LastAttemptAt), cloneInstant(e.NextAttemptAt)
	e.LastError, e.LeaseToken = clone(e.LastError), clone(e.LeaseToken)
	return e
}

func cloneInstant(t *time.Time) *time.Time {
	if t == nil {
		return nil
	}
	instant := domain.Instant(*t)
	return &instant
}

// asJSON returns corrections, which are the new values of a rectification, as a database would return them. A database
// stores corrections as JSON, so that, for example, a time becomes a text. The result shares no memory with the
// parameter.
func asJSON(corrections domain.Corrections) (domain.Corrections, error) {
	text, err := json.Marshal(corrections)
	if err != nil {
		return nil, err
	}
	var decoded domain.Corrections
	err = json.Unmarshal(text, &decoded)
	return decoded, err
}
