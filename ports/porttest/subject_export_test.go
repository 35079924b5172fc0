package porttest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/habeas-data/habeas/domain"
)

// changesExport is a defect of what is exported, as a whole.
func changesExport(change func([]domain.ExportRecord) []domain.ExportRecord) func(*Store) {
	return changesSubjects(func(s *brokenSubjects) {
		s.export = func(ctx context.Context, id domain.SubjectID, yield func(domain.ExportRecord) error) error {
			var records []domain.ExportRecord
			err := s.good.Export(ctx, id, func(record domain.ExportRecord) error {
				records = append(records, record)
				return nil
			})
			if err != nil {
				return err
			}
			for _, record := range change(records) {
				if err := yield(record); err != nil {
					return err
				}
			}
			return nil
		}
	})
}

// changesExported is a defect of single records: which are changed, and which are left out.
func changesExported(change func(record *domain.ExportRecord) (keep bool)) func(*Store) {
	return changesExport(func(records []domain.ExportRecord) (kept []domain.ExportRecord) {
		for _, record := range records {
			if change(&record) {
				kept = append(kept, record)
			}
		}
		return kept
	})
}

func exportedAs[From, To any](change func(From) To) func(*Store) {
	return changesExported(func(record *domain.ExportRecord) bool {
		if value, ok := record.Value.(From); ok {
			record.Value = change(value)
		}
		return true
	})
}

func sortedBy(key func(domain.ExportRecord) string) func(*Store) {
	return changesExport(func(records []domain.ExportRecord) []domain.ExportRecord {
		slices.SortStableFunc(records, func(a, b domain.ExportRecord) int { return strings.Compare(key(a), key(b)) })
		return records
	})
}

