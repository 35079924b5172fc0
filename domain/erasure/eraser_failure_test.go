package erasure_test

import (
	"context"
	"errors"
	"reflect"
	"testing"

	"github.com/golang/mock/gomock"

	"github.com/habeas-data/habeas/domain"
)

// mustFail runs the erasure. It fails the test if the erasure returns another error or a result.
func (w world) mustFail(tb testing.TB, want error) {
	tb.Helper()
	result, err := w.Erase(context.Background(), w.Session, w.Subject)
	if !errors.Is(err, want) || !reflect.DeepEqual(result, domain.ErasureResult{}) {
		tb.Errorf("got %+v, %v, want %v", result, err, want)
	}
}

func TestAFailedLockLeavesEvidenceOfTheRequest(t *testing.T) {
	for name, evidenceErr := range map[string]error{
		"the evidence is kept":         nil,
		"the evidence is lost as well": errors.New("evidence"),
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, []string{"desk"}, ref("desk", "d-1"))
			w.allowStores()
			gomock.InOrder(w.locks().Return(noon, errBoom), w.requested("id-1", 1, 1).Return(evidenceErr))
			w.mustFail(t, errBoom)
		})
	}
}

func TestEvidenceThatCannotBeKeptStopsTheErasure(t *testing.T) {
	w := newWorld(t, nil)
	w.allowStores()
	gomock.InOrder(w.locks(), w.requested("id-1", 0, 0).Return(errBoom))
	w.mustFail(t, errBoom)
}

func TestAFailedStepIsEvidenceAndNothingComesAfterIt(t *testing.T) {
	for name, c := range map[string]struct {
		err   error
		class string
	}{
		"a foreign error":   {errBoom, "internal"}, // only the class, never the text
		"an error of ours":  {&domain.Error{Code: domain.ErrUnavailable, Err: errBoom}, "unavailable"},
		"a cancellation":    {context.Canceled, "canceled"},
		"a missed deadline": {&domain.Error{Op: "x", Err: context.DeadlineExceeded}, "timeout"},
	} {
		t.Run(name, func(t *testing.T) {
			first := newWorld(t, []string{"desk"}, ref("desk", "d-1"))
			first.allowStores()
			gomock.InOrder(
				first.locks(), first.requested("id-1", 1, 1),
				first.appliesUntil(0, c.err), first.failed("id-2", deleteSessions, c.class),
			)
			first.mustFail(t, c.err)

			last := newWorld(t, []string{"desk"}, ref("desk", "d-1"))
			last.allowStores()
			gomock.InOrder(
				last.locks(), last.requested("id-1", 1, 1),
				last.appliesUntil(2, c.err), last.failed("id-2", retainUsers, c.class),
			)
			last.mustFail(t, c.err)
		})
	}
}

func TestAFailedStepIsReportedEvenWhenItsEvidenceIsLost(t *testing.T) {
	w := newWorld(t, nil)
	w.allowStores()
	gomock.InOrder(
		w.locks(), w.requested("id-1", 0, 0),
		w.appliesUntil(0, errBoom),
		w.failed("id-2", deleteSessions, "internal").Return(errors.New("evidence")),
	)
	w.mustFail(t, errBoom)
}

func TestAStoreThatReturnsFewerRowCountsFailsTheErasure(t *testing.T) {
	w := newWorld(t, nil)
	w.allowStores()
	gomock.InOrder(
		w.locks(), w.requested("id-1", 0, 0),
		w.applies(3, 1), w.failed("id-2", retainUsers, "internal"),
	)
	if _, err := w.Erase(context.Background(), w.Session, w.Subject); err == nil {
		t.Error("the erasure succeeded")
	}
}

func TestAFailureWithoutAStepNamesNoTarget(t *testing.T) {
	w := newWorld(t, nil)
	w.allowStores()
	gomock.InOrder(
		w.locks(), w.requested("id-1", 0, 0), w.appliesUntil(3, errBoom),
		w.Audit.EXPECT().AppendEvidence(gomock.Any(),
			w.Event("id-2", "erasure_step_failed", domain.Payload{"error": "internal"})),
	)
	w.mustFail(t, errBoom)
}

func TestAStepThatCannotBeRecordedStopsTheErasure(t *testing.T) {
	w := newWorld(t, nil)
	w.allowStores()
	gomock.InOrder(
		w.locks(), w.requested("id-1", 0, 0),
		w.applies(3, 1, 1), w.succeeded(3, 1, 1).Return(errBoom),
	)
	w.mustFail(t, errBoom)
}

func TestAnErasureThatCannotEnqueueIsNotCompleted(t *testing.T) {
	w := newWorld(t, []string{"desk"}, ref("desk", "d-1"))
	w.allowStores()
	gomock.InOrder(
		w.locks(), w.requested("id-1", 1, 1),
		w.applies(0, 0, 0), w.succeeded(0, 0, 0),
		w.Outbox.EXPECT().Enqueue(gomock.Any(), gomock.Any()).Return(errBoom),
	)
	w.mustFail(t, errBoom)
}

func TestACompletionThatCannotBeRecordedFailsTheErasure(t *testing.T) {
	w := newWorld(t, nil)
	w.allowStores()
	gomock.InOrder(
		w.locks(), w.requested("id-1", 0, 0),
		w.applies(0, 0, 0), w.succeeded(0, 0, 0),
		w.completed("id-5", 0, 0, 0, 0, "").Return(errBoom),
	)
	w.mustFail(t, errBoom)
}
