package porttest

import (
	"context"

	"github.com/habeas-data/habeas/ports"
)

// notifier is a session whose functions for after its commit are given to another one.
type notifier struct {
	replaced
	notify func(fn func(context.Context))
}

func (n notifier) AfterCommit(fn func(context.Context)) { n.notify(fn) }

// notifies is a defect of what is called after a commit.
func notifies(notify func(s ports.CommitNotifier, fn func(context.Context))) func(*Store) {
	return changesDo(func(do doFunc, ctx context.Context, fn sessionFunc) error {
		return do(ctx, func(ctx context.Context, s ports.Session) error {
			own, _ := s.(ports.CommitNotifier)
			return fn(ctx, notifier{replaced{Session: s}, func(after func(context.Context)) { notify(own, after) }})
		})
	})
}

// callsAfterAnyEnd is the defect of a session that does not know how it ended.
var callsAfterAnyEnd = changesDo(func(do doFunc, ctx context.Context, fn sessionFunc) error {
	var after []func(context.Context)
	defer func() {
		for _, fn := range after {
			fn(ctx)
		}
	}()
	return do(ctx, func(ctx context.Context, s ports.Session) error {
		return fn(ctx, notifier{replaced{Session: s}, func(fn func(context.Context)) { after = append(after, fn) }})
	})
})

// callsInside is the defect of a context that still belongs to the session.
var callsInside = changesDo(func(do doFunc, ctx context.Context, fn sessionFunc) error {
	return do(ctx, func(inside context.Context, s ports.Session) error {
		own, _ := s.(ports.CommitNotifier)
		return fn(inside, notifier{replaced{Session: s}, func(fn func(context.Context)) {
			own.AfterCommit(func(context.Context) { fn(inside) })
		}})
	})
})
