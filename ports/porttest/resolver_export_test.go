package porttest

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/habeas-data/habeas/domain"
)

func exportDefects() resolverDefects {
	return resolverDefects{
		"a name with a comma": {func(f *fake) { f.name = func() string { return "a,b" } }, resolverFound{
			"without a comma": {resolverNameIsValid}, `of the resolver "fake"`: {resolverErrorsGiveNothingAway},
		}},
		"no name": {func(f *fake) { f.name = func() string { return "" } }, resolverFound{
			"1 to 255": {resolverNameIsValid}, `of the resolver "fake"`: {resolverErrorsGiveNothingAway},
		}},
		"a name that counts calls": {func(f *fake) {
			erase, calls := f.erase, atomic.Int64{}
			f.erase = func(ctx context.Context, ref domain.SubjectRef, id string) (bool, error) {
				calls.Add(1)
				return erase(ctx, ref, id)
			}
			f.name = func() string { return "fake" + strings.Repeat("!", int(calls.Load())) }
		}, resolverFound{
			"after calls the name is": {resolverNameAndSurfaceNeverChange},
			`of the resolver "fake"`:  {resolverErrorsGiveNothingAway},
		}},
		"a name of its own for every resolver": {
			func(f *fake) { f.name = func() string { return fmt.Sprintf("%p", f) } },
			resolverFound{
				"in another resolver":    {resolverNameAndSurfaceNeverChange},
				`of the resolver "fake"`: {resolverErrorsGiveNothingAway},
			},
		},
		"a surface that forgets": {func(f *fake) {
			full, asked := f.surface, atomic.Int64{}
			f.surface = func() domain.CoveredSurface {
				s := full()
				s.Notes = []string{strconv.FormatInt(asked.Add(1), 10)}
				return s
			}
		}, resolverFound{"after calls the surface is": {resolverNameAndSurfaceNeverChange}}},
		"an empty surface": {
			func(f *fake) { f.surface = func() domain.CoveredSurface { return domain.CoveredSurface{} } },
			resolverFound{"no field": {resolverSurfaceIsWellFormed}, "does not cover email": {resolverExportStaysWithinTheSurface}},
		},
		"a surface with a field twice, a category that there is not and a family of two ids": {func(f *fake) {
			full := f.surface
			f.surface = func() domain.CoveredSurface {
				s := full()
				s.Fields = append(s.Fields, s.Fields[0],
					domain.CoveredField{Field: "visit.{id}.at", Category: "habits"},
					domain.CoveredField{Field: "{id}.{id}", Category: domain.CategoryContact})
				return s
			}
		}, resolverFound{
			"email is listed twice":                      {resolverSurfaceIsWellFormed},
			"visit.{id}.at (habits) is exported 0 times": {resolverSurfaceIsExportedInFull},
		}},
		"a field beyond the surface": {
			exportsAlso(domain.ExportRecord{Field: "phone", Row: "person", Category: domain.CategoryContact, Value: "1"}),
			resolverFound{"does not cover phone": {resolverExportStaysWithinTheSurface}},
		},
		"a field in another category": {
			changesRecords(func(records []domain.ExportRecord) { records[0].Category = domain.CategoryIdentity }),
			resolverFound{
				"does not cover email (identity)":     {resolverExportStaysWithinTheSurface},
				"email (contact) is exported 0 times": {resolverSurfaceIsExportedInFull},
			},
		},
		"a family that is exported under its own name": {changesRecords(func(records []domain.ExportRecord) {
			records[1].Field, records[2].Field = "visit.{id}.at", "visit.{id}.at"
		}), resolverFound{"exported 1 times, want 2": {resolverSurfaceIsExportedInFull}}},
		"an exclusion in a value": {
			changesRecords(func(records []domain.ExportRecord) { records[0].Value = []byte("x " + secretNote) }),
			resolverFound{"email holds Excluded[0]": {resolverExclusionsAreNotExported}},
		},
		"exclusions without data in them": {func(f *fake) { f.system.Excluded = nil }, resolverFound{
			"must have data in them": {resolverExclusionsAreNotExported},
		}},
		"a value that no bundle can hold": {
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
		"a text that is not UTF-8": {changesRecords(func(records []domain.ExportRecord) { records[0].Row += "\xff" }), resolverFound{
			"no bundle can hold": {resolverRecordsAreWellFormed},
		}},
		"a record without its row": {changesRecords(func(records []domain.ExportRecord) { records[0].Row = "" }), resolverFound{
			"lacks its field or its row": {resolverRecordsAreWellFormed},
		}},
		"a record twice": {
			exportsAlso(domain.ExportRecord{Field: "email", Row: "person", Category: domain.CategoryContact, Value: "z"}),
			resolverFound{"email is exported twice": {resolverRecordsAreWellFormed}},
		},
		"another source": {changesRecords(func(records []domain.ExportRecord) { records[0].Source = "users" }), resolverFound{
			`source "users"`: {resolverRecordsAreWellFormed},
		}},
		"an error for an absent subject": {func(f *fake) {
			export := f.export
			f.export = func(ctx context.Context, ref domain.SubjectRef) ([]domain.ExportRecord, error) {
				records, err := export(ctx, ref)
				if err == nil && records == nil {
					err = &domain.ResolverError{Resolver: "fake", Message: "not found"}
				}
				return records, err
			}
		}, resolverFound{
			"ExportSubject failed": {
				resolverAbsentSubjectHasNoRecords, resolverErasureLeavesNothingToExport, resolverErasureCanBeRepeated,
				resolverErasureSucceedsOnceTheFaultHasPassed, resolverCallsCanBeMadeAtOnce,
			},
		}},
		"records of somebody else for an absent subject": {func(f *fake) {
			export := f.export
			f.export = func(ctx context.Context, ref domain.SubjectRef) ([]domain.ExportRecord, error) {
				if _, known := f.everybody()[ref.Value]; !known {
					ref = f.system.Bystander
				}
				return export(ctx, ref)
			}
		}, resolverFound{
			"has 3 records": {resolverAbsentSubjectHasNoRecords},
			"3 records are left": {
				resolverErasureLeavesNothingToExport, resolverErasureCanBeRepeated, resolverErasureSucceedsOnceTheFaultHasPassed,
				resolverCallsCanBeMadeAtOnce,
			},
		}},
	}
}
