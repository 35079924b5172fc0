package memory

import (
	"slices"
	"time"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/domain/request"
)

// state holds all data of a store at a point in time. A copy of the struct is a copy of all data, because a change
// replaces a slice, map or row and does not modify it.
//
// The built-in function append is the only exception: it may write to an array that other states share. It writes only
// behind the last element that those states contain, and the write lock prevents concurrent appends.
type state struct {
	name         string // of the data map
	dataMap      datamap.DataMap
	installation datamap.Installation
	consents     []domain.ConsentRecord
	restrictions []domain.RestrictionRecord
	requests     []entered // in the order of intake
	lastRequest  int64     // the number of intake of the last request, which may be purged
	holds        []request.Hold
	entries      []domain.OutboxEntry
	firstClaims  map[string]time.Time // by id of an entry: its first claim after its last requeue
	events       []domain.AuditEvent
	erasures     map[domain.SubjectID]domain.ErasureMark
	intake       int64            // the intake number of the last erasure mark
	lastErasedAt time.Time        // the instant of that mark
	positions    map[string]int64 // by name of a reader: the intake number of the last erasure mark that it has read
	duties       map[domain.DutyName]duty

	retentionHash  int64 // of the retention duties that a sweep has seen last
	retentionSince time.Time

	rows map[string][]Row // the rows of the application, by table
}

// newRecords holds the records that a session has appended and not yet added to its state.
type newRecords struct {
	consents     []domain.ConsentRecord
	restrictions []domain.RestrictionRecord
	requests     []request.Request
	entries      []domain.OutboxEntry
	events       []domain.AuditEvent
}

func (r newRecords) empty() bool {
	return r.consents == nil && r.restrictions == nil && r.requests == nil && r.entries == nil && r.events == nil
}

// append adds all records to the state, in order. It returns domain.ErrConflict if the number of a request, or the id
// of an outbox entry or an audit event already exists, and domain.ErrErased for a consent that
// domain.SubjectState.CheckGrant refuses.
func (s *state) append(added newRecords) error {
	s.consents = append(s.consents, added.consents...)
	s.restrictions = append(s.restrictions, added.restrictions...)
	for _, r := range added.requests {
		if err := s.enter(r); err != nil {
			return err
		}
	}
	if err := s.closeEnded(added); err != nil {
		return err
	}
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
