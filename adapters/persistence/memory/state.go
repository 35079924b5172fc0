package memory

import (
	"slices"
	"time"

	"github.com/habeas-data/habeas/domain"
)

// state holds all data of a store at a point in time. A copy of the struct is a copy of all data, because changes
// replace slices, maps and rows instead of modifying them. Only append writes to memory that other states share, after
// the elements that they can see. The write lock excludes concurrent appends.
type state struct {
	dataMap      domain.DataMap
	consents     []domain.ConsentRecord
	restrictions []domain.RestrictionRecord
	entries      []domain.OutboxEntry
	tried        map[string]time.Time // the first claim after a requeue, by entry; zero until then
	events       []domain.AuditEvent
	erasures     map[domain.SubjectID]domain.ErasureMark
	intake       int64            // the intake number of the last mark
	positions    map[string]int64 // the positions of the readers of marks
	rows         map[string][]Row // the rows of the application, by table
}

// appends holds the records that a session holds back.
type appends struct {
	consents     []domain.ConsentRecord
	restrictions []domain.RestrictionRecord
	entries      []domain.OutboxEntry
	events       []domain.AuditEvent
}

func (a appends) empty() bool {
	return len(a.consents)+len(a.restrictions)+len(a.entries)+len(a.events) == 0
}

// append adds all records, in order. It returns domain.ErrConflict for a duplicate id.
func (s *state) append(added appends) error {
	s.consents = append(s.consents, added.consents...)
	s.restrictions = append(s.restrictions, added.restrictions...)
	for _, entry := range added.entries {
		if slices.ContainsFunc(s.entries, func(e domain.OutboxEntry) bool { return e.EntryID == entry.EntryID }) {
			return conflict("enqueue", "an entry with that id already exists")
		}
		s.entries = append(s.entries, entry)
	}
	for _, event := range added.events {
		if slices.ContainsFunc(s.events, func(e domain.AuditEvent) bool { return e.EventID == event.EventID }) {
			return conflict("audit", "an event with that id already exists")
		}
		s.events = append(s.events, event)
	}
	return nil
}

func conflict(op, message string) error {
	return &domain.Error{Code: domain.ErrConflict, Op: op, Message: message}
}
