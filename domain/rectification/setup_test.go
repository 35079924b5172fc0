package rectification_test

import (
	"errors"
	"maps"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/golang/mock/gomock"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/domain/rectification"
	"github.com/habeas-data/habeas/internal/tests/fixture"
	"github.com/habeas-data/habeas/ports"
	"github.com/habeas-data/habeas/ports/mocks"
)

var (
	errBoom = errors.New("boom: zoe@example.org")
	noon    = time.Date(2024, 3, 1, 12, 0, 0, 0, time.UTC)

	// The corrections of most tests, and the step and the values of the plan for these corrections.
	corrections = domain.Corrections{domain.CategoryIdentity: 7, domain.CategoryContact: "zoe@example.org"}
	sent        = domain.Corrections{domain.CategoryIdentity: int64(7), domain.CategoryContact: "zoe@example.org"}
	writeUsers  = domain.RectificationStep{Table: "users", Values: []domain.ColumnValue{
		{Column: "email", Value: "zoe@example.org"}, {Column: "age", Value: int64(7)},
	}}
	writeInvoices = domain.RectificationStep{Table: "invoices", Values: []domain.ColumnValue{
		{Column: "recipient", Value: "zoe@example.org"},
	}}
)

// world is a rectifier with mocks of its dependencies. An unexpected call fails the test.
type world struct {
	*rectification.Rectifier
	clock    *fixture.Clock
	session  *mocks.MockSession
	subjects *mocks.MockSubjectStore
	outbox   *mocks.MockOutbox
	audit    *mocks.MockAuditLog
	subject  domain.Subject
}

// newWorld makes a rectifier with the named resolvers, and a subject with the given refs. A resolver whose name has an
// exclamation mark can rectify.
func newWorld(t *testing.T, resolverNames []string, refs ...domain.SubjectRef) world {
	t.Helper()
	return newConfigured(t, func(*rectification.Config) {}, resolverNames, refs...)
}

// newConfigured does the same as newWorld, and also changes the configuration of the rectifier.
func newConfigured(
	t *testing.T, change func(*rectification.Config), resolverNames []string, refs ...domain.SubjectRef,
) world {
	t.Helper()
	ctrl := gomock.NewController(t)
	clock := fixture.NewClock(noon)
	config := rectification.Config{
		Clock: clock, IDs: &fixture.IDs{}, DataMap: dataMap(t), Resolvers: resolverSet(t, resolverNames...),
	}
	change(&config)
	rectifier, err := rectification.NewRectifier(config)
	if err != nil {
		t.Fatal(err)
	}
	subject := fixture.MustSubject(t, "42", refs...)
	return world{
		Rectifier: rectifier, clock: clock, subject: subject,
		session: mocks.NewMockSession(ctrl), subjects: mocks.NewMockSubjectStore(ctrl),
		outbox: mocks.NewMockOutbox(ctrl), audit: mocks.NewMockAuditLog(ctrl),
	}
}

// dataMap returns a data map with contact data in two tables and identity data in the subject's table. In one table,
// the contact data is retained.
func dataMap(tb testing.TB) datamap.DataMap {
	tb.Helper()
	m := fixture.MustMap(tb,
		datamap.Table{
			Name: "users", PrimaryKey: []string{"id"}, SubjectKey: []string{"id"},
			Columns: []datamap.Column{
				{Name: "id", Type: datamap.TypeBigInt},
				{Name: "email", Type: datamap.TypeText, Personal: &datamap.Annotation{Category: domain.CategoryContact}},
				{Name: "age", Type: datamap.TypeInteger, Personal: &datamap.Annotation{Category: domain.CategoryIdentity}},
			},
		},
		datamap.Table{
			Name: "invoices", PrimaryKey: []string{"id"},
			Relations: []datamap.Relation{{
				Columns: []string{"user_id"}, References: "users",
				ReferencedColumns: []string{"id"},
			}},
			Columns: []datamap.Column{
				{Name: "id", Type: datamap.TypeBigInt},
				{Name: "user_id", Type: datamap.TypeBigInt},
				{Name: "recipient", Type: datamap.TypeText, Personal: &datamap.Annotation{
					Category: domain.CategoryContact, Strategy: domain.StrategyRetain, Reason: "§147 AO",
				}},
			},
		},
	)
	return m
}

