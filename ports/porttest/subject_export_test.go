package porttest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/ports"
)

// changesExport returns a function that makes a store defective: its Export passes the list of records through fn
// before it calls yield.
func changesExport(fn func([]domain.ExportRecord) []domain.ExportRecord) func(*Store) {
	return brokenSubjects{export: func(c subjectCall) error {
		var records []domain.ExportRecord
		err := c.Export(c.ctx, c.id, func(record domain.ExportRecord) error {
			records = append(records, record)
			return nil
		})
		if err != nil {
			return err
		}
		for _, record := range fn(records) {
			if err := c.yield(record); err != nil {
				return err
			}
		}
		return nil
	}}.breaks
}

// changesExported returns a function that makes a store defective: its Export passes each record through fn. It omits a
// record if fn returns false.
func changesExported(fn func(record *domain.ExportRecord) (keep bool)) func(*Store) {
	return changesExport(func(records []domain.ExportRecord) (kept []domain.ExportRecord) {
		for _, record := range records {
			if fn(&record) {
				kept = append(kept, record)
			}
		}
		return kept
	})
}

func exportedAs[From, To any](fn func(From) To) func(*Store) {
	return changesExported(func(record *domain.ExportRecord) bool {
		if value, ok := record.Value.(From); ok {
			record.Value = fn(value)
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

func subjectExportDefects() defects {
	return defects{
		"rows by the text of their keys": {sortedBy(func(r domain.ExportRecord) string {
			return fmt.Sprintf("%d %s",
				slices.Index([]string{"people", "addresses", "messages", "orders", "order_lines", "invoices"}, r.Source), r.Row)
		}), found{"is due": {subjectExportHasTheLedgers}, "want addresses.street of": {subjectExportIsInOrder}}},
		"tables by name": {sortedBy(func(r domain.ExportRecord) string { return r.Source }), found{
			"is addresses.street of": {subjectExportIsInOrder},
		}},
		"fields by name": {changesExport(func(records []domain.ExportRecord) []domain.ExportRecord {
			slices.SortStableFunc(records, func(a, b domain.ExportRecord) int {
				if a.Source != b.Source || a.Row != b.Row {
					return 0
				}
				return strings.Compare(a.Field, b.Field)
			})
			return records
		}), found{"is due": {subjectExportHasTheLedgers}, "want people.name of": {subjectExportIsInOrder}}},
		"the ledgers are forgotten": {
			changesExported(func(r *domain.ExportRecord) bool { return !strings.HasPrefix(r.Source, "habeas_") }),
			found{"0 records of the ledgers, want 20": {subjectExportHasTheLedgers}},
		},
		"the restrictions come first": {sortedBy(func(r domain.ExportRecord) string {
			return map[string]string{datamap.ConsentLedgerSource: "3", datamap.RestrictionLedgerSource: "2"}[r.Source]
		}), found{"where habeas_consent_records.purpose": {subjectExportHasTheLedgers}}},
		"the lines of the ledgers by the instant": {changesExport(func(records []domain.ExportRecord) []domain.ExportRecord {
			first := slices.IndexFunc(records,
				func(r domain.ExportRecord) bool { return r.Source == datamap.ConsentLedgerSource })
			if first >= 0 {
				second := slices.Clone(records[first+5 : first+10])
				copy(records[first+5:], records[first:first+5])
				copy(records[first:], second)
			}
			return records
		}), found{"does not come in the order of intake": {subjectExportHasTheLedgers}}},
		"the ledgers without NULL values": {changesExported(func(r *domain.ExportRecord) bool {
			return !strings.HasPrefix(r.Source, "habeas_") || r.Value != nil
		}), found{"18 records of the ledgers, want 20": {subjectExportHasTheLedgers}}},
		"a table that is forgotten": {
			changesExported(func(r *domain.ExportRecord) bool { return r.Source != "order_lines" }),
			found{"the export of customer": {subjectExportIsComplete}, "records, want": {subjectExportIsInOrder}},
		},
		"a field that is forgotten": {
			changesExported(func(r *domain.ExportRecord) bool { return r.Field != "phone" }),
			found{"the export of customer": {subjectExportIsComplete}},
		},
		"a last record that is lost": {
			changesExport(func(records []domain.ExportRecord) []domain.ExportRecord { return records[:max(0, len(records)-1)] }),
			found{"records, want": {subjectExportIsInOrder}},
		},
		"a record too many": {changesExport(func(records []domain.ExportRecord) []domain.ExportRecord {
			return append(records, records[:min(1, len(records))]...)
		}), found{"the export of customer": {subjectExportIsComplete}}},
		"retained fields are left out": {
			changesExported(func(r *domain.ExportRecord) bool { return r.RetentionReason == nil }),
			found{"the export of customer": {subjectExportIsComplete}},
		},
		"NULL is left out": {changesExported(func(r *domain.ExportRecord) bool { return r.Value != nil }), found{
			"including NULL values": {subjectExportHasNULLAsNil},
		}},
		"NULL is empty": {changesExported(func(r *domain.ExportRecord) bool {
			if r.Value == nil {
				r.Value = ""
			}
			return true
		}), found{"is NULL and is exported as a string": {subjectExportHasNULLAsNil}}},
		"rows by number": {func(store *Store) {
			n := 0
			changesExported(func(r *domain.ExportRecord) bool { n++; r.Row = fmt.Sprint(n); return true })(store)
		}, found{"want people.name of": {subjectExportIsInOrder}}},
		"rows by the last column of the key": {changesExported(func(r *domain.ExportRecord) bool {
			r.Row = r.Row[strings.LastIndex(r.Row, "\x1f")+1:]
			return true
		}), found{"the export of customer": {subjectExportIsComplete}, "want people.name of": {subjectExportIsInOrder}}},
		"numbers as texts": {exportedAs(func(n int64) string { return fmt.Sprint(n) }), found{
			"is exported as a string that is not the int": {subjectExportHasTypedValues},
		}},
		"decimals as texts": {exportedAs(func(f float64) string { return fmt.Sprint(f) }), found{
			"people.score is exported as a string that is not the float": {subjectExportHasTypedValues},
		}},
		"decimals as Number": {exportedAs(func(f float64) domain.Number { return domain.Number(fmt.Sprint(f)) }), nil},
		"integers as int":    {exportedAs(func(n int64) int { return int(n) }), nil},
		"booleans as numbers": {exportedAs(func(bool) int64 { return 1 }), found{
			"people.active is exported as a int": {subjectExportHasTypedValues},
		}},
		"times elsewhere": {exportedAs(func(t time.Time) time.Time { return t.In(time.FixedZone("", 3600)) }), found{
			"people.born is exported as a time.Time that is not the time.Time in the": {subjectExportHasTypedValues},
		}},
		"times as texts": {exportedAs(func(t time.Time) string { return t.Format(time.RFC3339Nano) }), found{
			"people.born is exported as a string that is not the time.Time in the": {subjectExportHasTypedValues},
		}},
		"JSON as texts": {exportedAs(func(j domain.JSON) string { return string(j) }), found{
			"people.settings is exported as a string that is not the domain.JSON in": {subjectExportHasTypedValues},
		}},
		"bytes as texts": {exportedAs(func(b []byte) string { return string(b) }), found{
			"people.photo is exported as a string that is not the []uint": {subjectExportHasTypedValues},
		}},
		"no category": {changesExported(func(r *domain.ExportRecord) bool { r.Category = ""; return true }), found{
			"has another category than the data map": {subjectExportStatesLegalGrounds},
		}},
		"no basis": {changesExported(func(r *domain.ExportRecord) bool { r.LegalBasis = nil; return true }), found{
			"people.email has another legal basis than the data map": {subjectExportStatesLegalGrounds},
		}},
		"an empty purpose": {changesExported(func(r *domain.ExportRecord) bool {
			if r.Purpose == nil {
				r.Purpose = new(string)
			}
			return true
		}), found{"has another purpose than the data map": {subjectExportStatesLegalGrounds}}},
		"no reason": {changesExported(func(r *domain.ExportRecord) bool { r.RetentionReason = nil; return true }), found{
			"invoices.address has another retention reason than the data map": {subjectExportStatesLegalGrounds},
		}},
		"years of 365 days": {changesExported(func(r *domain.ExportRecord) bool {
			if r.ExpiresAt != nil {
				end := issued.AddDate(0, 0, 3650)
				r.ExpiresAt = &end
			}
			return true
		}), found{"invoices.address has another end of retention than the data map": {subjectExportStatesLegalGrounds}}},
		"an end of all that is exported": {changesExported(func(r *domain.ExportRecord) bool {
			if r.ExpiresAt == nil {
				end := noon
				r.ExpiresAt = &end
			}
			return true
		}), found{"has another end of retention than the data map": {subjectExportStatesLegalGrounds}}},
		"records of others": {func(store *Store) {
			rows := store.Rows
			brokenSubjects{export: func(c subjectCall) error {
				err := c.export()
				for _, other := range confusedWith(rows, c.id, sameTenant) {
					if err == nil {
						err = c.Export(c.ctx, other, c.yield)
					}
				}
				return err
			}}.breaks(store)
		}, found{"of the ledgers, want": {subjectExportHasTheLedgers}, "the export of customer": {subjectExportIsComplete}}},
	}
}

func subjectYieldDefects() defects {
	return defects{
		"yields go on after an error": {brokenSubjects{export: func(c subjectCall) error {
			var failure error
			err := c.Export(c.ctx, c.id,
				func(r domain.ExportRecord) error { failure = errors.Join(failure, c.yield(r)); return nil })
			return errors.Join(err, failure)
		}}.breaks, found{"yield was called": {subjectExportEndsWithYield}}},
		"an error of yield that is swallowed": {brokenSubjects{export: func(c subjectCall) error {
			enough := false
			err := c.Export(c.ctx, c.id, func(record domain.ExportRecord) error {
				err := c.yield(record)
				enough = enough || err != nil
				return err
			})
			if enough {
				return nil
			}
			return err
		}}.breaks, found{"Export returned <nil> and Do returned <nil>": {subjectExportEndsWithYield}}},
		"a surrogate is a value": {changesExported(func(record *domain.ExportRecord) bool {
			if record.Erased {
				record.Erased, record.Value = false, "anon-"
			}
			return true
		}), found{"people.email is marked as erased: false, want true": {subjectExportOmitsSurrogates}}},
		"erased cells keep their surrogates": {changesExported(func(record *domain.ExportRecord) bool {
			if record.Erased {
				record.Value = "anon-"
			}
			return true
		}), found{"people.email is marked as erased: true, want true": {subjectExportOmitsSurrogates}}},
		"cells of a new life are erased": {
			brokenSubjects{register: func(subjectCall) error { return nil }}.breaks, found{
				"who was registered after the erasure": {subjectExportOmitsSurrogates},
			},
		},
		"all of a subject that was erased is": {changesExported(func(record *domain.ExportRecord) bool {
			if record.Row == "1999" {
				record.Erased = true
			}
			return true
		}), found{"orders.note is marked as erased: true, want false": {subjectExportOmitsSurrogates}}},
		"an error of yield that is another one": {brokenSubjects{export: func(c subjectCall) error {
			err := c.export()
			if errors.Is(err, errEnough) {
				err = &domain.Error{Op: "export", Message: "failed"}
			}
			return err
		}}.breaks, found{
			"Export returned habeas: export: failed and Do returned habeas: export": {subjectExportEndsWithYield},
		}},
		"a snapshot for each record": {func(store *Store) {
			sessions := store.Sessions
			brokenSubjects{export: func(c subjectCall) error {
				yielded := 0
				once := func(record domain.ExportRecord) error { yielded++; return errors.Join(c.yield(record), errUndo) }
				if err := c.Export(c.ctx, c.id, once); !errors.Is(err, errUndo) || errors.Is(err, errEnough) {
					return err
				}
				return sessions.Do(context.WithoutCancel(context.Background()),
					func(ctx context.Context, other ports.Session) error {
						seen := 0
						return other.Subjects().Export(ctx, c.id, func(record domain.ExportRecord) error {
							if seen++; seen <= yielded {
								return nil
							}
							return c.yield(record)
						})
					})
			}}.breaks(store)
		}, found{"records are exported while rows are added, want the": {subjectExportReadsOneSnapshot}}},
		"an export of all committed rows, at any time": {func(store *Store) {
			sessions := store.Sessions
			brokenSubjects{export: func(c subjectCall) error {
				return sessions.Do(context.Background(), func(ctx context.Context, other ports.Session) error {
					return other.Subjects().Export(ctx, c.id, c.yield)
				})
			}}.breaks(store)
		}, found{"in its session": {subjectExportComesBeforeWrites}}},
		"an append that is held to be a write": {changesSessions(func(s ports.Session) replacedStores {
			appended := false
			o := brokenOutbox{wholeOutbox: wholeOutbox{Outbox: s.Outbox()}, enqueue: func(c outboxCall) error {
				appended = true
				return c.enqueue()
			}}
			broken := brokenSubjects{SubjectStore: s.Subjects(), export: func(c subjectCall) error {
				if appended {
					return &domain.Error{Code: domain.ErrSession, Op: "export", Message: "must come first"}
				}
				return c.export()
			}}
			return replacedStores{Session: s, subjects: broken, outbox: o}
		}), found{"an export after appends failed: habeas: export: must come first": {subjectExportMayFollowAppends}}},
	}
}
