package saga_test

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports"
)

// memory is a store with only an outbox and an audit trail. Its sessions run one after the other.
type memory struct {
	ports.SessionFactory // nil: the runner calls only Do

	mu      sync.Mutex
	entries map[string]domain.OutboxEntry
	trail   []domain.AuditEvent

	// loses reports whether to roll back a session that has written the outcomes of entries. If loses is nil, no session
	// is rolled back.
	loses func() bool
}

func (m *memory) Do(ctx context.Context, fn func(context.Context, ports.Session) error) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	entries, events := maps.Clone(m.entries), len(m.trail)
	s := &memorySession{memory: m}
	err := fn(ctx, s)
	if err == nil && s.settled && m.loses != nil && m.loses() {
		err = errBoom
	}
	if err != nil {
		m.entries, m.trail = entries, m.trail[:events]
	}
	return err
}

// open returns the entries that have not succeeded.
func (m *memory) open() []domain.OutboxEntry {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.DeleteFunc(slices.Collect(maps.Values(m.entries)), func(entry domain.OutboxEntry) bool {
		return entry.Status == domain.OutboxSucceeded
	})
}

// events returns the number of events by type.
func (m *memory) events() map[domain.EventType]int {
	m.mu.Lock()
	defer m.mu.Unlock()
	counts := map[domain.EventType]int{}
	for _, event := range m.trail {
		counts[event.EventType]++
	}
	return counts
}

type memorySession struct {
	*memory
	ports.Session // panics for the other stores
	settled       bool
}

func (s *memorySession) Outbox() ports.Outbox  { return memoryOutbox{memorySession: s} }
func (s *memorySession) Audit() ports.AuditLog { return memoryAudit{memorySession: s} }

type memoryAudit struct {
	*memorySession
	ports.AuditLog
}

func (a memoryAudit) Append(_ context.Context, events ...domain.AuditEvent) error {
	a.trail = append(a.trail, events...)
	return nil
}

type memoryOutbox struct {
	*memorySession
	ports.Outbox
}

func (o memoryOutbox) Claim(
	_ context.Context, query domain.ClaimQuery,
) (claimed []domain.OutboxEntry, _ error) {
	claimable := []domain.OutboxStatus{domain.OutboxPending, domain.OutboxFailed, domain.OutboxInFlight}
	for _, take := range query.Takes {
		var fresh, retries []domain.OutboxEntry
		for _, entry := range o.entries {
			switch {
			case entry.Resolver != take.Resolver || entry.Operation != take.Operation:
			case !slices.Contains(claimable, entry.Status):
			case entry.NextAttemptAt == nil:
				fresh = append(fresh, entry)
			case !entry.NextAttemptAt.After(query.Now):
				retries = append(retries, entry)
			}
		}
		for _, due := range [][]domain.OutboxEntry{fresh, retries} {
			slices.SortFunc(due, domain.OutboxEntry.Compare)
		}
		claimed = slices.Concat(claimed, fresh[:min(take.Fresh, len(fresh))], retries[:min(take.Retries, len(retries))])
	}
	for i := range claimed {
		claimed[i].Status = domain.OutboxInFlight
		claimed[i].Attempts++
		claimed[i].LastAttemptAt, claimed[i].NextAttemptAt = &query.Now, &query.LeaseUntil
		claimed[i].LeaseToken = &query.LeaseToken
		o.entries[claimed[i].EntryID] = claimed[i]
	}
	return claimed, nil
}

func (o memoryOutbox) Unclaimed(context.Context, time.Time, int) ([]domain.OutboxEntry, error) {
	return nil, nil
}

func (o memoryOutbox) Settle(_ context.Context, settlements []domain.Settlement) ([]domain.SettleResult, error) {
	o.settled = true
	results, last := make([]domain.SettleResult, len(settlements)), map[domain.SubjectID]int{}
	for i, s := range settlements {
		entry := o.entries[s.Entry.EntryID]
		if entry.LeaseToken == nil || *entry.LeaseToken != *s.Entry.LeaseToken {
			results[i].Stale = true
			continue
		}
		entry.Status, entry.LastError, entry.NextAttemptAt, entry.LeaseToken = s.Status, &s.LastError, s.NextAttemptAt, nil
		switch s.Status { //nolint:exhaustive // the others need nothing more
		case domain.OutboxPending:
			entry.Attempts--
		case domain.OutboxSucceeded:
			entry.Ref, last[entry.SubjectID] = domain.SubjectRef{}, i
		}
		o.entries[entry.EntryID] = entry
	}
	for subject, i := range last { // all entries are erasures
		results[i].Completes = true
		for _, entry := range o.entries {
			if entry.SubjectID == subject && entry.Status != domain.OutboxSucceeded {
				results[i].Completes = false
			}
		}
	}
	return results, nil
}
