package porttest

import (
	"context"
	"time"

	"github.com/habeas-data/habeas/domain"
)

func erasureDefects() resolverDefects {
	return resolverDefects{
		"never alreadyAbsent": {answersErasure(func(bool, error) (bool, error) { return false, nil }, false), resolverFound{
			"alreadyAbsent is false": {resolverAbsentSubjectIsErasedAlready},
		}},
		"always alreadyAbsent": {answersErasure(func(bool, error) (bool, error) { return true, nil }, false), resolverFound{
			"alreadyAbsent is true": {resolverErasureLeavesNothingToExport},
		}},
		"an erasure that erases nothing": {func(f *fake) {
			f.erase = func(ctx context.Context, ref domain.SubjectRef, _ string) (bool, error) {
				_, known := f.everybody()[ref.Value]
				return !known, f.call(ctx)
			}
		}, resolverFound{
			"records are left": {
				resolverErasureLeavesNothingToExport, resolverErasureCanBeRepeated, resolverErasureSucceedsOnceTheFaultHasPassed,
				resolverCallsCanBeMadeAtOnce,
			},
		}},
		"an erasure of everybody": {func(f *fake) {
			erase := f.erase
			f.erase = func(ctx context.Context, ref domain.SubjectRef, id string) (bool, error) {
				absent, err := erase(ctx, ref, id)
				if err == nil {
					_, _ = erase(ctx, f.system.Populated, id)
					_, _ = erase(ctx, f.system.Bystander, id)
				}
				return absent, err
			}
		}, resolverFound{
			"had 3 records and now has 0":       {resolverErasureLeavesOthersAlone},
			"another subject has other records": {resolverCallsCanBeMadeAtOnce},
		}},
		"an erasure that cannot be repeated": {answersErasure(func(absent bool, _ error) (bool, error) {
			if absent {
				return false, &domain.RetryLater{Resolver: "fake", Message: "conflict"}
			}
			return false, nil
		}, false), resolverFound{
			"EraseSubject failed":             {resolverAbsentSubjectIsErasedAlready, resolverErasureLeavesOthersAlone},
			"erasing again as entry-1 failed": {resolverErasureCanBeRepeated},
			"an erasure failed among others":  {resolverCallsCanBeMadeAtOnce},
		}},
		"a conflict between calls that meet": {func(f *fake) {
			erase, meeting := f.erase, make(chan struct{})
			f.erase = func(ctx context.Context, ref domain.SubjectRef, id string) (bool, error) {
				select {
				case meeting <- struct{}{}:
				case <-meeting:
				case <-time.After(100 * time.Millisecond):
					return erase(ctx, ref, id)
				}
				return false, &domain.RetryLater{Resolver: "fake", Message: "conflict"}
			}
		}, resolverFound{"an erasure failed among others": {resolverCallsCanBeMadeAtOnce}}},
	}
}
