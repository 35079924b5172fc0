package porttest

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports"
)

// changesEnqueued returns a function that makes a store defective: its Enqueue passes each entry through fn before it
// stores the entry.
func changesEnqueued(fn func(*domain.OutboxEntry)) func(*Store) {
	return brokenOutbox{enqueue: func(c outboxCall) error {
		c.entries = changed(slices.Clone(c.entries), fn)
		return c.enqueue()
	}}.breaks
}

func enqueueDefects() defects {
	return defects{
		"immediately, in a separate session": {func(store *Store) {
			sessions := store.Sessions
			brokenOutbox{enqueue: func(c outboxCall) error {
				return sessions.Do(context.Background(), func(ctx context.Context, s ports.Session) error {
					return s.Outbox().Enqueue(ctx, c.entries...)
				})
			}}.breaks(store)
		}, found{
			"another session sees an entry before the commit": {outboxEntriesComeWithTheCommit},
			"after a rollback 2 entries are pending":          {outboxEntriesGoWithARollback},
		}},
		"nothing is held to be there already": {func(store *Store) {
			var known sync.Map
			brokenOutbox{enqueue: func(c outboxCall) error {
				c.entries = slices.DeleteFunc(slices.Clone(c.entries), func(e domain.OutboxEntry) bool {
					_, there := known.LoadOrStore(e.EntryID, true)
					return there
				})
				return c.enqueue()
			}}.breaks(store)
		}, found{"e: want ErrConflict from Enqueue, got <nil>": {outboxEntryIDsAreUnique}}},
		"a conflict without its code": {
			changesDo(func(do doFunc, ctx context.Context, fn func(context.Context, ports.Session) error) error {
				if err := do(ctx, fn); domain.ErrorClass(err) == "conflict" {
					return &domain.Error{Op: "enqueue", Message: "failed"}
				} else {
					return err
				}
			}),
			found{"e: want ErrConflict from Enqueue, got habeas: enqueue: failed": {outboxEntryIDsAreUnique}},
		},
		"without the id of its operation": {
			changesEnqueued(func(e *domain.OutboxEntry) { e.OperationID = "" }),
			found{
				"c has OperationID":    {outboxEntriesComeBackAsEnqueued},
				"resulted in [applied": {outboxOperationsCompleteOneByOne},
			},
		},
		"whole seconds": {
			changesEnqueued(func(e *domain.OutboxEntry) { e.EnqueuedAt = e.EnqueuedAt.Truncate(time.Second) }),
			found{"EnqueuedAt is": {outboxInstantsAreInUTCAndMicroseconds}},
		},
		"a ref without its Extra": {changesEnqueued(func(e *domain.OutboxEntry) { e.Ref.Extra = nil }), found{
			"has lost the Extra of its ref": {outboxEntriesComeBackAsEnqueued},
		}},
		"a ref without its keys": {changesEnqueued(func(e *domain.OutboxEntry) { e.Ref.Keys = nil }), found{
			"has Ref": {outboxEntriesComeBackAsEnqueued},
		}},
		"the first element of an id": {
			changesEnqueued(func(e *domain.OutboxEntry) { e.SubjectID, _ = domain.NewSubjectID(e.SubjectID.Elements()[0]) }),
			found{"has SubjectID": {outboxEntriesComeBackAsEnqueued}},
		},
		"corrections that are texts": {changesEnqueued(func(e *domain.OutboxEntry) {
			changed := domain.Corrections{}
			for category, value := range e.Corrections {
				if n, isInt := value.(int64); isInt {
					value = domain.Number(time.Duration(n).String())
				}
				changed[category] = value
			}
			e.Corrections = changed
		}), found{"a int64 comes back as the string": {outboxCorrectionsComeBackAsJSON}}},
		"the resolver's name for the kind": {changesEnqueued(func(e *domain.OutboxEntry) { e.Ref.Kind = "desk" }), found{
			"d has Ref {desk contact of d map[region:eu] []}, want {mail, Zoë's contact": {outboxEntriesComeBackAsEnqueued},
		}},
	}
}
