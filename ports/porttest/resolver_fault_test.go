package porttest

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/habeas-data/habeas/domain"
)

func errorDefects() resolverDefects {
	return resolverDefects{
		"a fault that is swallowed": {answersErasure(func(bool, error) (bool, error) { return false, nil }, true), resolverFound{
			"alreadyAbsent is false":                            {resolverAbsentSubjectIsErasedAlready},
			"down: EraseSubject succeeded":                      {resolverTransientFaultIsTriedAgain, resolverErasureSucceedsOnceTheFaultHasPassed},
			"forbidden: EraseSubject returned no ResolverError": {resolverPermanentFaultIsAResolverError},
			"which is not context canceled":                     {resolverEndedContextEndsTheCall},
			"which is not context deadline exceeded":            {resolverDeadlineIsHonoured},
		}},
		"everything is final": {changesErrors(func(err error) error {
			return &domain.ResolverError{Resolver: "fake", Message: "failed", Err: err}
		}), resolverFound{
			"down: ExportSubject returned a ResolverError": {resolverTransientFaultIsTriedAgain},
			"returned a ResolverError":                     {resolverEndedContextEndsTheCall, resolverDeadlineIsHonoured},
		}},
		"everything is tried again": {changesErrors(func(err error) error {
			for _, ended := range []error{context.Canceled, context.DeadlineExceeded} {
				if errors.Is(err, ended) {
					return ended
				}
			}
			return errors.New("failed")
		}), resolverFound{"forbidden: ExportSubject returned no ResolverError": {resolverPermanentFaultIsAResolverError}}},
		"back in the past": {changesErrors(func(err error) error {
			var later *domain.RetryLater
			if errors.As(err, &later) {
				return &domain.RetryLater{Resolver: "fake", After: -time.Second, Err: later.Err}
			}
			return err
		}), resolverFound{"in the past": {resolverTransientFaultIsTriedAgain}}},
		"the token in an error": {
			changesErrors(func(err error) error { return fmt.Errorf("GET with %s: %w", secretToken, err) }),
			resolverFound{"gives away": {resolverErrorsGiveNothingAway}},
		},
		"the id in an error": {changesErrors(func(err error) error { return fmt.Errorf("GET zoe-ref: %w", err) }), resolverFound{
			"gives away": {resolverErrorsGiveNothingAway},
		}},
		"a URL in an error": {
			changesErrors(func(err error) error { return fmt.Errorf("GET https://example.org: %w", err) }),
			resolverFound{"gives away": {resolverErrorsGiveNothingAway}},
		},
		"an error without its cause": {changesErrors(func(err error) error {
			var final *domain.ResolverError
			if errors.As(err, &final) {
				return err
			}
			return &domain.RetryLater{Resolver: "fake", Message: "failed"}
		}), resolverFound{
			"which is not context canceled":          {resolverEndedContextEndsTheCall},
			"which is not context deadline exceeded": {resolverDeadlineIsHonoured},
		}},
		"a context that is ignored": {func(f *fake) {
			f.export = func(ctx context.Context, ref domain.SubjectRef) ([]domain.ExportRecord, error) {
				return f.doExport(context.WithoutCancel(ctx), ref)
			}
			f.erase = func(ctx context.Context, ref domain.SubjectRef, id string) (bool, error) {
				return f.doErase(context.WithoutCancel(ctx), ref, id)
			}
		}, resolverFound{
			"erased although the context had ended": {resolverEndedContextEndsTheCall},
			"is not back":                           {resolverDeadlineIsHonoured},
		}},
	}
}
