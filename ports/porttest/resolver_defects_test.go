package porttest

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/habeas-data/habeas/domain"
)

// changesRecords returns a function that makes a resolver defective: its ExportSubject passes the records of the
// subject of ResolverSystem.Populated through fn.
func changesRecords(fn func([]domain.ExportRecord)) func(*fakeResolver) {
	return func(f *fakeResolver) {
		export := f.export
		f.export = func(ctx context.Context, ref domain.SubjectRef) ([]domain.ExportRecord, error) {
			records, err := export(ctx, ref)
			if err == nil && ref.Value == f.system.Populated.Value && len(records) > 0 {
				fn(records)
			}
			return records, err
		}
	}
}

// exportsAlso returns a function that makes a resolver defective: its ExportSubject returns an additional record.
func exportsAlso(record domain.ExportRecord) func(*fakeResolver) {
	return func(f *fakeResolver) {
		export := f.export
		f.export = func(ctx context.Context, ref domain.SubjectRef) ([]domain.ExportRecord, error) {
			records, err := export(ctx, ref)
			if err == nil && len(records) > 0 {
				records = append(records, record)
			}
			return records, err
		}
	}
}

// changesErasure returns a function that makes a resolver defective: its EraseSubject passes its results through fn. If
// failures is false, fn does not apply to a failed erasure.
func changesErasure(fn func(alreadyAbsent bool, err error) (bool, error), failures bool) func(*fakeResolver) {
	return func(f *fakeResolver) {
		erase := f.erase
		f.erase = func(ctx context.Context, ref domain.SubjectRef, id string) (bool, error) {
			absent, err := erase(ctx, ref, id)
			if err != nil && !failures {
				return absent, err
			}
			return fn(absent, err)
		}
	}
}

// changesErrors returns a function that makes a resolver defective: ExportSubject and EraseSubject pass each error
// through fn.
func changesErrors(fn func(error) error) func(*fakeResolver) {
	return func(f *fakeResolver) {
		export, erase := f.export, f.erase
		f.export = func(ctx context.Context, ref domain.SubjectRef) ([]domain.ExportRecord, error) {
			records, err := export(ctx, ref)
			if err != nil {
				err = fn(err)
			}
			return records, err
		}
		f.erase = func(ctx context.Context, ref domain.SubjectRef, id string) (bool, error) {
			absent, err := erase(ctx, ref, id)
			if err != nil {
				err = fn(err)
			}
			return absent, err
		}
	}
}

