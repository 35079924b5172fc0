package porttest

import (
	"context"
	"strings"

	"github.com/habeas-data/habeas/domain"
)

func resolverKeyDefects() resolverDefects {
	check := func(reason string) resolverFound { return resolverFound{reason: {resolverKeysAreExportedAndErased}} }
	return resolverDefects{
		"an error for an absent key": {func(f *fakeResolver) {
			f.eraseBy = func(ctx context.Context, keys []string, entryID string) (int, error) {
				absent, err := f.doEraseBy(ctx, keys, entryID)
				if err == nil && absent > 0 {
					err = &domain.RetryLater{Resolver: "fake", Message: "not found"}
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
