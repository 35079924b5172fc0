package sqlitestore_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports"
	"github.com/habeas-data/habeas/ports/porttest"
)

const crashIn = "HABEAS_CRASH_IN" // the database in which a process of this test is to die

var toErase = domain.OutboxEntry{
	EntryID: "e-1", Resolver: "desk", Ref: domain.SubjectRef{Kind: "desk", Value: "c-1"}, Operation: domain.OperationErase,
	Status: domain.OutboxPending, EnqueuedAt: time.Date(2024, 3, 1, 12, 0, 0, 0, time.UTC),
}

// A process that dies in the middle of an erasure has erased nothing, and nobody waits for it.
func TestAProcessThatDiesErasesNothing(t *testing.T) {
	jane, err := domain.NewSubjectID("a", "1")
	must(t, err)
	if path := os.Getenv(crashIn); path != "" {
		_ = openStore(t, path).Do(context.Background(), erase(jane, func() { _ = syscall.Kill(os.Getpid(), syscall.SIGKILL) }))
		t.Fatal("the process has survived")
	}

	path := filepath.Join(t.TempDir(), "shop.db")
	shop := openAt(t, path)
	shop.Insert(t, "people", porttest.Row{"tenant": "a", "number": int64(1), "name": "Jane"})

	child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$")
	child.Env = append(os.Environ(), crashIn+"="+path)
	var exit *exec.ExitError
	if err := child.Run(); !errors.As(err, &exit) || exit.ExitCode() != -1 {
		t.Fatalf("the process was not killed: %v", err)
	}
	if people := shop.Rows(t, "people"); len(people) != 1 || len(shop.Entries(t)) != 0 {
		t.Errorf("after the crash: %d people, %d entries", len(people), len(shop.Entries(t)))
	}

	must(t, shop.Sessions.Do(context.Background(), erase(jane, func() {})))
	if people := shop.Rows(t, "people"); len(people) != 0 || len(shop.Entries(t)) != 1 {
		t.Errorf("after the erasure: %d people, %d entries", len(people), len(shop.Entries(t)))
	}
}

// erase deletes a person and enqueues what is still to be done, and calls end before the session ends.
func erase(id domain.SubjectID, end func()) func(context.Context, ports.Session) error {
	return func(ctx context.Context, s ports.Session) error {
		if err := s.Subjects().Lock(ctx, id, toErase.EnqueuedAt); err != nil {
			return err
		}
		entry := toErase
		entry.SubjectID = id
		if err := s.Outbox().Enqueue(ctx, entry); err != nil {
			return err
		}
		_, err := s.Subjects().Apply(ctx, id, []domain.Step{{Target: "people", Strategy: domain.StrategyDelete}})
		end()
		return err
	}
}
