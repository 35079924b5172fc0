package bunstore_test

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"sync"
	"testing"

	"github.com/uptrace/bun"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/internal/tests/databases"
	"github.com/habeas-data/habeas/internal/tests/fixture"
	"github.com/habeas-data/habeas/ports"
)

func asText(row map[string]any) string {
	text, _ := json.Marshal(row)
	return string(text)
}

// equalPayload reports whether two payloads are equal. It ignores the operation id in got.
func equalPayload(got, want domain.Payload) bool {
	got = maps.Clone(got)
	delete(got, domain.PayloadOperationID)
	return maps.Equal(got, want)
}

var wholeErasure = []domain.EventType{
	domain.EventErasureRequested,
	domain.EventErasureStepSucceeded, // invoices: anonymize
	domain.EventErasureStepSucceeded, // invoices: retain
	domain.EventErasureStepSucceeded, // items: delete
	domain.EventErasureStepSucceeded, // orders: delete
	domain.EventErasureStepSucceeded, // users: anonymize
	domain.EventErasureLocalCompleted,
	domain.EventErasureCompleted,
}

func TestConcurrentErasuresOfOneSubjectRunOneAfterTheOther(t *testing.T) {
	t.Parallel()
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		s := newShop(t, db, 20)
		var erasures sync.WaitGroup
		results := make(chan domain.ErasureResult, 10)
		for range 10 {
			erasures.Go(func() {
				result, err := s.erase(s.alice)
				if err != nil {
					t.Error(err)
				}
				results <- result
			})
		}
		erasures.Wait()
		close(results)
		deleted := int64(0)
		for result := range results {
			deleted += result.Deleted["orders"]
		}
		if deleted != 20 {
			t.Errorf("20 orders were deleted %d times", deleted)
		}
		trail := s.trail(t, s.alice.ID)
		for sequence := range slices.Chunk(trail, len(wholeErasure)) {
			if !slices.Equal(sequence, wholeErasure) {
				t.Fatalf("the trail interleaves: %v", trail)
			}
		}
		if len(trail) != 10*len(wholeErasure) {
			t.Errorf("%d events", len(trail))
		}
		var erasureMarks []struct{ Erasures int }
		must(t, db.NewSelect().Table("habeas_subject_erasures").Column("erasures").Scan(context.Background(), &erasureMarks))
		if len(erasureMarks) != 1 || erasureMarks[0].Erasures != 10 {
			t.Errorf("marks %v", erasureMarks)
		}
	})
}

func TestErasuresOfDifferentSubjectsDoNotWaitForEachOther(t *testing.T) {
	t.Parallel()
	s := newShop(t, databases.PostgreSQL(t), 1)
	s.do(t, func(ctx context.Context, session ports.Session) error {
		if _, err := s.eraser.Erase(ctx, session, s.alice); err != nil {
			return err
		}
		_, err := s.erase(s.bob) // in another session, while the first session is open
		return err
	})
}

func TestErasureEnqueuesExternalSystemsInTheSameTransaction(t *testing.T) {
	t.Parallel()
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		s := newShop(t, db, 1, desk{})
		s.alice.Refs = []domain.SubjectRef{{Kind: "desk", Value: "c-1", Extra: map[string]string{"region": "eu"}}}
		err := s.store.Do(context.Background(), func(ctx context.Context, session ports.Session) error {
			_, err := s.eraser.Erase(ctx, session, s.alice)
			must(t, err)
			return errHost
		})
		if !errors.Is(err, errHost) {
			t.Fatal(err)
		}
		if rows := s.outbox(t); len(rows) != 0 {
			t.Errorf("the outbox holds %v", rows)
		}
		result, err := s.erase(s.alice)
		must(t, err)
		rows := s.outbox(t)
		if len(rows) != 1 || !slices.Equal(result.EnqueuedExternal, []string{"desk"}) {
			t.Fatalf("the outbox holds %v, the result says %v", rows, result.EnqueuedExternal)
		}
		row := rows[0]
		var ref domain.SubjectRef
		must(t, json.Unmarshal([]byte(row.Ref), &ref))
		if row.EntryID == "" || row.SubjectID != "1" || row.Resolver != "desk" || row.Operation != "erase" ||
			row.Status != "pending" || row.Attempts != 0 || ref.Value != "c-1" || ref.Extra["region"] != "eu" {
			t.Errorf("entry %+v", row)
		}
	})
}

type outboxRow struct {
	EntryID, SubjectID, Resolver, Ref, Operation, Status string
	Attempts                                             int
}

func (s *shop) outbox(t testing.TB) []outboxRow {
	t.Helper()
	var rows []outboxRow
	must(t, s.db.NewSelect().Table("habeas_outbox").
		Column("entry_id", "subject_id", "resolver", "ref", "operation", "status", "attempts").
		Scan(context.Background(), &rows))
	return rows
}

func TestAnIDThatDoesNotFitTheKeyIsRefusedBeforeAnyStatement(t *testing.T) {
	t.Parallel()
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		hook := &statements{}
		s := newShop(t, databases.WithHook(db, hook), 1)
		stranger := fixture.MustSubject(t, "007")
		texts := hook.during(t, func() {
			if _, err := s.erase(stranger); !errors.Is(err, domain.ErrSubject) {
				t.Errorf("got %v", err)
			}
		})
		if len(texts) > 0 {
			t.Errorf("statements %q", texts)
		}
	})
}
