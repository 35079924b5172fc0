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

func exportDefects() map[string]defect {
	return map[string]defect{
		"a name with a comma": {
			func(f *fake) { f.name = func() string { return "a,b" } },
			map[string]string{
				"name is valid": "without a comma", "errors give nothing away": `of the resolver "fake"`,
			},
		},
		"no name": {
			func(f *fake) { f.name = func() string { return "" } },
			map[string]string{"name is valid": "1 to 255", "errors give nothing away": `of the resolver "fake"`},
		},
		"a name that counts calls": {
			func(f *fake) {
				erase, calls := f.erase, atomic.Int64{}
				f.erase = func(ctx context.Context, ref domain.SubjectRef, id string) (bool, error) {
					calls.Add(1)
					return erase(ctx, ref, id)
				}
				f.name = func() string { return "fake" + strings.Repeat("!", int(calls.Load())) }
			},
			map[string]string{
				"name and surface never change": "after calls the name is", "errors give nothing away": `of the resolver "fake"`,
			},
		},
		"a name of its own for every resolver": {
			func(f *fake) { f.name = func() string { return fmt.Sprintf("%p", f) } },
			map[string]string{
				"name and surface never change": "in another resolver", "errors give nothing away": `of the resolver "fake"`,
			},
		},
		"a surface that forgets": {
			func(f *fake) {
				full, asked := f.surface, atomic.Int64{}
				f.surface = func() domain.CoveredSurface {
					s := full()
					s.Notes = []string{strconv.FormatInt(asked.Add(1), 10)}
					return s
				}
			},
			map[string]string{"name and surface never change": "after calls the surface is"},
		},
		"an empty surface": {
			func(f *fake) { f.surface = func() domain.CoveredSurface { return domain.CoveredSurface{} } },
			map[string]string{
				"surface is well formed":          "no field",
				"export stays within the surface": "does not cover email",
			},
		},
		"a surface with a field twice, a category that there is not and a family of two ids": {
			func(f *fake) {
				full := f.surface
				f.surface = func() domain.CoveredSurface {
					s := full()
					s.Fields = append(s.Fields, s.Fields[0],
						domain.CoveredField{Field: "visit.{id}.at", Category: "habits"},
						domain.CoveredField{Field: "{id}.{id}", Category: domain.CategoryContact})
					return s
				}
			},
			map[string]string{
				"surface is well formed":      "email is listed twice",
				"surface is exported in full": "visit.{id}.at (habits) is exported 0 times",
			},
		},
		"a field beyond the surface": {
			exportsAlso(domain.ExportRecord{Field: "phone", Row: "person", Category: domain.CategoryContact, Value: "1"}),
			map[string]string{"export stays within the surface": "does not cover phone"},
		},
		"a field in another category": {
			changesRecords(func(records []domain.ExportRecord) { records[0].Category = domain.CategoryIdentity }),
			map[string]string{
				"export stays within the surface": "does not cover email (identity)",
				"surface is exported in full":     "email (contact) is exported 0 times",
			},
		},
		"a family that is exported under its own name": {
			changesRecords(func(records []domain.ExportRecord) {
				records[1].Field, records[2].Field = "visit.{id}.at", "visit.{id}.at"
			}),
			map[string]string{"surface is exported in full": "exported 1 times, want 2"},
		},
		"an exclusion in a value": {
			changesRecords(func(records []domain.ExportRecord) { records[0].Value = []byte("x " + secretNote) }),
			map[string]string{"exclusions are not exported": "email holds Excluded[0]"},
		},
		"exclusions without data in them": {
			func(f *fake) { f.system.Excluded = nil },
			map[string]string{"exclusions are not exported": "must have data in them"},
		},
		"a value that no bundle can hold": {
			changesRecords(func(records []domain.ExportRecord) { records[0].Value = struct{ A int }{1} }),
			map[string]string{"records are well formed": "struct"},
		},
		"a time that RFC 3339 cannot write": {
			changesRecords(func(records []domain.ExportRecord) { records[1].Value = time.Unix(1_700_000_000_000, 0) }),
			map[string]string{"records are well formed": "time.Time"},
		},
		"a document that is broken": {
			changesRecords(func(records []domain.ExportRecord) { records[0].Value = domain.JSON(`{"a":`) }),
			map[string]string{"records are well formed": "domain.JSON"},
		},
		"a text that is not UTF-8": {
			changesRecords(func(records []domain.ExportRecord) { records[0].Row += "\xff" }),
			map[string]string{"records are well formed": "no bundle can hold"},
		},
		"a record without its row": {
			changesRecords(func(records []domain.ExportRecord) { records[0].Row = "" }),
			map[string]string{"records are well formed": "lacks its field or its row"},
		},
		"a record twice": {
			exportsAlso(domain.ExportRecord{Field: "email", Row: "person", Category: domain.CategoryContact, Value: "z"}),
			map[string]string{"records are well formed": "email is exported twice"},
		},
		"another source": {
			changesRecords(func(records []domain.ExportRecord) { records[0].Source = "users" }),
			map[string]string{"records are well formed": `source "users"`},
		},
		"an error for an absent subject": {
			func(f *fake) {
				export := f.export
				f.export = func(ctx context.Context, ref domain.SubjectRef) ([]domain.ExportRecord, error) {
					records, err := export(ctx, ref)
					if err == nil && records == nil {
						err = &domain.ResolverError{Resolver: "fake", Message: "not found"}
					}
					return records, err
				}
			},
			map[string]string{
				"absent subject has no records":              "ExportSubject failed",
				"erasure leaves nothing to export":           "ExportSubject failed",
				"erasure can be repeated":                    "ExportSubject failed",
				"erasure succeeds once the fault has passed": "ExportSubject failed",
				"calls can be made at once":                  "ExportSubject failed",
			},
		},
		"records of somebody else for an absent subject": {
			func(f *fake) {
				export := f.export
				f.export = func(ctx context.Context, ref domain.SubjectRef) ([]domain.ExportRecord, error) {
					if _, known := f.everybody()[ref.Value]; !known {
						ref = f.system.Bystander
					}
					return export(ctx, ref)
				}
			},
			map[string]string{
				"absent subject has no records":              "has 3 records",
				"erasure leaves nothing to export":           "3 records are left",
				"erasure can be repeated":                    "3 records are left",
				"erasure succeeds once the fault has passed": "3 records are left",
				"calls can be made at once":                  "3 records are left",
			},
		},
	}
}
