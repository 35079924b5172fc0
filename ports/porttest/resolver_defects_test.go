package porttest

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/internal/tests/promise"
)

func TestResolversThatMixUpPeopleOrCallsAreFoundOut(t *testing.T) {
	promise.ExpectDefects(t, resolverPromises, brokenResolver, map[string]resolverDefect{
		"records of another subject for an absent subject": {func(f *fakeResolver) {
			export := f.export
			f.export = func(ctx context.Context, ref domain.SubjectRef) ([]domain.ExportRecord, error) {
				if _, known := f.everybody()[ref.Value]; !known {
					ref = f.system.Bystander
				}
				return export(ctx, ref)
			}
		}, resolverFound{"has 3 records": {resolverAbsentSubjectHasNoRecords}}},
		"an erasure of everybody": {func(f *fakeResolver) {
			erase := f.erase
			f.erase = func(ctx context.Context, ref domain.SubjectRef, id string) (bool, error) {
				absent, err := erase(ctx, ref, id)
				if err == nil {
					_, _ = erase(ctx, f.system.Populated, id)
					_, _ = erase(ctx, f.system.Bystander, id)
				}
				return absent, err
			}
		}, resolverFound{"changed: 3 before, 0 after": {resolverErasureLeavesOthersAlone}}},
		"a conflict between calls that meet": {func(f *fakeResolver) {
			erase, meeting := f.erase, make(chan struct{})
			f.erase = func(ctx context.Context, ref domain.SubjectRef, id string) (bool, error) {
				select {
				case meeting <- struct{}{}:
				case <-meeting:
				case <-time.After(100 * time.Millisecond):
					return erase(ctx, ref, id)
				}
				return false, &domain.RetryLaterError{Resolver: "fake", Message: "conflict"}
			}
		}, resolverFound{"a concurrent erasure failed": {resolverCallsCanBeMadeConcurrently}}},
		"an erasure by keys that erases all": {func(f *fakeResolver) {
			f.eraseBy = func(ctx context.Context, keys []string, entryID string) (int, error) {
				_, _ = f.doErase(ctx, f.system.Bystander, entryID)
				return f.doEraseBy(ctx, keys, entryID)
			}
		}, resolverFound{"the records of the bystander's key have changed": {resolverKeysAreExportedAndErased}}},
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
	})
}
