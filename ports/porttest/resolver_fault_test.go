package porttest

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/habeas-data/habeas/domain"
)

func errorDefects() map[string]defect {
	return map[string]defect{
		"a fault that is swallowed": {
			answersErasure(func(bool, error) (bool, error) { return false, nil }, true),
			map[string]string{
				"absent subject is erased already":           "alreadyAbsent is false",
				"transient fault is tried again":             "down: EraseSubject succeeded",
				"erasure succeeds once the fault has passed": "down: EraseSubject succeeded",
				"permanent fault is a resolver error":        "forbidden: EraseSubject returned no ResolverError",
				"ended context ends the call":                "which is not context canceled",
				"deadline is honoured":                       "which is not context deadline exceeded",
			},
		},
		"everything is final": {
			changesErrors(func(err error) error {
				return &domain.ResolverError{Resolver: "fake", Message: "failed", Err: err}
			}),
			map[string]string{
				"transient fault is tried again": "down: ExportSubject returned a ResolverError",
				"ended context ends the call":    "returned a ResolverError",
				"deadline is honoured":           "returned a ResolverError",
			},
		},
		"everything is tried again": {
			changesErrors(func(err error) error {
				for _, ended := range []error{context.Canceled, context.DeadlineExceeded} {
					if errors.Is(err, ended) {
						return ended
					}
				}
				return errors.New("failed")
			}),
			map[string]string{"permanent fault is a resolver error": "forbidden: ExportSubject returned no ResolverError"},
		},
		"back in the past": {
			changesErrors(func(err error) error {
				var later *domain.RetryLater
				if errors.As(err, &later) {
					return &domain.RetryLater{Resolver: "fake", After: -time.Second, Err: later.Err}
				}
				return err
			}),
			map[string]string{"transient fault is tried again": "in the past"},
		},
		"the token in an error": {
			changesErrors(func(err error) error { return fmt.Errorf("GET with %s: %w", secretToken, err) }),
			map[string]string{"errors give nothing away": "gives away"},
		},
		"the id in an error": {
			changesErrors(func(err error) error { return fmt.Errorf("GET zoe-ref: %w", err) }),
			map[string]string{"errors give nothing away": "gives away"},
		},
		"a URL in an error": {
			changesErrors(func(err error) error { return fmt.Errorf("GET https://example.org: %w", err) }),
			map[string]string{"errors give nothing away": "gives away"},
		},
		"an error without its cause": {
			changesErrors(func(err error) error {
				var final *domain.ResolverError
				if errors.As(err, &final) {
					return err
				}
				return &domain.RetryLater{Resolver: "fake", Message: "failed"}
			}),
			map[string]string{
				"ended context ends the call": "which is not context canceled",
				"deadline is honoured":        "which is not context deadline exceeded",
			},
		},
		"a context that is ignored": {
			func(f *fake) {
				f.export = func(ctx context.Context, ref domain.SubjectRef) ([]domain.ExportRecord, error) {
					return f.doExport(context.WithoutCancel(ctx), ref)
				}
				f.erase = func(ctx context.Context, ref domain.SubjectRef, id string) (bool, error) {
					return f.doErase(context.WithoutCancel(ctx), ref, id)
				}
			},
			map[string]string{
				"ended context ends the call": "erased although the context had ended",
				"deadline is honoured":        "is not back",
			},
		},
	}
}
