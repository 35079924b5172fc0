package rectification

import (
	"context"
	"maps"
	"slices"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/internal/hook"
	"github.com/habeas-data/habeas/ports"
)

// beforehand calls the hook that comes before the steps.
func (r *run) beforehand(ctx context.Context, subject domain.Subject) error {
	if r.before == nil {
		return nil
	}
	err := hook.Contain(func() error { return r.before(ctx, r.session, subject.Clone()) })
	if err == nil {
		return nil
	}
	event := r.operation.Event(domain.EventRectificationStepFailed, r.id, domain.Payload{
		"target": hook.Target, "error": hook.ClassOf(err),
	})
	_ = r.session.Audit().AppendEvidence(ctx, event) // err is what went wrong; Do reports lost evidence
	return err
}

// afterwards has the hook called that comes after the commit.
func (r *run) afterwards(subject domain.Subject) error {
	if r.after == nil {
		return nil
	}
	subject, result := subject.Clone(), cloned(r.result)
	return ports.AfterCommit(r.session, func(ctx context.Context) {
		_ = hook.Contain(func() error {
			r.after(ctx, subject, result)
			return nil
		})
	})
}

// cloned is a result that shares no memory with another one.
func cloned(result domain.RectificationResult) domain.RectificationResult {
	result.Rectified, result.EnqueuedExternal = maps.Clone(result.Rectified), slices.Clone(result.EnqueuedExternal)
	result.SkippedResolvers = slices.Clone(result.SkippedResolvers)
	return result
}
