package porttest

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/internal/tests/promise"
	"github.com/habeas-data/habeas/ports"
)

// TestStore runs the suites of all storage ports (see the package comment). It fails if StoreHarness.Waive contains a
// name that is not the name of a case.
func TestStore(t *testing.T, h StoreHarness) {
	t.Helper()
	promise.CheckWaivers(t, storagePromises(), h.Waive)
	t.Run("SessionFactory", func(t *testing.T) { TestSessions(t, h) })
	t.Run("ConsentStore", func(t *testing.T) { TestConsentStore(t, h) })
	t.Run("RestrictionStore", func(t *testing.T) { TestRestrictionStore(t, h) })
	t.Run("SubjectStore", func(t *testing.T) { TestSubjectStore(t, h) })
	t.Run("Lives", func(t *testing.T) { TestLives(t, h) })
	t.Run("Outbox", func(t *testing.T) { TestOutbox(t, h) })
	t.Run("AuditLog", func(t *testing.T) { TestAuditLog(t, h) })
	t.Run("ErasureMarks", func(t *testing.T) { TestErasureMarks(t, h) })
	t.Run("DutyStore", func(t *testing.T) { TestDutyStore(t, h) })
	t.Run("RetentionSweeper", func(t *testing.T) { TestRetentionSweeper(t, h) })
	t.Run("RequestStore", func(t *testing.T) { TestRequestStore(t, h) })
	t.Run("HoldStore", func(t *testing.T) { TestHoldStore(t, h) })
}

// These functions report failures of a case.
var (
	assert = promise.Assert
	must   = promise.Must
)

var that = promise.That[StoreHarness]

func storagePromises() []promise.Promise[StoreHarness] {
	return slices.Concat(sessionPromises, consentPromises, restrictionPromises,
		subjectPromises, lifePromises, outboxPromises, auditPromises, markPromises, dutyPromises, sweepPromises,
		requestPromises, holdPromises)
}

// open opens a store, and fails the case if the harness lacks a required field.
func (h StoreHarness) open(t testing.TB) Store {
	t.Helper()
	must(t, h.Open != nil, "the harness is incomplete: Open is required")
	store := h.Open(t)
	must(t, store.Sessions != nil && store.Insert != nil && store.Rows != nil,
		"the harness is incomplete: Sessions, Insert and Rows are required")
	store.patience = h.patience()
	return store
}

func (h StoreHarness) patience() time.Duration {
	if h.Patience == 0 {
		return 10 * time.Second
	}
	return h.Patience
}

// requireHook fails a case that needs an optional function of Store if this function is not set.
func requireHook(t testing.TB, there bool, name string) {
	t.Helper()
	must(t, there, "Store.%s is not set: set it, or waive this case (StoreHarness.Waive) and say why", name)
}

// do runs fn in a separate session, and fails the case if the session does not commit. A session that blocks fails
// after StoreHarness.Patience.
func do(t testing.TB, store Store, fn func(ctx context.Context, s ports.Session) error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), store.patience)
	defer cancel()
	err := store.Sessions.Do(ctx, fn)
	must(t, err == nil, "the session failed: %v", err)
}

// within runs fn, and fails the case if fn does not return within StoreHarness.Patience. fn may continue to run after
// the end of the case, so it must not use t.
func (h StoreHarness) within(t testing.TB, what string, fn func()) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		fn()
	}()
	select {
	case <-done:
	case <-time.After(h.patience()):
		t.Fatalf("%s took longer than %v", what, h.patience())
	}
}

// inOneAndMany has the values of the parameter inOne of appendAll: true for one session, and false for a session for
// each record.
var inOneAndMany = []bool{true, false}

// appendAll appends the records: all in one session if inOne is true, and otherwise each in a separate session.
func appendAll[R any](
	t testing.TB, store Store, inOne bool, records []R, add func(context.Context, ports.Session, R) error,
) {
	t.Helper()
	size := 1
	if inOne {
		size = max(1, len(records))
	}
	for records := range slices.Chunk(records, size) {
		do(t, store, func(ctx context.Context, s ports.Session) error {
			for _, record := range records {
				if err := add(ctx, s, record); err != nil {
					return err
				}
			}
			return nil
		})
	}
}

// expectRecords compares the names of the records and their order, but no other fields.
func expectRecords[R any](t testing.TB, what string, name func(R) string, got []R, want ...R) {
	t.Helper()
	for i := range min(len(got), len(want)) {
		if name(got[i]) != name(want[i]) {
			t.Errorf("%s: %q is record %d of %d, want %q there", what, name(got[i]), i+1, len(got), name(want[i]))
			return
		}
	}
	assert(t, len(got) == len(want), "%s: got %d records, want %d", what, len(got), len(want))
}

// expectWhole compares all fields of the records, and their order.
func expectWhole[R any](t testing.TB, what string, name func(R) string, got []R, want ...R) {
	t.Helper()
	expectRecords(t, what, name, got, want...)
	for i := range min(len(got), len(want)) {
		if name(got[i]) == name(want[i]) && !reflect.DeepEqual(got[i], want[i]) {
			t.Fatalf("%s: %q did not come back as it was appended: got %+v, want %+v", what, name(want[i]), got[i], want[i])
		}
	}
}

func pointer[T any](value T) *T { return &value }

// subject returns the id of a customer of the shop that DataMap describes. The id consists of the tenant and the
// number.
func subject(t testing.TB, tenant string, number int64) domain.SubjectID {
	t.Helper()
	return subjectOf(t, tenant, strconv.FormatInt(number, 10))
}

func subjectOf(t testing.TB, elements ...string) domain.SubjectID {
	t.Helper()
	id, err := domain.NewSubjectID(elements...)
	must(t, err == nil, "the suite made an invalid subject: %v", err)
	return id
}

// noon is an instant in whole microseconds, which stores keep exactly.
var noon = time.Date(2024, time.February, 29, 12, 0, 0, 123456000, time.UTC)

// after returns noon plus a number of seconds, which may be negative.
func after(seconds int) time.Time { return noon.Add(time.Duration(seconds) * time.Second) }

func event(id string, of domain.SubjectID) domain.AuditEvent {
	return domain.AuditEvent{
		EventID: id, EventType: domain.EventErasureRequested, SubjectRef: of, OccurredAt: noon, Payload: domain.Payload{},
	}
}

// events returns n audit events at noon. Their ids begin with the prefix.
func events(prefix string, n int, of domain.SubjectID) []domain.AuditEvent {
	made := make([]domain.AuditEvent, n)
	for i := range made {
		made[i] = event(fmt.Sprintf("%s-%03d", prefix, i), of)
	}
	return made
}

// errOf returns only the error of the two results of a call.
func errOf[T any](_ T, err error) error { return err }

// rowsOf returns the numbers of rows that SubjectStore.Apply returns.
func rowsOf(applied domain.Applied, err error) ([]int64, error) { return applied.Rows, err }

// read calls fn in a separate session and returns the result. It fails the case if the session does not commit.
func read[T any](t testing.TB, store Store, fn func(context.Context, ports.Session) (T, error)) (value T) {
	t.Helper()
	do(t, store, func(ctx context.Context, s ports.Session) (err error) {
		value, err = fn(ctx, s)
		return err
	})
	return value
}
