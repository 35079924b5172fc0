package audit_test

import (
	"reflect"
	"testing"
	"time"

	"github.com/golang/mock/gomock"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/internal/audit"
	"github.com/habeas-data/habeas/internal/tests/fixture"
	"github.com/habeas-data/habeas/ports/mocks"
)

func TestEveryEventHasItsOwnIDAndInstant(t *testing.T) {
	ctrl := gomock.NewController(t)
	clock, ids := mocks.NewMockClock(ctrl), mocks.NewMockIDSource(ctrl)
	first := time.Date(2024, 3, 1, 13, 0, 0, 123456789, time.FixedZone("CET", 3600))
	second := first.Add(time.Second)
	gomock.InOrder(clock.EXPECT().Now().Return(first), clock.EXPECT().Now().Return(second))
	gomock.InOrder(ids.EXPECT().NewID().Return("id-1"), ids.EXPECT().NewID().Return("id-2"))
	id := fixture.MustID(t, "42")

	stamper := audit.Stamper{Clock: clock, IDs: ids}
	got := []domain.AuditEvent{
		stamper.Event(t.Context(), domain.EventExportRequested, id, domain.Payload{"refs": 1}),
		stamper.Event(t.Context(), domain.EventExportCompleted, id, nil),
	}
	want := []domain.AuditEvent{
		{
			EventID: "id-1", EventType: "export_requested", SubjectRef: id,
			OccurredAt: time.Date(2024, 3, 1, 12, 0, 0, 123456000, time.UTC), Payload: domain.Payload{"refs": 1},
		},
		{
			EventID: "id-2", EventType: "export_completed", SubjectRef: id,
			OccurredAt: time.Date(2024, 3, 1, 12, 0, 1, 123456000, time.UTC), Payload: domain.Payload{},
		},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("\n got %+v\nwant %+v", got, want)
	}
}

func TestTheEventsOfAnOperationHaveTheIDOfItsFirstEvent(t *testing.T) {
	ctrl := gomock.NewController(t)
	clock, ids := mocks.NewMockClock(ctrl), mocks.NewMockIDSource(ctrl)
	clock.EXPECT().Now().AnyTimes()
	gomock.InOrder(ids.EXPECT().NewID().Return("id-1"), ids.EXPECT().NewID().Return("id-2"),
		ids.EXPECT().NewID().Return("id-3"), ids.EXPECT().NewID().Return("id-4"))
	stamper := audit.Stamper{Clock: clock, IDs: ids}
	noID := domain.SubjectID{}
	operation, first := stamper.Begin(t.Context(), domain.EventErasureRequested, noID, domain.Payload{"refs": 1})
	second := operation.Event(domain.EventErasureCompleted, domain.SubjectID{}, nil)
	again := stamper.Operation(t.Context(), operation.ID())
	later := again.Event(domain.EventErasureRequeued, domain.SubjectID{}, domain.Payload{"a": 1})
	unknown := stamper.Operation(t.Context(), "").Event(domain.EventErasureRequeued, domain.SubjectID{}, nil)
	got := []domain.Payload{first.Payload, second.Payload, later.Payload, unknown.Payload}
	want := []domain.Payload{
		{"refs": 1, "operation_id": "id-1"}, {"operation_id": "id-1"}, {"a": 1, "operation_id": "id-1"}, {},
	}
	if operation.ID() != "id-1" || first.EventID != "id-1" || !reflect.DeepEqual(got, want) {
		t.Errorf("operation %s: got %v, want %v", operation.ID(), got, want)
	}
}

func TestTheEventsOfAnOperatorsActHaveItsID(t *testing.T) {
	ctrl := gomock.NewController(t)
	clock, ids := mocks.NewMockClock(ctrl), mocks.NewMockIDSource(ctrl)
	clock.EXPECT().Now().AnyTimes()
	ids.EXPECT().NewID().Return("id").AnyTimes()
	stamper := audit.Stamper{Clock: clock, IDs: ids}
	ctx, err := domain.WithOperator(t.Context(), "dpo")
	if err != nil {
		t.Fatal(err)
	}
	operation, first := stamper.Begin(ctx, domain.EventErasureRequested, domain.SubjectID{}, domain.Payload{"refs": 1})
	got := []domain.Payload{
		first.Payload,
		operation.Event(domain.EventErasureCompleted, domain.SubjectID{}, nil).Payload,
		stamper.Operation(ctx, "").Event(domain.EventErasureRequeued, domain.SubjectID{}, nil).Payload,
		stamper.Event(ctx, domain.EventConsentGranted, domain.SubjectID{}, nil).Payload,
	}
	want := []domain.Payload{
		{"refs": 1, "operation_id": "id", "operator": "dpo"},
		{"operation_id": "id", "operator": "dpo"},
		{"operator": "dpo"},
		{"operator": "dpo"},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
