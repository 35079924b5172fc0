package porttest

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"time"

	"github.com/habeas-data/habeas/domain"
)

func resolverKeyDefects() resolverDefects {
	check := func(reason string) resolverFound { return resolverFound{reason: {resolverKeysAreExportedAndErased}} }
	return resolverDefects{
		"an error for an absent key": {func(f *fakeResolver) {
			f.eraseBy = func(ctx context.Context, keys []string, entryID string) (int, error) {
				absent, err := f.doEraseBy(ctx, keys, entryID)
				if err == nil && absent > 0 {
					err = &domain.RetryLaterError{Resolver: "fake", Message: "not found"}
				}
				return absent, err
			}
		}, check("EraseKeys failed")},
		"the first key alone": {func(f *fakeResolver) {
			f.eraseBy = func(ctx context.Context, keys []string, entryID string) (int, error) {
				absent, err := f.doEraseBy(ctx, keys[:1], entryID)
				return absent + len(keys) - 1, err
			}
		}, check("were absent")},
		"nothing under keys": {func(f *fakeResolver) {
			f.byKeys = func(context.Context, []string) ([]domain.ExportRecord, error) { return nil, nil }
		}, check("the key of the bystander has no records")},
		"an erasure by keys that erases all": {func(f *fakeResolver) {
			f.eraseBy = func(ctx context.Context, keys []string, entryID string) (int, error) {
				_, _ = f.doErase(ctx, f.system.Bystander, entryID)
				return f.doEraseBy(ctx, keys, entryID)
			}
		}, check("the records of the bystander's key have changed")},
		"no more than ten keys": {func(f *fakeResolver) {
			f.byKeys = func(ctx context.Context, keys []string) ([]domain.ExportRecord, error) {
				if len(keys) > 10 {
					return nil, &domain.ResolverError{Resolver: "fake", Message: "too many"}
				}
				return f.doByKeys(ctx, keys)
			}
		}, check("ExportKeys failed")},
		"a key that is a prefix": {func(f *fakeResolver) {
			f.eraseBy = func(ctx context.Context, keys []string, entryID string) (int, error) {
				var reached []string
				for _, key := range keys {
					for known := range f.everybody() {
						if strings.HasPrefix(known, key) {
							reached = append(reached, known)
						}
					}
				}
				absent, err := f.doEraseBy(ctx, keys, entryID)
				_, _ = f.doEraseBy(ctx, reached, entryID)
				return absent, err
			}
		}, resolverFound{"the erasure of a prefix has changed": {resolverKeyIsNotMatchedAsAPrefix}}},
		"an export of a key that is a prefix": {func(f *fakeResolver) {
			f.byKeys = func(ctx context.Context, keys []string) ([]domain.ExportRecord, error) {
				for known := range f.everybody() {
					if strings.HasPrefix(known, keys[0]) && known != keys[0] {
						keys = append([]string{known}, keys...)
					}
				}
				return f.doByKeys(ctx, keys)
			}
		}, resolverFound{"the prefix of a key has 3 records": {resolverKeyIsNotMatchedAsAPrefix}}},
	}
}

// changesErrorsOfKeys returns a function that makes a resolver defective: ExportKeys and EraseKeys pass each error
// through fn.
func changesErrorsOfKeys(fn func(error) error) func(*fakeResolver) {
	return func(f *fakeResolver) {
		f.byKeys = func(ctx context.Context, keys []string) ([]domain.ExportRecord, error) {
			records, err := f.doByKeys(ctx, keys)
			if err != nil {
				err = fn(err)
			}
			return records, err
		}
		changeErrorOfEraseKeys(f, fn)
	}
}

func changeErrorOfEraseKeys(f *fakeResolver, fn func(error) error) {
	f.eraseBy = func(ctx context.Context, keys []string, entryID string) (int, error) {
		absent, err := f.doEraseBy(ctx, keys, entryID)
		if err != nil {
			err = fn(err)
		}
		return absent, err
	}
}

