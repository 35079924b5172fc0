package memory

import (
	"context"
	"slices"
	"time"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/plan"
)

// State implements ports.SubjectStore.
func (s subjectStore) State(ctx context.Context, id domain.SubjectID) (domain.SubjectState, error) {
	state, err := s.readOf(ctx, id)
	if err != nil {
		return domain.SubjectState{}, err
	}
	return state.subjectState(id), nil
}

// Register implements ports.SubjectStore.
func (s subjectStore) Register(ctx context.Context, id domain.SubjectID, at time.Time) error {
	state, err := s.writeOf(ctx, id)
	if err != nil {
		return err
	}
	if !state.subjectState(id).Present {
		return s.fail(conflict("register", "the subject's table has no row of the subject: call Register after the insert"))
	}
	mark, marked := state.erasures[id]
	if !marked && !state.hasRecords(id) {
		return nil
	}
	mark.SubjectID, mark.RegisteredAt, mark.RegisteredAddedAt = id, domain.Instant(at), state.addedAt(id)
	state.erasures = withEntry(state.erasures, id, mark)
	state.closeLedgers(id)
	s.marked = slices.DeleteFunc(s.marked, func(marked domain.SubjectID) bool { return marked == id })
	return nil
}

func (s *state) subjectState(id domain.SubjectID) domain.SubjectState {
	mark, evidence := s.erasures[id], s.evidence(id)
	return domain.SubjectState{Present: evidence.Present, Life: mark.Life(evidence), Mark: mark, Evidence: evidence}
}

// life returns the life of the id, or "" if no erasure of the subject is marked. An id that does not fit the key of the
// subject's table has no row.
func (s *state) life(id domain.SubjectID) domain.Life {
	mark, marked := s.erasures[id]
	if !marked {
		return ""
	}
	return mark.Life(s.evidence(id))
}

func (s *state) evidence(id domain.SubjectID) (evidence domain.LifeEvidence) {
	if _, err := s.dataMap.Key(id); err != nil {
		return evidence
	}
	table := s.dataMap.SubjectTable()
	for _, i := range s.rowsOnPath(id, table.Name, nil) {
		var values []any
		for _, column := range plan.Identifying(table) {
			values = append(values, s.rows[table.Name][i][column.Name])
		}
		evidence = plan.LifeEvidence(s.dataMap, s.addedAt(id), values)
	}
	return evidence
}

func (s *state) hasRecords(id domain.SubjectID) bool {
	decided := slices.ContainsFunc(s.consents, func(r domain.ConsentRecord) bool { return r.SubjectID == id })
	return decided || slices.ContainsFunc(s.requests, func(e entered) bool { return e.SubjectID == id }) ||
		slices.ContainsFunc(s.restrictions, func(r domain.RestrictionRecord) bool { return r.SubjectID == id })
}

// closeLedgers makes all records and requests of the subject belong to an earlier life of the id: it sets the numbers
// in the mark to their highest numbers.
func (s *state) closeLedgers(id domain.SubjectID) {
	mark := s.erasures[id]
	for i, record := range s.consents {
		if record.SubjectID == id {
			mark.ConsentsUntil = seqOf(i)
		}
	}
	for i, record := range s.restrictions {
		if record.SubjectID == id {
			mark.RestrictionsUntil = seqOf(i)
		}
	}
	for _, e := range s.requests {
		if e.SubjectID == id {
			mark.RequestsUntil = e.seq
		}
	}
	s.erasures = withEntry(s.erasures, id, mark)
}

// closeEnded closes the ledgers for each of the subjects whose life has ended.
func (s *state) closeEnded(added newRecords) error {
	for _, record := range added.consents {
		if record.Granted {
			if err := s.subjectState(record.SubjectID).CheckGrant(); err != nil {
				return err
			}
		}
		if s.life(record.SubjectID) == domain.LifeEnded {
			s.closeLedgers(record.SubjectID)
		}
	}
	for _, record := range added.restrictions {
		if s.life(record.SubjectID) == domain.LifeEnded {
			s.closeLedgers(record.SubjectID)
		}
	}
	for _, r := range added.requests {
		if s.life(r.SubjectID) == domain.LifeEnded {
			s.closeLedgers(r.SubjectID)
		}
	}
	return nil
}
