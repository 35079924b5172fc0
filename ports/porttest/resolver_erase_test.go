package porttest

import (
	"context"
	"time"

	"github.com/habeas-data/habeas/domain"
)

func erasureDefects() map[string]defect {
	return map[string]defect{
		"never alreadyAbsent": {
			answersErasure(func(bool, error) (bool, error) { return false, nil }, false),
			map[string]string{"absent subject is erased already": "alreadyAbsent is false"},
		},
		"always alreadyAbsent": {
			answersErasure(func(bool, error) (bool, error) { return true, nil }, false),
			map[string]string{"erasure leaves nothing to export": "alreadyAbsent is true"},
		},
		"an erasure that erases nothing": {
			func(f *fake) {
				f.erase = func(ctx context.Context, ref domain.SubjectRef, _ string) (bool, error) {
					_, known := f.everybody()[ref.Value]
					return !known, f.call(ctx)
				}
			},
			map[string]string{
				"erasure leaves nothing to export":           "records are left",
				"erasure can be repeated":                    "records are left",
				"erasure succeeds once the fault has passed": "records are left",
				"calls can be made at once":                  "records are left",
			},
		},
		"an erasure of everybody": {
			func(f *fake) {
				erase := f.erase
				f.erase = func(ctx context.Context, ref domain.SubjectRef, id string) (bool, error) {
					absent, err := erase(ctx, ref, id)
					if err == nil {
						_, _ = erase(ctx, f.system.Populated, id)
						_, _ = erase(ctx, f.system.Bystander, id)
					}
					return absent, err
				}
			},
			map[string]string{
				"erasure leaves others alone": "had 3 records and now has 0",
				"calls can be made at once":   "another subject has other records",
			},
		},
		"an erasure that cannot be repeated": {
			answersErasure(func(absent bool, _ error) (bool, error) {
				if absent {
					return false, &domain.RetryLater{Resolver: "fake", Message: "conflict"}
				}
				return false, nil
			}, false),
			map[string]string{
				"absent subject is erased already": "EraseSubject failed",
				"erasure leaves others alone":      "EraseSubject failed",
				"erasure can be repeated":          "erasing again as entry-1 failed",
				"calls can be made at once":        "an erasure failed among others",
			},
		},
		"a conflict between calls that meet": {
			func(f *fake) {
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
			},
			map[string]string{"calls can be made at once": "an erasure failed among others"},
		},
	}
}
