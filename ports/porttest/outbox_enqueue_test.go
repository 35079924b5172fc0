package porttest

import (
	"context"
	"sync"
	"time"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports"
)

// changesEnqueued is a defect of what is enqueued.
func changesEnqueued(change func(*domain.OutboxEntry)) func(*Store) {
	return changesOutbox(func(o *brokenOutbox) {
		o.enqueue = func(ctx context.Context, entries ...domain.OutboxEntry) error {
			changed, _ := each(append([]domain.OutboxEntry{}, entries...), nil, change)
			return o.good.Enqueue(ctx, changed...)
		}
	})
}

func enqueueDefects() map[string]storeDefect {
	return map[string]storeDefect{
		"at once, in a session of its own": {
			func(store *Store) {
				sessions := store.Sessions
				changesOutbox(func(o *brokenOutbox) {
					o.enqueue = func(_ context.Context, entries ...domain.OutboxEntry) error {
						return sessions.Do(context.Background(), func(ctx context.Context, s ports.Session) error {
							return s.Outbox().Enqueue(ctx, entries...)
						})
					}
				})(store)
			},
			map[string]string{
				"outbox entries come with the commit": "another session sees an entry before the commit",
				"outbox entries go with a rollback":   "after a rollback 2 entries are pending",
			},
		},
		"nothing is held to be there already": {
			func(store *Store) {
				var mu sync.Mutex
				known := map[string]bool{}
				changesOutbox(func(o *brokenOutbox) {
					o.enqueue = func(ctx context.Context, entries ...domain.OutboxEntry) error {
						mu.Lock()
						defer mu.Unlock()
						for _, entry := range entries {
							if known[entry.EntryID] {
								continue
							}
							known[entry.EntryID] = true
							if err := o.good.Enqueue(ctx, entry); err != nil {
								return err
							}
						}
						return nil
					}
				})(store)
			},
			map[string]string{
				"outbox entry ids are unique": "e: enqueuing it is no ErrConflict but: <nil>",
			},
		},
		"a conflict without its code": {
			changesDo(func(do doFunc, ctx context.Context, fn func(context.Context, ports.Session) error) error {
				if err := do(ctx, fn); domain.ErrorClass(err) == "conflict" {
					return &domain.Error{Op: "enqueue", Message: "failed"}
				} else {
					return err
				}
			}),
			map[string]string{
				"outbox entry ids are unique": "e: enqueuing it is no ErrConflict but: habeas: enqueue: failed",
			},
		},
		"whole seconds": {
			changesEnqueued(func(e *domain.OutboxEntry) { e.EnqueuedAt = e.EnqueuedAt.Truncate(time.Second) }),
			map[string]string{
				"outbox instants are in UTC and microseconds":   "EnqueuedAt is",
				"outbox entries come back as enqueued":          "UTC, want",
				"outbox claim takes an expired lease":           "a has EnqueuedAt",
				"outbox claim takes the oldest first":           "claimed",
				"outbox claim marks what it takes":              "UTC, want",
				"outbox claim can be rolled back":               "UTC, want",
				"outbox failure is tried again in its time":     "a has EnqueuedAt",
				"outbox untried entry is given back":            "UTC, want",
				"outbox abandoned erasure keeps its ref":        "a has EnqueuedAt",
				"outbox abandoned rectification is forgotten":   "a has EnqueuedAt",
				"outbox settlement under a lost lease is stale": "UTC, want",
				"outbox requeue makes erasures new":             "UTC, want",
				"outbox withdraw leaves others alone":           "left are [an erasure of the subject another number another tenant",
				"outbox purge leaves the rest alone":            "the instant",
			},
		},
		"a ref without what it carries besides": {
			changesEnqueued(func(e *domain.OutboxEntry) { e.Ref.Extra = nil }),
			map[string]string{
				"outbox entries come back as enqueued":          "has lost what its ref carries besides",
				"outbox claim takes an expired lease":           "a has lost what its ref carries besides",
				"outbox claim marks what it takes":              "has lost what its ref carries besides",
				"outbox claim can be rolled back":               "has lost what its ref carries besides",
				"outbox failure is tried again in its time":     "a has lost what its ref carries besides",
				"outbox untried entry is given back":            "has lost what its ref carries besides",
				"outbox abandoned erasure keeps its ref":        "a has lost what its ref carries besides",
				"outbox settlement under a lost lease is stale": "has lost what its ref carries besides",
				"outbox requeue makes erasures new":             "has lost what its ref carries besides",
				"outbox withdraw leaves others alone":           "has lost what its ref carries besides",
			},
		},
		"the first element of an id": {
			changesEnqueued(func(e *domain.OutboxEntry) { e.SubjectID, _ = domain.NewSubjectID(e.SubjectID.Elements()[0]) }),
			map[string]string{
				"outbox entries come back as enqueued":              "has SubjectID",
				"outbox claim takes an expired lease":               "a has SubjectID acme, want",
				"outbox claim marks what it takes":                  "has SubjectID acme, want acme",
				"outbox claim can be rolled back":                   "has SubjectID acme, want acme",
				"outbox failure is tried again in its time":         "a has SubjectID acme, want",
				"outbox untried entry is given back":                "has SubjectID acme, want acme",
				"outbox abandoned erasure keeps its ref":            "a has SubjectID acme, want",
				"outbox abandoned rectification is forgotten":       "a has SubjectID acme, want",
				"outbox settlement under a lost lease is stale":     "has SubjectID acme, want acme",
				"outbox results are in order":                       "a batch came to [applied applied applied applied applied applied",
				"outbox entry is settled once in a call":            "two settlements of each entry came to [applied applied stale stale]",
				"outbox abandoned erasures hold completion back":    "once the abandoned erasure was requeued, its success came to [applied",
				"outbox abandoned rectifications hold nothing back": "abandoned rectification",
				"outbox settlements at once complete once":          "0 of the 8 sessions that settled a subject's entries completed it, want",
				"outbox requeue makes erasures new":                 "has SubjectID acme, want",
				"outbox withdraw abandons rectifications":           "failed pending in flight",
				"outbox withdraw leaves others alone":               "left are [an erasure of the subject another number another tenant the",
				"outbox withdrawn entry has lost its lease":         "a withdrawn entry",
			},
		},
		"corrections that are texts": {
			changesEnqueued(func(e *domain.OutboxEntry) {
				changed := domain.Corrections{}
				for category, value := range e.Corrections {
					if n, isInt := value.(int64); isInt {
						value = domain.Number(time.Duration(n).String())
					}
					changed[category] = value
				}
				e.Corrections = changed
			}),
			map[string]string{
				"outbox corrections come back as JSON": "a int64 comes back as the string",
				"outbox entries come back as enqueued": "c has other corrections than expected",
			},
		},
		"the resolver's name for the kind": {
			changesEnqueued(func(e *domain.OutboxEntry) { e.Ref.Kind = "desk" }),
			map[string]string{
				"outbox entries come back as enqueued": "d has Ref {desk contact of d map[region:eu]}, want {mail, Zoë's contact",
			},
		},
	}
}
