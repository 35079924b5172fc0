package porttest

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports"
)

var errEnough = errors.New("enough")

func subjectExportEndsWithYield(t testing.TB, h StoreHarness) {
	s := h.shop(t)
	all := len(s.export(t, zoe))
	// The function yield returns an error for the record with this number. The export therefore ends within a row, between
	// two rows, between two tables, or after the last record.
	for _, most := range []int{1, 2, 12, 13, all} {
		yields := 0
		var failure error
		err := s.try(t, func(ctx context.Context, subjects ports.SubjectStore) error {
			yields = 0
			failure = subjects.Export(ctx, zoe.id(t), func(domain.ExportRecord) error {
				if yields++; yields >= most {
					return errEnough
				}
				return nil
			})
			return failure
		})
		assert(t, errors.Is(failure, errEnough) && errors.Is(err, errEnough),
			"yield failed at record %d of %d, Export returned %v and Do returned %v", most, all, failure, err)
		assert(t, yields == most, "after an error at record %d of %d, yield was called %d more times", most, all, yields-most)
	}
}

// The application inserts rows during the export. The store may block the inserts until the export has ended.
func subjectExportReadsOneSnapshot(t testing.TB, h StoreHarness) {
	s := h.shop(t)
	want := cells(s.export(t, zoe))
	done := make(chan struct{})
	insert, inserted := concurrently(func() {
		defer close(done)
		for _, table := range []string{"addresses", "orders", "invoices"} {
			s.Insert(t, table, zoe.row(zoe.ids+500, nil))
		}
	})
	defer inserted()
	var got []domain.ExportRecord
	s.do(t, func(ctx context.Context, subjects ports.SubjectStore) error {
		got = nil
		return subjects.Export(ctx, zoe.id(t), func(record domain.ExportRecord) error {
			if insert(); len(got) == 0 {
				receiveWithin(done, moment)
			}
			got = append(got, record)
			return nil
		})
	})
	inserted()
	assert(t, slices.Equal(cells(got), want),
		"%d records are exported while rows are added, want the %d records from before", len(got), len(want))
	if after := s.export(t, zoe); len(after) <= len(want) {
		t.Errorf("a later export has %d records and does not see the rows added meanwhile", len(after))
	}
}

func subjectExportComesBeforeWrites(t testing.TB, h StoreHarness) {
	s := h.shop(t)
	before := s.content(t)
	for _, method := range []string{"Lock", "Rectify", "Apply"} {
		call := methodCalls(t)[method]
		err := s.try(t, func(ctx context.Context, subjects ports.SubjectStore) error {
			if err := call(ctx, subjects, zoe.id(t)); err != nil {
				t.Errorf("%s failed: %v", method, err)
			}
			return subjects.Export(ctx, zoe.id(t), func(domain.ExportRecord) error {
				t.Errorf("after %s in its session, an export calls yield", method)
				return errEnough
			})
		})
		isError(t, "an export after "+method+" in its session", err, domain.ErrSession)
	}
	expectUnchanged(t, "after exports that came too late", s.content(t), before)
}

func subjectExportMayFollowAppends(t testing.TB, h StoreHarness) {
	s := h.shop(t)
	want := cells(s.export(t, zoe))
	var got []domain.ExportRecord
	err := try(t, s.Store, func(ctx context.Context, session ports.Session) error {
		got = nil
		id := zoe.id(t)
		err := errors.Join(
			session.Consents().Append(ctx, domain.ConsentRecord{
				SubjectID: id, Purpose: "newsletter", PolicyVersion: "1", Granted: true, RecordedAt: noon, Source: "test",
			}),
			session.Audit().Append(ctx, event("event", id)),
			session.Outbox().Enqueue(ctx, toErase(t, "entry", id, 0)))
		if err != nil {
			return err
		}
		return session.Subjects().Export(ctx, id, func(record domain.ExportRecord) error {
			got = append(got, record)
			return nil
		})
	})
	must(t, err == nil, "an export after appends failed: %v", err)
	assert(t, slices.Equal(cells(got), want), "after appends %d records are exported, want %d", len(got), len(want))
	pending := box(s).counts(t)[domain.OutboxPending]
	assert(t, pending == 1, "the append before the export was not committed")
}
