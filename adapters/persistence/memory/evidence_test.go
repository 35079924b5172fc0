package memory_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports"
)

// After a rollback, the store waits for the write lock, because it must store the evidence (the audit events that
// survive a rollback). It stops waiting at the evidence deadline of the request.
func TestEvidenceEndsWithItsDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, id := newShop(t), subject(t, "a", "1")
		release := make(chan struct{})
		go func() {
			_ = store.Do(context.Background(), func(ctx context.Context, s ports.Session) error {
				_, err := s.Subjects().Lock(ctx, id, time.Now()) // takes the write lock
				<-release
				return err
			})
		}()
		synctest.Wait()
		began := time.Now()
		ctx := ports.WithEvidenceDeadline(context.Background(), began.Add(100*time.Millisecond))
		err := store.Do(ctx, func(ctx context.Context, s ports.Session) error {
			_ = s.Audit().AppendEvidence(ctx,
				domain.AuditEvent{EventID: "e", EventType: domain.EventErasureRequested, SubjectRef: id})
			return errors.New("fails")
		})
		if took := time.Since(began); err == nil || took != 100*time.Millisecond {
			t.Errorf("it took %v: %v", took, err)
		}
		close(release)
		synctest.Wait()
	})
}