// resolverSet returns resolvers that must not be called, because a rectification only enqueues.
func resolverSet(tb testing.TB, names ...string) []ports.Resolver {
	tb.Helper()
	ctrl := gomock.NewController(tb)
	var registered []ports.Resolver
	for _, name := range names {
		if name, can := strings.CutSuffix(name, "!"); can {
			resolver := mocks.NewMockRectifyingResolver(ctrl)
			resolver.EXPECT().Name().Return(name).AnyTimes()
			registered = append(registered, resolver)
			continue
		}
		resolver := mocks.NewMockResolver(ctrl)
		resolver.EXPECT().Name().Return(name).AnyTimes()
		registered = append(registered, resolver)
	}
	return registered
}

// allowStores allows any number of calls of the session's stores.
func (w world) allowStores() {
	w.audit.EXPECT().AppendOnRollback(gomock.Any(), gomock.Any()).AnyTimes()
	w.session.EXPECT().Subjects().Return(w.subjects).AnyTimes()
	w.session.EXPECT().Outbox().Return(w.outbox).AnyTimes()
	w.session.EXPECT().Audit().Return(w.audit).AnyTimes()
}

// The following functions expect the calls of a rectification, with the events and their ids.

func (w world) requested(id, categories string, local, external, refs int) *gomock.Call {
	w.subjects.EXPECT().LockToRectify(gomock.Any(), w.subject.ID).Return(domain.SubjectState{Present: true}, nil)
	return w.audit.EXPECT().AppendEvidence(gomock.Any(), w.event(id, "rectification_requested", domain.Payload{
		"categories": categories, "local_steps": local, "external_steps": external, "refs": refs,
	}))
}

func (w world) writes(step domain.RectificationStep) *gomock.Call {
	return w.subjects.EXPECT().Rectify(gomock.Any(), w.subject.ID, step)
}

func (w world) succeeded(id, table string, rows int64) *gomock.Call {
	return w.audit.EXPECT().Append(gomock.Any(), w.event(id, "rectification_step_succeeded", domain.Payload{
		"target": table, "rows": rows,
	}))
}

func (w world) failed(id, table, class string) *gomock.Call {
	return w.audit.EXPECT().AppendEvidence(gomock.Any(), w.event(id, "rectification_step_failed", domain.Payload{
		"target": table, "error": class,
	}))
}

// completed expects the end of a rectification. The rectification is complete immediately if it added no outbox entry.
func (w world) completed(id string, rectified int64, enqueued int, skipped string) *gomock.Call {
	events := []any{w.event(id, "rectification_local_completed", domain.Payload{
		"rectified": rectified, "enqueued": enqueued, "skipped_resolvers": skipped,
	})}
	if enqueued == 0 {
		events = append(events, w.event(after(id), "rectification_completed", nil))
	}
	return w.audit.EXPECT().Append(gomock.Any(), events...)
}

func (w world) event(id string, eventType domain.EventType, payload domain.Payload) domain.AuditEvent {
	with := maps.Clone(payload) // every event has the id of the first event
	if with == nil {
		with = domain.Payload{}
	}
	with["operation_id"] = "id-1"
	return domain.AuditEvent{
		EventID: id, EventType: eventType, SubjectRef: w.subject.ID, OccurredAt: noon, Payload: with,
	}
}

func (w world) entry(id, resolver string, ref domain.SubjectRef) domain.OutboxEntry {
	return domain.OutboxEntry{
		EntryID: id, SubjectID: w.subject.ID, Resolver: resolver, Ref: ref,
		Operation: "rectify", OperationID: "id-1", Corrections: sent, Status: "pending", EnqueuedAt: noon,
	}
}

// after returns the id after an id.
func after(id string) string {
	n, _ := strconv.Atoi(strings.TrimPrefix(id, "id-"))
	return "id-" + strconv.Itoa(n+1)
}

func ref(kind, value string) domain.SubjectRef { return domain.SubjectRef{Kind: kind, Value: value} }
