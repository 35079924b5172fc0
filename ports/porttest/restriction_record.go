package porttest

import (
	"context"
	"strconv"
	"testing"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports"
)

func restrictionRecordComesBackAsAppended(t testing.TB, h StoreHarness) {
	id := subject(t, "acme", 1)
	reasons := []*string{nil, pointer("")} // which are not the same
	for _, text := range distinctTexts() {
		reasons = append(reasons, pointer(text))
	}
	for scope, purpose := range scopes() {
		var records []domain.RestrictionRecord
		for i, reason := range reasons {
			record := ordered(id, purpose, strconv.Itoa(i), i%2 == 0, i)
			record.Reason = reason
			records = append(records, record)
		}
		store := h.withRestrictions(t, true, records...)
		history := restrictionHistory(t, store, id, purpose)
		latest := latestOf(latestRestrictions(t, store, id, purpose))(purpose)
		if latest == nil {
			t.Errorf("there is no %s record in force", scope)
			continue
		}
		history = append(history, *latest)
		for i := range history { // in which location it comes back is another case
			history[i].RecordedAt = history[i].RecordedAt.UTC()
		}
		expectWhole(t, scope+" history and latest", sourceName, history, append(records, records[len(records)-1])...)
	}
}

func restrictionInstantIsInUTCAndMicroseconds(t testing.TB, h StoreHarness) {
	store := h.open(t)
	id, number := subject(t, "acme", 1), 0
	for given, want := range unevenInstants() {
		number++
		purpose := pointer("news-" + strconv.Itoa(number))
		record := restrict(id, purpose, 0)
		record.RecordedAt = given
		do(t, store, func(ctx context.Context, s ports.Session) error { return s.Restrictions().Append(ctx, record) })
		for _, recorded := range restrictionHistory(t, store, id, purpose) {
			expectInstant(t, "RecordedAt in the history", recorded.RecordedAt, given, want)
		}
		_, latest := latestRestrictions(t, store, id, purpose)
		if latest == nil {
			t.Errorf("a record of %v is not in force", given)
			continue
		}
		expectInstant(t, "RecordedAt of the latest record", latest.RecordedAt, given, want)
	}
}

func restrictionIsReadByItsOwnSession(t testing.TB, h StoreHarness) {
	store, id := h.open(t), subject(t, "acme", 1)
	do(t, store, func(ctx context.Context, s ports.Session) error {
		for i := range 3 {
			for scope, purpose := range scopes() {
				if err := s.Restrictions().Append(ctx, ordered(id, purpose, scope+strconv.Itoa(i), true, i)); err != nil {
					return err
				}
				global, scoped, err := s.Restrictions().Latest(ctx, id, purpose)
				if err != nil {
					return err
				}
				if latest := latestOf(global, scoped)(purpose); sourceOf(latest) != scope+strconv.Itoa(i) {
					t.Errorf("after %s append %d the session reads %q in force", scope, i, sourceOf(latest))
				}
				history, err := s.Restrictions().History(ctx, id, purpose)
				if err != nil {
					return err
				}
				assert(t, len(history) == i+1, "after %s append %d the session reads a history of %d", scope, i, len(history))
			}
		}
		return nil
	})
}

func restrictionLedgerOnlyGrows(t testing.TB, h StoreHarness) {
	id := subject(t, "acme", 1)
	for scope, purpose := range scopes() {
		records := []domain.RestrictionRecord{
			ordered(id, purpose, "api", true, 0), ordered(id, purpose, "api", true, 0),
			ordered(id, purpose, "api", false, 0), ordered(id, purpose, "api", true, 0),
		}
		for _, inOne := range inOneAndMany {
			store := h.withRestrictions(t, inOne, records...)
			expectRecords(t, scope+" history", sourceName, restrictionHistory(t, store, id, purpose), records...)
		}
	}
}

func restrictionPurposesAreComparedExactly(t testing.TB, h StoreHarness) {
	id := subject(t, "acme", 1)
	var records []domain.RestrictionRecord
	for i, purpose := range distinctTexts() {
		records = append(records, ordered(id, pointer(purpose), strconv.Itoa(i), true, 0))
	}
	store := h.withRestrictions(t, true, records...)
	do(t, store, func(ctx context.Context, s ports.Session) error {
		for _, record := range records {
			if err := expectOnly(ctx, t, s, record); err != nil || t.Failed() { // the rest would say the same
				return err
			}
		}
		return nil
	})
}

func restrictionSubjectsAreKeptApart(t testing.TB, h StoreHarness) {
	var records []domain.RestrictionRecord
	for i, id := range distinctSubjects(t) {
		records = append(records,
			ordered(id, nil, "global-"+strconv.Itoa(i), true, 0), ordered(id, pointer("news"), "scoped-"+strconv.Itoa(i), true, 0))
	}
	store := h.withRestrictions(t, true, records...)
	do(t, store, func(ctx context.Context, s ports.Session) error {
		for _, record := range records {
			if err := expectOnly(ctx, t, s, record); err != nil || t.Failed() { // the rest would say the same
				return err
			}
		}
		return nil
	})
}

// expectOnly checks that a record is the only one of its subject and purpose.
func expectOnly(ctx context.Context, t testing.TB, s ports.Session, record domain.RestrictionRecord) error {
	t.Helper()
	history, err := s.Restrictions().History(ctx, record.SubjectID, record.Purpose)
	if err != nil {
		return err
	}
	expectRecords(t, "the history", sourceName, history, record)
	global, scoped, err := s.Restrictions().Latest(ctx, record.SubjectID, record.Purpose)
	if latest := latestOf(global, scoped)(record.Purpose); err == nil && sourceOf(latest) != record.Source {
		t.Errorf("the record in force is %q, want %q", sourceOf(latest), record.Source)
	}
	return err
}
