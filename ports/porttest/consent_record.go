package porttest

import (
	"context"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports"
)

func consentRecordComesBackAsAppended(t testing.TB, h StoreHarness) {
	id := subject(t, "acme", 1)
	var records []domain.ConsentRecord
	for i, text := range append(distinctTexts(), strings.Repeat("v", domain.MaxTextLength)) {
		records = append(records, domain.ConsentRecord{
			SubjectID: id, Purpose: "news", PolicyVersion: text, Granted: i%2 == 0, RecordedAt: after(i), Source: text,
		})
	}
	store := h.withConsents(t, true, records...)
	expectWhole(t, "the history", versionName, inUTC(consentHistory(t, store, id, "news")), records...)
	do(t, store, func(ctx context.Context, s ports.Session) error {
		latest, err := s.Consents().Latest(ctx, id, "news", nil)
		if err == nil && latest == nil {
			t.Errorf("there is no record in force")
		} else if err == nil {
			last := records[len(records)-1]
			expectWhole(t, "in force", versionName, inUTC([]domain.ConsentRecord{*latest}), last)
		}
		return err
	})
}

// inUTC leaves it to another case in which location an instant comes back.
func inUTC(records []domain.ConsentRecord) []domain.ConsentRecord {
	for i := range records {
		records[i].RecordedAt = records[i].RecordedAt.UTC()
	}
	return records
}

// unevenInstants are instants as clocks give them, and what a store keeps of each.
func unevenInstants() map[time.Time]time.Time {
	east, west := time.FixedZone("east", 5*3600+1800), time.FixedZone("west", -8*3600)
	return map[time.Time]time.Time{
		noon.In(east):                   noon,
		noon.Add(999).In(west):          noon,
		noon.Add(500 * time.Nanosecond): noon,
		noon.Add(-1):                    noon.Add(-time.Microsecond),
		noon.Truncate(time.Second):      noon.Truncate(time.Second),
		time.Date(1969, 7, 20, 20, 17, 40, 1001, time.UTC):   time.Date(1969, 7, 20, 20, 17, 40, 1000, time.UTC),
		time.Date(2999, 12, 31, 23, 59, 59, 999999999, west): time.Date(3000, 1, 1, 7, 59, 59, 999999000, time.UTC),
	}
}

// expectInstant checks what a store returned for an instant.
func expectInstant(t testing.TB, what string, got, given, want time.Time) {
	t.Helper()
	if !got.Equal(want) {
		t.Errorf("%s was given as %v and returned as %v, want %v", what, given, got, want)
	} else if got.Location() != time.UTC {
		t.Errorf("%s is returned in the location %v, not in UTC", what, got.Location())
	}
}

func consentInstantIsInUTCAndMicroseconds(t testing.TB, h StoreHarness) {
	store := h.open(t)
	id, number := subject(t, "acme", 1), 0
	for given, want := range unevenInstants() {
		number++
		purpose, record := "news-"+strconv.Itoa(number), grant(id, "", 0)
		record.Purpose, record.RecordedAt = purpose, given
		do(t, store, func(ctx context.Context, s ports.Session) error { return s.Consents().Append(ctx, record) })
		for _, recorded := range consentHistory(t, store, id, purpose) {
			expectInstant(t, "RecordedAt in the history", recorded.RecordedAt, given, want)
		}
		do(t, store, func(ctx context.Context, s ports.Session) error {
			latest, err := s.Consents().Latest(ctx, id, purpose, nil)
			if err == nil && latest == nil {
				t.Errorf("a record of %v is not in force", given)
			} else if err == nil {
				expectInstant(t, "RecordedAt of the latest record", latest.RecordedAt, given, want)
			}
			return err
		})
	}
}

func consentIsReadByItsOwnSession(t testing.TB, h StoreHarness) {
	store, id := h.open(t), subject(t, "acme", 1)
	do(t, store, func(ctx context.Context, s ports.Session) error {
		for i := range 3 {
			record := decided(id, strconv.Itoa(i), true, i)
			if err := s.Consents().Append(ctx, record); err != nil {
				return err
			}
			latest, err := s.Consents().Latest(ctx, id, "news", nil)
			if err != nil {
				return err
			}
			assert(t, versionOf(latest) == record.PolicyVersion,
				"after append %d the session reads %q in force", i, versionOf(latest))
			history, err := s.Consents().History(ctx, id, "news")
			if err != nil {
				return err
			}
			assert(t, len(history) == i+1, "after append %d the session reads a history of %d", i, len(history))
		}
		return nil
	})
}

func consentLedgerOnlyGrows(t testing.TB, h StoreHarness) {
	id := subject(t, "acme", 1)
	records := []domain.ConsentRecord{
		decided(id, "v1", true, 0), decided(id, "v1", true, 0), decided(id, "v1", false, 0), decided(id, "v1", true, 0),
	}
	for _, inOne := range inOneAndMany {
		store := h.withConsents(t, inOne, records...)
		expectRecords(t, "the history", versionName, consentHistory(t, store, id, "news"), records...)
	}
}

func consentPurposesAreComparedExactly(t testing.TB, h StoreHarness) {
	id := subject(t, "acme", 1)
	var records []domain.ConsentRecord
	for i, purpose := range distinctTexts() {
		record := decided(id, strconv.Itoa(i), true, 0)
		record.Purpose = purpose
		records = append(records, record)
	}
	store := h.withConsents(t, true, records...)
	do(t, store, func(ctx context.Context, s ports.Session) error {
		for _, record := range records {
			if t.Failed() { // the rest would say the same
				return nil
			}
			history, err := s.Consents().History(ctx, id, record.Purpose)
			if err != nil {
				return err
			}
			expectRecords(t, "the history for "+strconv.QuoteToASCII(record.Purpose), versionName, history, record)
			latest, err := s.Consents().Latest(ctx, id, record.Purpose, nil)
			if err != nil {
				return err
			}
			assert(t, versionOf(latest) == record.PolicyVersion,
				"the record in force for %+q is %q, want %q", record.Purpose, versionOf(latest), record.PolicyVersion)
		}
		return nil
	})
}

func consentSubjectsAreKeptApart(t testing.TB, h StoreHarness) {
	var records []domain.ConsentRecord
	for i, id := range distinctSubjects(t) {
		records = append(records, decided(id, strconv.Itoa(i), true, 0))
	}
	store := h.withConsents(t, true, records...)
	do(t, store, func(ctx context.Context, s ports.Session) error {
		for _, record := range records {
			if t.Failed() { // the rest would say the same
				return nil
			}
			history, err := s.Consents().History(ctx, record.SubjectID, "news")
			if err != nil {
				return err
			}
			expectRecords(t, "the history of "+strconv.QuoteToASCII(record.SubjectID.String()), versionName, history, record)
			latest, err := s.Consents().Latest(ctx, record.SubjectID, "news", nil)
			if err != nil {
				return err
			}
			assert(t, versionOf(latest) == record.PolicyVersion,
				"the record in force of %+q is %q, want %q", record.SubjectID.String(), versionOf(latest), record.PolicyVersion)
		}
		return nil
	})
}
