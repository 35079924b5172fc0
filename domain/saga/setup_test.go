package saga_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/golang/mock/gomock"
	"go.uber.org/goleak"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/saga"
	"github.com/habeas-data/habeas/internal/tests/fixture"
	"github.com/habeas-data/habeas/ports"
	"github.com/habeas-data/habeas/ports/mocks"
)

// TestMain checks that no goroutine remains, even after a call that ends long after its deadline.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var (
	errBoom = errors.New("boom: zoe@example.org")
	noon    = time.Date(2024, 3, 1, 12, 0, 0, 0, time.UTC)
	refused = &domain.ResolverError{Resolver: "desk", Message: "DELETE returned 403"}
)

// world is a runner with mocks of its dependencies. An unexpected call fails the test.
type world struct {
	*saga.Runner
	sessions *mocks.MockSessionFactory
	session  *mocks.MockSession
	outbox   *mocks.MockOutbox
	admin    *mocks.MockOutboxAdmin
	audit    *mocks.MockAuditLog
}

// newWorld makes a runner with the default configuration, which the given function may change.
func newWorld(t *testing.T, change func(*saga.Config), registered ...ports.Resolver) world {
	t.Helper()
	ctrl := gomock.NewController(t)
	w := world{
		sessions: mocks.NewMockSessionFactory(ctrl), session: mocks.NewMockSession(ctrl),
		outbox: mocks.NewMockOutbox(ctrl), admin: mocks.NewMockOutboxAdmin(ctrl),
		audit: mocks.NewMockAuditLog(ctrl),
	}
	config := saga.Config{Sessions: w.sessions, Clock: clock(t), IDs: sequence(t), Resolvers: registered}
	if change != nil {
		change(&config)
	}
	runner, err := saga.NewRunner(config)
	must(t, err)
	runner.PostponeSearch()
	w.Runner = runner
	w.session.EXPECT().Outbox().Return(w.outbox).AnyTimes()
	w.session.EXPECT().OutboxAdmin().Return(w.admin).AnyTimes()
	w.outbox.EXPECT().FirstClaims(anything, anything).Return(nil, nil).AnyTimes()
	w.session.EXPECT().Audit().Return(w.audit).AnyTimes()
	return w
}

// clock stands still at noon.
func clock(t *testing.T) ports.Clock {
	t.Helper()
	made := mocks.NewMockClock(gomock.NewController(t))
	made.EXPECT().Now().Return(noon).AnyTimes()
	return made
}

// sequence makes the ids id-1, id-2 and so on. The first id of a run is the token of its lease.
func sequence(t *testing.T) ports.IDSource {
	t.Helper()
	var mu sync.Mutex
	last := 0
	made := mocks.NewMockIDSource(gomock.NewController(t))
	made.EXPECT().NewID().DoAndReturn(func() string {
		mu.Lock()
		defer mu.Unlock()
		last++
		return fmt.Sprintf("id-%d", last)
	}).AnyTimes()
	return made
}

// expectSession expects a session that commits.
func (w world) expectSession() *gomock.Call {
	return w.sessions.EXPECT().Do(anything, anything).DoAndReturn(w.do)
}

func (w world) do(ctx context.Context, fn func(context.Context, ports.Session) error) error {
	return fn(ctx, w.session)
}

// expectClaim expects one claim, which returns these entries.
func (w world) expectClaim(entries ...domain.OutboxEntry) *gomock.Call {
	leased := claimWith(func(query domain.ClaimQuery) bool { return query.LeaseToken == "id-1" })
	return w.outbox.EXPECT().Claim(anything, leased).Return(entries, nil)
}

// claimWith matches the queries for which it returns true.
type claimWith func(query domain.ClaimQuery) bool

func (c claimWith) Matches(x any) bool {
	query, ok := x.(domain.ClaimQuery)
	return ok && c(query)
}

func (claimWith) String() string { return "a query with certain fields" }

// settled records the outcomes that the runner writes. It simulates a store that accepts each outcome, and in which no
// outcome is the last one of an operation.
func (w world) settled() *[][]domain.Settlement {
	var got [][]domain.Settlement
	w.outbox.EXPECT().Settle(anything, anything).DoAndReturn(
		func(_ context.Context, settlements []domain.Settlement) ([]domain.SettleResult, error) {
			got = append(got, settlements)
			return make([]domain.SettleResult, len(settlements)), nil
		}).AnyTimes()
	w.audit.EXPECT().Append(anything, anything).Return(nil).AnyTimes()
	return &got
}

// mustSettle calls RunOnce and checks the number of settled entries.
func (w world) mustSettle(t *testing.T, want int) {
	t.Helper()
	if got, err := w.RunOnce(t.Context()); err != nil || got != want {
		t.Errorf("got %d, %v, want %d settled", got, err, want)
	}
}

// claimed returns n entries of the operation as a claim returns them, with the number of attempts.
func claimed(t *testing.T, operation domain.Operation, attempts, n int) []domain.OutboxEntry {
	t.Helper()
	subject := fixture.MustID(t, "42")
	token, until := "id-1", noon.Add(saga.DefaultLease)
	entries := make([]domain.OutboxEntry, n)
	for i := range entries {
		entries[i] = domain.OutboxEntry{
			EntryID: fmt.Sprintf("entry-%d", i), SubjectID: subject, Resolver: "desk",
			Ref: domain.SubjectRef{Kind: "desk", Value: "contact"}, Operation: operation, OperationID: "operation",
			Status: domain.OutboxInFlight, Attempts: attempts, EnqueuedAt: noon.Add(-time.Hour),
			RequestedAt:   noon.Add(-48 * time.Hour),
			LastAttemptAt: &noon, NextAttemptAt: &until, LeaseToken: &token,
		}
		if operation == domain.OperationRectify {
			entries[i].Corrections = domain.Corrections{domain.CategoryContact: "jane@example.org"}
		}
	}
	return entries
}

// callOf returns what the resolver knows about the call of an entry.
func callOf(entry domain.OutboxEntry) domain.ErasureCall {
	return domain.ErasureCall{EntryID: entry.EntryID, RequestedAt: entry.RequestedAt, Attempt: entry.Attempts}
}

// erases is Resolver.EraseSubject for tests that need only the id of the entry.
type erases = func(ctx context.Context, ref domain.SubjectRef, entryID string) (alreadyAbsent bool, err error)

func responds(alreadyAbsent bool, err error) erases {
	return func(context.Context, domain.SubjectRef, string) (bool, error) { return alreadyAbsent, err }
}

// desk is the resolver of an external system that accepts any number of erasures.
func desk(t *testing.T, erase erases) ports.Resolver {
	t.Helper()
	made := uncalled(t)
	made.EXPECT().EraseSubject(anything, anything, anything).DoAndReturn(
		func(ctx context.Context, ref domain.SubjectRef, call domain.ErasureCall) (bool, error) {
			return erase(ctx, ref, call.EntryID)
		}).AnyTimes()
	return made
}

// uncalled is the resolver of an external system that must not be called.
func uncalled(t *testing.T) *mocks.MockRectifyingResolver {
	t.Helper()
	made := mocks.NewMockRectifyingResolver(gomock.NewController(t))
	made.EXPECT().Name().Return("desk").AnyTimes()
	return made
}

var must = fixture.Must

// session is the function that a ports.SessionFactory runs.
type session = func(context.Context, ports.Session) error

var anything = gomock.Any()
