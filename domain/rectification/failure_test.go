package rectification_test

import (
	"context"
	"errors"
	"reflect"
	"testing"

	"github.com/golang/mock/gomock"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/rectification"
)

// mustFail runs the rectification. It fails the test if the rectification returns another error or a result.
func (w world) mustFail(tb testing.TB, want error) {
	tb.Helper()
	result, err := w.RectifySubject(context.Background(), w.Session, w.Subject, corrections, rectification.AllColumns())
	if !errors.Is(err, want) || !reflect.DeepEqual(result, domain.RectificationResult{}) {
		tb.Errorf("got %+v, %v, want %v", result, err, want)
	}
}

func TestEvidenceThatCannotBeKeptStopsTheRectification(t *testing.T) {
	w := newWorld(t, nil)
	w.allowStores()
	w.requested("id-1", "contact,identity", 2, 0, 0).Return(errBoom)
	w.mustFail(t, errBoom)
}

func TestAFailedStepIsEvidenceAndNothingComesAfterIt(t *testing.T) {
	for name, c := range map[string]struct {
		err   error
		class string
	}{
		"a foreign error":      {errBoom, "internal"}, // only the class, never the text
		"an error of ours":     {&domain.Error{Code: domain.ErrUnavailable, Err: errBoom}, "unavailable"},
		"a value out of place": {domain.Invalid("rectify", []domain.FieldError{{Field: "contact"}}), "invalid"},
		"a cancellation":       {context.Canceled, "canceled"},
		"a missed deadline":    {&domain.Error{Op: "x", Err: context.DeadlineExceeded}, "timeout"},
	} {
		t.Run(name, func(t *testing.T) {
			first := newWorld(t, []string{"desk!"}, ref("desk", "d-1"))
			first.allowStores()
			gomock.InOrder(
				first.requested("id-1", "contact,identity", 2, 1, 1),
				first.writes(writeUsers).Return(int64(0), c.err), first.failed("id-2", "users", c.class),
			)
			first.mustFail(t, c.err)

			last := newWorld(t, []string{"desk!"}, ref("desk", "d-1"))
			last.allowStores()
			gomock.InOrder(
				last.requested("id-1", "contact,identity", 2, 1, 1),
				last.writes(writeUsers).Return(int64(1), nil), last.succeeded("id-2", "users", 1),
				last.writes(writeInvoices).Return(int64(9), c.err), last.failed("id-3", "invoices", c.class),
			)
			last.mustFail(t, c.err)
		})
	}
}

func TestAFailedStepIsReportedEvenWhenItsEvidenceIsLost(t *testing.T) {
	w := newWorld(t, nil)
	w.allowStores()
	gomock.InOrder(
		w.requested("id-1", "contact,identity", 2, 0, 0),
		w.writes(writeUsers).Return(int64(0), errBoom),
		w.failed("id-2", "users", "internal").Return(errors.New("evidence")),
	)
	w.mustFail(t, errBoom)
}

func TestAStepThatCannotBeRecordedStopsTheRectification(t *testing.T) {
	w := newWorld(t, nil)
	w.allowStores()
	gomock.InOrder(
		w.requested("id-1", "contact,identity", 2, 0, 0),
		w.writes(writeUsers).Return(int64(1), nil), w.succeeded("id-2", "users", 1).Return(errBoom),
	)
	w.mustFail(t, errBoom)
}

func TestARectificationThatCannotEnqueueIsNotCompleted(t *testing.T) {
	w := newWorld(t, []string{"desk!"}, ref("desk", "d-1"))
	w.allowStores()
	gomock.InOrder(
		w.requested("id-1", "contact,identity", 2, 1, 1),
		w.writes(writeUsers), w.succeeded("id-2", "users", 0),
		w.writes(writeInvoices), w.succeeded("id-3", "invoices", 0),
		w.Outbox.EXPECT().Enqueue(gomock.Any(), gomock.Any()).Return(errBoom),
	)
	w.mustFail(t, errBoom)
}

func TestACompletionThatCannotBeRecordedFailsTheRectification(t *testing.T) {
	w := newWorld(t, nil)
	w.allowStores()
	gomock.InOrder(
		w.requested("id-1", "contact,identity", 2, 0, 0),
		w.writes(writeUsers), w.succeeded("id-2", "users", 0),
		w.writes(writeInvoices), w.succeeded("id-3", "invoices", 0),
		w.completed("id-4", 0, 0, "").Return(errBoom),
	)
	w.mustFail(t, errBoom)
}
