package rectification_test

import (
	"errors"
	"testing"
	"time"

	"github.com/golang/mock/gomock"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/domain/rectification"
	"github.com/habeas-data/habeas/internal/tests/fixture"
	"github.com/habeas-data/habeas/internal/tests/mocked"
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
	mocked.Bundle
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
	b := mocked.New(t, noon, refs...)
	config := rectification.Config{
		Clock: b.Clock, IDs: b.IDs, DataMap: dataMap(t), Resolvers: mocked.Resolvers(t, resolverNames...),
	}
	change(&config)
	rectifier, err := rectification.NewRectifier(config)
	if err != nil {
		t.Fatal(err)
	}
	return world{rectifier, b}
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

// allowStores allows any number of calls of the session's stores.
func (w world) allowStores() {
	w.Audit.EXPECT().AppendOnRollback(gomock.Any(), gomock.Any()).AnyTimes()
}

// The following functions expect the calls of a rectification, with the events and their ids.

func (w world) requested(id, categories string, local, external, refs int) *gomock.Call {
	w.Subjects.EXPECT().LockToRectify(gomock.Any(), w.ID).Return(domain.SubjectState{Present: true}, nil)
	return w.Audit.EXPECT().AppendEvidence(gomock.Any(), w.Event(id, "rectification_requested", domain.Payload{
		"categories": categories, "local_steps": local, "external_steps": external, "refs": refs,
	}))
}

func (w world) writes(step domain.RectificationStep) *gomock.Call {
	return w.Subjects.EXPECT().Rectify(gomock.Any(), w.ID, step)
}

func (w world) succeeded(id, table string, rows int64) *gomock.Call {
	return w.Audit.EXPECT().Append(gomock.Any(), w.Event(id, "rectification_step_succeeded", domain.Payload{
		"target": table, "rows": rows,
	}))
}

func (w world) failed(id, table, class string) *gomock.Call {
	return w.Audit.EXPECT().AppendEvidence(gomock.Any(), w.Event(id, "rectification_step_failed", domain.Payload{
		"target": table, "error": class,
	}))
}

// completed expects the end of a rectification. The rectification is complete immediately if it added no outbox entry.
func (w world) completed(id string, rectified int64, enqueued int, skipped string) *gomock.Call {
	events := []any{w.Event(id, "rectification_local_completed", domain.Payload{
		"rectified": rectified, "enqueued": enqueued, "skipped_resolvers": skipped,
	})}
	if enqueued == 0 {
		events = append(events, w.Event(mocked.After(id), "rectification_completed", nil))
	}
	return w.Audit.EXPECT().Append(gomock.Any(), events...)
}

func (w world) entry(id, resolver string, ref domain.SubjectRef) domain.OutboxEntry {
	return domain.OutboxEntry{
		EntryID: id, SubjectID: w.ID, Resolver: resolver, Ref: ref,
		Operation: "rectify", OperationID: "id-1", Corrections: sent, Status: "pending", EnqueuedAt: noon,
	}
}

func ref(kind, value string) domain.SubjectRef { return domain.SubjectRef{Kind: kind, Value: value} }