func exportDefects() resolverDefects {
	return resolverDefects{
		"a name with a comma": {func(f *fakeResolver) { f.name = func() string { return "a,b" } }, resolverFound{
			"without a comma": {resolverNameIsValid},
		}},
		"no name": {func(f *fakeResolver) { f.name = func() string { return "" } }, resolverFound{
			"1 to 255": {resolverNameIsValid},
		}},
		"a name that counts calls": {func(f *fakeResolver) {
			erase, calls := f.erase, atomic.Int64{}
			f.erase = func(ctx context.Context, ref domain.SubjectRef, id string) (bool, error) {
				calls.Add(1)
				return erase(ctx, ref, id)
			}
			f.name = func() string { return "fake" + strings.Repeat("!", int(calls.Load())) }
		}, resolverFound{"after calls the name is": {resolverNameAndSurfaceNeverChange}}},
		"a name of its own for every resolver": {
			func(f *fakeResolver) { f.name = func() string { return fmt.Sprintf("%p", f) } },
			resolverFound{"in another resolver": {resolverNameAndSurfaceNeverChange}},
		},
		"a surface that forgets": {func(f *fakeResolver) {
			full, asked := f.surface, atomic.Int64{}
			f.surface = func() domain.CoveredSurface {
				s := full()
				s.Notes = []string{strconv.FormatInt(asked.Add(1), 10)}
				return s
			}
		}, resolverFound{"after calls the surface is": {resolverNameAndSurfaceNeverChange}}},
		"an empty surface": {
			func(f *fakeResolver) { f.surface = func() domain.CoveredSurface { return domain.CoveredSurface{} } },
			resolverFound{"no field": {resolverSurfaceIsWellFormed}},
		},
		"a surface with a field twice, a category that there is not and a family of two ids": {func(f *fakeResolver) {
			full := f.surface
			f.surface = func() domain.CoveredSurface {
				s := full()
				s.Fields = append(s.Fields, s.Fields[0],
					domain.CoveredField{Field: "visit.{id}.at", Category: "habits"},
					domain.CoveredField{Field: "{id}.{id}", Category: domain.CategoryContact})
				return s
			}
		}, resolverFound{"email is listed twice": {resolverSurfaceIsWellFormed}}},
		"a field beyond the surface": {
			exportsAlso(domain.ExportRecord{Field: "phone", Row: "person", Category: domain.CategoryContact, Value: "1"}),
			resolverFound{"does not cover phone": {resolverExportStaysWithinTheSurface}},
		},
		"a field in another category": {
			changesRecords(func(records []domain.ExportRecord) { records[0].Category = domain.CategoryIdentity }),
			resolverFound{"does not cover email (identity)": {resolverExportStaysWithinTheSurface}},
		},
		"a family that is exported under its own name": {changesRecords(func(records []domain.ExportRecord) {
			records[1].Field, records[2].Field = "visit.{id}.at", "visit.{id}.at"
		}), resolverFound{"exported 1 times, want 2": {resolverSurfaceIsExportedInFull}}},
		"an exclusion in a value": {
			changesRecords(func(records []domain.ExportRecord) { records[0].Value = []byte("x " + secretNote) }),
			resolverFound{"email holds Excluded[0]": {resolverExclusionsAreNotExported}},
		},
		"exclusions without data in them": {func(f *fakeResolver) { f.system.Excluded = nil }, resolverFound{
			"must have data in them": {resolverExclusionsAreNotExported},
		}},
		"a value that an export bundle cannot hold": {
			changesRecords(func(records []domain.ExportRecord) { records[0].Value = struct{ A int }{1} }),
			resolverFound{"struct": {resolverRecordsAreWellFormed}},
		},
		"a time that RFC 3339 cannot write": {
			changesRecords(func(records []domain.ExportRecord) { records[1].Value = time.Unix(1_700_000_000_000, 0) }),
			resolverFound{"time.Time": {resolverRecordsAreWellFormed}},
		},
		"a document that is broken": {
			changesRecords(func(records []domain.ExportRecord) { records[0].Value = domain.JSON(`{"a":`) }),
			resolverFound{"domain.JSON": {resolverRecordsAreWellFormed}},
		},
		"a text that is not UTF-8": {
			changesRecords(func(records []domain.ExportRecord) { records[0].Row += "\xff" }),
			resolverFound{"an export bundle cannot hold": {resolverRecordsAreWellFormed}},
		},
		"a record without its row": {
			changesRecords(func(records []domain.ExportRecord) { records[0].Row = "" }),
			resolverFound{"lacks its field or its row": {resolverRecordsAreWellFormed}},
		},
		"a record twice": {
			exportsAlso(domain.ExportRecord{Field: "email", Row: "person", Category: domain.CategoryContact, Value: "z"}),
			resolverFound{"email is exported twice": {resolverRecordsAreWellFormed}},
		},
		"another source": {
			changesRecords(func(records []domain.ExportRecord) { records[0].Source = "users" }),
			resolverFound{`source "users"`: {resolverRecordsAreWellFormed}},
		},
		"an error for an absent subject": {func(f *fakeResolver) {
			export := f.export
			f.export = func(ctx context.Context, ref domain.SubjectRef) ([]domain.ExportRecord, error) {
				records, err := export(ctx, ref)
				if err == nil && records == nil {
					err = &domain.ResolverError{Resolver: "fake", Message: "not found"}
				}
				return records, err
			}
		}, resolverFound{"ExportSubject failed": {resolverAbsentSubjectHasNoRecords}}},
		"records of another subject for an absent subject": {func(f *fakeResolver) {
			export := f.export
			f.export = func(ctx context.Context, ref domain.SubjectRef) ([]domain.ExportRecord, error) {
				if _, known := f.everybody()[ref.Value]; !known {
					ref = f.system.Bystander
				}
				return export(ctx, ref)
			}
		}, resolverFound{"has 3 records": {resolverAbsentSubjectHasNoRecords}}},
	}
}