func subjectExportDefects() map[string]storeDefect {
	return map[string]storeDefect{
		"rows by the text of their keys": {
			sortedBy(func(r domain.ExportRecord) string {
				return fmt.Sprintf("%d %s", slices.Index([]string{"people", "addresses", "messages", "orders", "order_lines", "invoices"}, r.Source), r.Row)
			}),
			map[string]string{
				"subject export has the ledgers": "is due",
				"subject export is in order":     "want addresses.street of",
			},
		},
		"tables by name": {sortedBy(func(r domain.ExportRecord) string { return r.Source }), map[string]string{
			"subject export is in order":     "is addresses.street of",
			"subject export has the ledgers": "is due",
		}},
		"fields by name": {
			changesExport(func(records []domain.ExportRecord) []domain.ExportRecord {
				slices.SortStableFunc(records, func(a, b domain.ExportRecord) int {
					if a.Source != b.Source || a.Row != b.Row {
						return 0
					}
					return strings.Compare(a.Field, b.Field)
				})
				return records
			}),
			map[string]string{
				"subject export has the ledgers": "is due",
				"subject export is in order":     "want people.name of",
			},
		},
		"the ledgers are forgotten": {
			changesExported(func(r *domain.ExportRecord) bool { return !strings.HasPrefix(r.Source, "habeas_") }),
			map[string]string{"subject export has the ledgers": "0 records of the ledgers, want 20"},
		},
		"the restrictions come first": {
			sortedBy(func(r domain.ExportRecord) string {
				return map[string]string{domain.ConsentLedgerSource: "3", domain.RestrictionLedgerSource: "2"}[r.Source]
			}),
			map[string]string{"subject export has the ledgers": "where habeas_consent_records.purpose"},
		},
		"the lines of the ledgers by the instant": {
			changesExport(func(records []domain.ExportRecord) []domain.ExportRecord {
				first := slices.IndexFunc(records, func(r domain.ExportRecord) bool { return r.Source == domain.ConsentLedgerSource })
				if first >= 0 {
					second := slices.Clone(records[first+5 : first+10])
					copy(records[first+5:], records[first:first+5])
					copy(records[first:], second)
				}
				return records
			}),
			map[string]string{"subject export has the ledgers": "does not come in the order of intake"},
		},
		"the ledgers without what is NULL": {
			changesExported(func(r *domain.ExportRecord) bool { return !strings.HasPrefix(r.Source, "habeas_") || r.Value != nil }),
			map[string]string{"subject export has the ledgers": "18 records of the ledgers, want 20"},
		},
		"a table that is forgotten": {
			changesExported(func(r *domain.ExportRecord) bool { return r.Source != "order_lines" }), map[string]string{
				"subject export is complete": "are exported",
				"subject export is in order": "records, want",
			},
		},
		"a field that is forgotten": {
			changesExported(func(r *domain.ExportRecord) bool { return r.Field != "phone" }), map[string]string{
				"subject export is complete":     "are exported",
				"subject export has NULL as nil": "NULL is a value",
			},
		},
		"a last record that is lost": {
			changesExport(func(records []domain.ExportRecord) []domain.ExportRecord { return records[:max(0, len(records)-1)] }),
			map[string]string{
				"subject export has the ledgers": "is due",
				"subject export is complete":     "are exported",
				"subject export is in order":     "records, want",
				"subject export has NULL as nil": "NULL is a value",
			},
		},
		"a record too many": {
			changesExport(func(records []domain.ExportRecord) []domain.ExportRecord {
				return append(records, records[:min(1, len(records))]...)
			}),
			map[string]string{
				"subject export has the ledgers": "is due",
				"subject export is complete":     "are exported",
				"subject export is in order":     "records, want",
				"subject export has NULL as nil": "NULL is a value",
			},
		},
		"retained fields are left out": {
			changesExported(func(r *domain.ExportRecord) bool { return r.RetentionReason == nil }), map[string]string{
				"subject export has the ledgers": "of the ledgers, want",
				"subject export is complete":     "are exported",
				"subject export has NULL as nil": "NULL is a value",
			},
		},
		"NULL is left out": {
			changesExported(func(r *domain.ExportRecord) bool { return r.Value != nil }), map[string]string{
				"subject export has the ledgers":    "of the ledgers, want",
				"subject export has NULL as nil":    "NULL is a value",
				"subject export reads one snapshot": "records, and does not see what came in between",
			},
		},
		"NULL is empty": {
			changesExported(func(r *domain.ExportRecord) bool {
				if r.Value == nil {
					r.Value = ""
				}
				return true
			}),
			map[string]string{
				"subject export has the ledgers": "in the ledger",
				"subject export has NULL as nil": "is NULL and is exported as a string",
			},
		},
		"rows by number": {
			func(store *Store) {
				n := 0
				changesExported(func(r *domain.ExportRecord) bool { n++; r.Row = fmt.Sprint(n); return true })(store)
			},
			map[string]string{
				"subject export has the ledgers":    "is due",
				"subject export is complete":        "are exported",
				"subject export is in order":        "want people.name of",
				"subject export reads one snapshot": "records are exported while rows are added, want the",
				"subject export may follow appends": "records are exported, want",
			},
		},
		"rows by the last column of the key": {
			changesExported(func(r *domain.ExportRecord) bool {
				r.Row = r.Row[strings.LastIndex(r.Row, "\x1f")+1:]
				return true
			}),
			map[string]string{
				"subject export is complete": "are exported",
				"subject export is in order": "want people.name of",
			},
		},
		"numbers as texts": {exportedAs(func(n int64) string { return fmt.Sprint(n) }), map[string]string{
			"subject rectification reads back": "is exported as another one, of Go type string",
			"subject export has typed values":  "is exported as a string that is not the int",
		}},
		"decimals as texts": {exportedAs(func(f float64) string { return fmt.Sprint(f) }), map[string]string{
			"subject rectification reads back": "of type number is exported as another one, of Go type string",
			"subject export has typed values":  "people.score is exported as a string that is not the float",
		}},
		"decimals as Number": {exportedAs(func(f float64) domain.Number { return domain.Number(fmt.Sprint(f)) }), nil},
		"integers as int":    {exportedAs(func(n int64) int { return int(n) }), nil},
		"booleans as numbers": {exportedAs(func(bool) int64 { return 1 }), map[string]string{
			"subject export has the ledgers":   "in the ledger",
			"subject rectification reads back": "of type boolean is exported as another one, of Go type int",
			"subject export has typed values":  "people.active is exported as a int",
		}},
		"times elsewhere": {exportedAs(func(t time.Time) time.Time { return t.In(time.FixedZone("", 3600)) }), map[string]string{
			"subject export has the ledgers":   "in the ledger",
			"subject rectification reads back": "of type time is exported as another one, of Go type time.Time",
			"subject export has typed values":  "people.born is exported as a time.Time that is not the time.Time in the",
		}},
		"times as texts": {exportedAs(func(t time.Time) string { return t.Format(time.RFC3339Nano) }), map[string]string{
			"subject export has the ledgers":   "in the ledger",
			"subject rectification reads back": "of type time is exported as another one, of Go type string",
			"subject export has typed values":  "people.born is exported as a string that is not the time.Time in the",
		}},
		"JSON as texts": {exportedAs(func(j domain.JSON) string { return string(j) }), map[string]string{
			"subject rectification reads back": "of type json is exported as another one, of Go type string",
			"subject export has typed values":  "people.settings is exported as a string that is not the domain.JSON in",
		}},
		"bytes as texts": {exportedAs(func(b []byte) string { return string(b) }), map[string]string{
			"subject rectification reads back": "of type bytes is exported as another one, of Go type string",
			"subject export has typed values":  "people.photo is exported as a string that is not the []uint",
		}},
		"no category": {changesExported(func(r *domain.ExportRecord) bool { r.Category = ""; return true }), map[string]string{
			"subject export has the ledgers": "annotation of the ledger",
			"subject export says why":        "has another category than the data map",
		}},
		"no basis": {changesExported(func(r *domain.ExportRecord) bool { r.LegalBasis = nil; return true }), map[string]string{
			"subject export has the ledgers": "annotation of the ledger",
			"subject export says why":        "people.email has another legal basis than the data map",
		}},
		"an empty purpose": {
			changesExported(func(r *domain.ExportRecord) bool {
				if r.Purpose == nil {
					r.Purpose = new(string)
				}
				return true
			}),
			map[string]string{
				"subject export has the ledgers": "annotation of the ledger",
				"subject export says why":        "has another purpose than the data map",
			},
		},
		"no reason": {changesExported(func(r *domain.ExportRecord) bool { r.RetentionReason = nil; return true }), map[string]string{
			"subject export has the ledgers": "annotation of the ledger",
			"subject export says why":        "invoices.address has another retention reason than the data map",
		}},
		"years of 365 days": {
			changesExported(func(r *domain.ExportRecord) bool {
				if r.ExpiresAt != nil {
					end := issued.AddDate(0, 0, 3650)
					r.ExpiresAt = &end
				}
				return true
			}),
			map[string]string{
				"subject export says why": "invoices.address has another end of retention than the data map",
			},
		},
		"an end of all that is exported": {
			changesExported(func(r *domain.ExportRecord) bool {
				if r.ExpiresAt == nil {
					end := noon
					r.ExpiresAt = &end
				}
				return true
			}),
			map[string]string{
				"subject export has the ledgers": "annotation of the ledger",
				"subject export has NULL as nil": "expires, and nobody knows since when it is kept",
				"subject export says why":        "has another end of retention than the data map",
			},
		},
		"records of others": {
			func(store *Store) {
				rows := store.Rows
				changesSubjects(func(s *brokenSubjects) {
					s.export = func(ctx context.Context, id domain.SubjectID, yield func(domain.ExportRecord) error) error {
						err := s.good.Export(ctx, id, yield)
						for _, other := range mistaken(rows, id, sameTenant) {
							if err == nil {
								err = s.good.Export(ctx, other, yield)
							}
						}
						return err
					}
				})(store)
			},
			map[string]string{
				"subject export has the ledgers": "of the ledgers, want",
				"subject export is complete":     "are exported",
			},
		},
	}
}