func noError(error) error { return nil }

func resolverKeyErrorDefects() resolverDefects {
	return resolverDefects{
		"an erasure of keys that hides its failure": {
			func(f *fakeResolver) { changeErrorOfEraseKeys(f, noError) }, resolverFound{
				"down: EraseKeys succeeded": {
					resolverTransientFaultIsTriedAgainForKeys, resolverErasureSucceedsOnceTheFaultHasPassedForKeys,
				},
				"forbidden: EraseKeys returned a <nil>": {resolverPermanentFaultIsAResolverErrorForKeys},
			},
		},
		"an export of keys that hides its failure": {func(f *fakeResolver) {
			f.byKeys = func(ctx context.Context, keys []string) ([]domain.ExportRecord, error) {
				records, _ := f.doByKeys(ctx, keys)
				return records, nil
			}
		}, resolverFound{
			"down: ExportKeys succeeded":             {resolverTransientFaultIsTriedAgainForKeys},
			"forbidden: ExportKeys returned a <nil>": {resolverPermanentFaultIsAResolverErrorForKeys},
		}},
		"every failure of keys is permanent": {changesErrorsOfKeys(func(err error) error {
			return &domain.ResolverError{Resolver: "fake", Message: "failed", Err: err}
		}), resolverFound{"down: ExportKeys returned a ResolverError": {resolverTransientFaultIsTriedAgainForKeys}}},
		"every failure of keys is transient": {changesErrorsOfKeys(func(err error) error {
			return &domain.RetryLaterError{Resolver: "fake", Message: "failed", Err: errors.Unwrap(err)}
		}), resolverFound{"forbidden: ExportKeys returned a ": {resolverPermanentFaultIsAResolverErrorForKeys}}},
		"an erasure that fails again after the fault": {func(f *fakeResolver) {
			var failed atomic.Bool
			f.eraseBy = func(ctx context.Context, keys []string, entryID string) (int, error) {
				absent, err := f.doEraseBy(ctx, keys, entryID)
				if err == nil && failed.Load() {
					return 0, &domain.ResolverError{Resolver: "fake", Message: "the entry has failed before"}
				}
				if err != nil {
					failed.Store(true)
				}
				return absent, err
			}
		}, resolverFound{"the retry failed": {resolverErasureSucceedsOnceTheFaultHasPassedForKeys}}},
		"a conflict between erasures of keys that meet": {func(f *fakeResolver) {
			meeting := make(chan struct{})
			f.eraseBy = func(ctx context.Context, keys []string, entryID string) (int, error) {
				select {
				case meeting <- struct{}{}:
				case <-meeting:
				case <-time.After(100 * time.Millisecond):
					return f.doEraseBy(ctx, keys, entryID)
				}
				return 0, &domain.RetryLaterError{Resolver: "fake", Message: "conflict"}
			}
		}, resolverFound{"a concurrent erasure of keys failed": {resolverCallsCanBeMadeConcurrentlyForKeys}}},
		"a key in a ResolverError": {changesErrorsOfKeys(func(err error) error {
			if errors.As(err, new(*domain.ResolverError)) {
				return &domain.ResolverError{Resolver: "fake", Message: "photo-2 is locked"}
			}
			return err
		}), resolverFound{"forbidden: the error of ExportKeys contains": {resolverErrorsContainNoSecretsForKeys}}},
		"a context that is ignored for keys": {func(f *fakeResolver) {
			f.byKeys = func(ctx context.Context, keys []string) ([]domain.ExportRecord, error) {
				return f.doByKeys(context.WithoutCancel(ctx), keys)
			}
			f.eraseBy = func(ctx context.Context, keys []string, entryID string) (int, error) {
				return f.doEraseBy(context.WithoutCancel(ctx), keys, entryID)
			}
		}, resolverFound{
			"EraseKeys erased although":    {resolverEndedContextEndsTheCallForKeys},
			"ExportKeys had a deadline of": {resolverDeadlineIsHonouredForKeys},
		}},
	}
}