func erasureDefects() resolverDefects {
	return resolverDefects{
		"never alreadyAbsent": {changesErasure(func(bool, error) (bool, error) { return false, nil }, false), resolverFound{
			"alreadyAbsent is false": {resolverAbsentSubjectIsErasedAlready},
		}},
		"always alreadyAbsent": {changesErasure(func(bool, error) (bool, error) { return true, nil }, false), resolverFound{
			"alreadyAbsent is true": {resolverErasureLeavesNothingToExport},
		}},
		"an erasure that erases nothing": {func(f *fakeResolver) {
			f.erase = func(ctx context.Context, ref domain.SubjectRef, _ string) (bool, error) {
				_, known := f.everybody()[ref.Value]
				return !known, f.call(ctx)
			}
		}, resolverFound{
			"records are left": {
				resolverErasureLeavesNothingToExport, resolverErasureCanBeRepeated, resolverErasureSucceedsOnceTheFaultHasPassed,
			},
		}},
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
		"an erasure that cannot be repeated": {changesErasure(func(absent bool, _ error) (bool, error) {
			if absent {
				return false, &domain.RetryLaterError{Resolver: "fake", Message: "conflict"}
			}
			return false, nil
		}, false), resolverFound{"EraseSubject failed": {resolverErasureLeavesOthersAlone}}},
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
	}
}

func errorDefects() resolverDefects {
	return resolverDefects{
		"a fault that is swallowed": {
			changesErasure(func(bool, error) (bool, error) { return false, nil }, true),
			resolverFound{"alreadyAbsent is false": {resolverAbsentSubjectIsErasedAlready}},
		},
		"everything is final": {changesErrors(func(err error) error {
			return &domain.ResolverError{Resolver: "fake", Message: "failed", Err: err}
		}), resolverFound{"down: ExportSubject returned a ResolverError": {resolverTransientFaultIsTriedAgain}}},
		"everything is tried again": {changesErrors(func(err error) error {
			for _, ended := range []error{context.Canceled, context.DeadlineExceeded} {
				if errors.Is(err, ended) {
					return ended
				}
			}
			return errors.New("failed")
		}), resolverFound{"forbidden: ExportSubject returned a ": {resolverPermanentFaultIsAResolverError}}},
		"back in the past": {changesErrors(func(err error) error {
			var later *domain.RetryLaterError
			if errors.As(err, &later) {
				return &domain.RetryLaterError{Resolver: "fake", After: -time.Second, Err: later.Err}
			}
			return err
		}), resolverFound{"in the past": {resolverTransientFaultIsTriedAgain}}},
		"the token in an error": {
			changesErrors(func(err error) error { return fmt.Errorf("GET with %s: %w", secretToken, err) }),
			resolverFound{"contains an identifier": {resolverErrorsContainNoSecrets}},
		},
		"the id in an error": {
			changesErrors(func(err error) error { return fmt.Errorf("GET zoe-ref: %w", err) }),
			resolverFound{"contains an identifier": {resolverErrorsContainNoSecrets}},
		},
		"a URL in an error": {
			changesErrors(func(err error) error { return fmt.Errorf("GET https://example.org: %w", err) }),
			resolverFound{"contains an identifier": {resolverErrorsContainNoSecrets}},
		},
		"an error without its cause": {changesErrors(func(err error) error {
			var final *domain.ResolverError
			if errors.As(err, &final) {
				return err
			}
			return &domain.RetryLaterError{Resolver: "fake", Message: "failed"}
		}), resolverFound{
			"which is not context canceled":          {resolverEndedContextEndsTheCall},
			"which is not context deadline exceeded": {resolverDeadlineIsHonoured},
		}},
		"a context that is ignored": {func(f *fakeResolver) {
			f.export = func(ctx context.Context, ref domain.SubjectRef) ([]domain.ExportRecord, error) {
				return f.doExport(context.WithoutCancel(ctx), ref)
			}
			f.erase = func(ctx context.Context, ref domain.SubjectRef, id string) (bool, error) {
				return f.doErase(context.WithoutCancel(ctx), ref, id)
			}
		}, resolverFound{"EraseSubject erased although the context had ended": {resolverEndedContextEndsTheCall}}},
	}
}
