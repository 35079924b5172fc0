package memory

import (
	"slices"
	"time"

	"github.com/habeas-data/habeas/domain"
)

// state is everything that a store holds, at one moment. A copy of the struct is a copy of it all, because a change
// never touches what it finds: it puts a new slice, map or row in its place. Only append writes into memory that other
// states share, behind what they can see; the write lock sees to it that nobody else does so at the same time.
type state struct {
	dataMap      domain.DataMap
	consents     []domain.ConsentRecord
	restrictions []domain.RestrictionRecord
	entries      []domain.OutboxEntry
	tried        map[string]time.Time // since when entries that were requeued are; zero until they are claimed
	events       []domain.AuditEvent
	erasures     map[domain.SubjectID]domain.ErasureMark
	intake       int64            // of the last mark
	positions    map[string]int64 // of the readers of marks
	rows         map[string][]Row // the application's own, by table
}

// appends are what a session holds back of the append-only stores, and of the outbox.
type appends struct {
	consents     []domain.ConsentRecord
	restrictions []domain.RestrictionRecord
	entries      []domain.OutboxEntry
	events       []domain.AuditEvent
}

func (a appends) empty() bool {
	return len(a.consents)+len(a.restrictions)+len(a.entries)+len(a.events) == 0
}

// append adds everything, in order. An id that is there already is domain.ErrConflict.
func (s *state) append(added appends) error {
	s.consents = append(s.consents, added.consents...)
	s.restrictions = append(s.restrictions, added.restrictions...)
	for _, entry := range added.entries {
		if slices.ContainsFunc(s.entries, func(e domain.OutboxEntry) bool { return e.EntryID == entry.EntryID }) {
			return conflict("enqueue", "an entry of that id is there already")
		}
		s.entries = append(s.entries, entry)
	}
	for _, event := range added.events {
		if slices.ContainsFunc(s.events, func(e domain.AuditEvent) bool { return e.EventID == event.EventID }) {
			return conflict("audit", "an event of that id is there already")
		}
		s.events = append(s.events, event)
	}
	return nil
}

func conflict(op, message string) error {
	return &domain.Error{Code: domain.ErrConflict, Op: op, Message: message}
}
