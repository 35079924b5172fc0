package erasure

import (
	"context"
	"maps"
	"slices"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/internal/hook"
	"github.com/habeas-data/habeas/ports"
)

// beforehand calls the hook that comes before the local steps.
func (r *run) beforehand(ctx context.Context) error {
	if r.before == nil {
		return nil
	}
	err := hook.Contain(func() error { return r.before(ctx, r.session, r.subject.Clone()) })
	if err == nil {
		return nil
	}
	r.ofHook = true
	r.fail(ctx, hook.Target, hook.ClassOf(err))
	return err
}

// afterwards has the hook called that comes after the commit.
func (r *run) afterwards(context.Context) error {
	if r.after == nil {
		return nil
	}
	subject, result := r.subject.Clone(), cloned(r.result)
	return ports.AfterCommit(r.session, func(ctx context.Context) {
		_ = hook.Contain(func() error {
			r.after(ctx, subject, result)
			return nil
		})
	})
}

// cloned is a result that shares no memory with another one.
func cloned(result domain.ErasureResult) domain.ErasureResult {
	result.Deleted, result.Anonymized = maps.Clone(result.Deleted), maps.Clone(result.Anonymized)
	result.Retained, result.EnqueuedExternal = maps.Clone(result.Retained), slices.Clone(result.EnqueuedExternal)
	return result
}
