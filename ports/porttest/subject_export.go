package porttest

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/domain/plan"
	"github.com/habeas-data/habeas/ports"
)

func (s shopUnderTest) export(t testing.TB, who customer) (records []domain.ExportRecord) {
	t.Helper()
	s.do(t, func(ctx context.Context, subjects ports.SubjectStore) error {
		records = nil
		return subjects.Export(ctx, who.id(t), func(record domain.ExportRecord) error {
			records = append(records, record)
			return nil
		})
	})
	return records
}

// exported returns the records that an export of the customer must contain. It builds them from the rows of all tables.
func exported(who customer, all content) (records []domain.ExportRecord) {
	for _, table := range DataMap().Tables() {
		for _, row := range all.of(who)[table.Name] { // ordered by primary key
			for _, column := range table.Exported() {
				record := domain.ExportRecord{
					Source: table.Name, Field: column.Name, Row: nameOf(table, row), Category: column.Personal.Category,
					Value: row[column.Name], LegalBasis: orNil(column.Personal.Basis), Purpose: orNil(column.Personal.Purpose),
					RetentionReason: orNil(column.Personal.Reason),
				}
				if start, ok := plan.ReadStart(row[column.Personal.Since]); ok {
					ends, _ := DataMap().Duty(*column.Personal).End(start)
					record.ExpiresAt = &ends
				}
				records = append(records, record)
			}
		}
	}
	return records
}

// nameOf returns the text by which an export identifies a row.
func nameOf(table datamap.Table, row Row) string {
	var key []string
	for _, column := range table.PrimaryKey {
		key = append(key, fmt.Sprint(row[column]))
	}
	return domain.CanonicalTuple(key)
}

// orNil returns a pointer to the value, or nil for the zero value.
func orNil[T comparable](value T) *T {
	var zero T
	if value == zero {
		return nil
	}
	return &value
}

// cellName returns the name of a cell for the message of a failure. The name contains no value.
func cellName(record domain.ExportRecord) string {
	return fmt.Sprintf("%s.%s of %q", record.Source, record.Field, record.Row)
}

func cells(records []domain.ExportRecord) []string {
	names := make([]string, len(records))
	for i, record := range records {
		names[i] = cellName(record)
	}
	return names
}

func subjectExportIsComplete(t testing.TB, h StoreHarness) {
	s := h.shop(t)
	for _, who := range []customer{zoe, others[0], others[1]} {
		got, want := cells(s.export(t, who)), cells(exported(who, s.content(t)))
		slices.Sort(got)
		slices.Sort(want)
		assert(t, slices.Equal(got, want), "the export of customer %d is\n%q\nwant\n%q", who.ids, got, want)
	}
}

func subjectExportIsInOrder(t testing.TB, h StoreHarness) {
	s := shopUnderTest{h.open(t)}
	s.Insert(t, "people", zoe.person())
	// The export must order the rows by their ids as numbers. The order of the ids as texts, and the order of insertion,
	// would be different.
	for _, id := range []int64{1010, 1002, 1100, 1001, -1, 900} {
		s.Insert(t, "orders", zoe.row(id, Row{"note": "note"}))
		s.Insert(t, "addresses", zoe.row(id, Row{"street": "street"}))
	}
	for _, order := range []int64{1100, 900, 1010} {
		for _, line := range []int64{10, 9, 2, 100, -3} {
			s.Insert(t, "order_lines", Row{"order_id": order, "line": line, "engraving": "engraving"})
		}
	}
	var want []string
	for _, table := range DataMap().Tables() {
		rows := map[string][]string{
			"people": {domain.CanonicalTuple([]string{zoe.tenant, "7"})},
			"orders": {"-1", "900", "1001", "1002", "1010", "1100"}, "addresses": {"-1", "900", "1001", "1002", "1010", "1100"},
		}[table.Name]
		if table.Name == "order_lines" {
			for _, order := range []int{900, 1010, 1100} {
				for _, line := range []int{-3, 2, 9, 10, 100} {
					rows = append(rows, domain.CanonicalTuple([]string{strconv.Itoa(order), strconv.Itoa(line)}))
				}
			}
		}
		for _, row := range rows {
			for _, column := range table.Exported() {
				want = append(want, cellName(domain.ExportRecord{Source: table.Name, Field: column.Name, Row: row}))
			}
		}
	}
	got := cells(s.export(t, zoe))
	for i := range min(len(got), len(want)) {
		if got[i] != want[i] {
			t.Fatalf("record %d is %s, want %s", i, got[i], want[i])
		}
	}
	assert(t, len(got) == len(want), "%d records, want %d", len(got), len(want))
}

func subjectExportHasTypedValues(t testing.TB, h StoreHarness) {
	s := h.shop(t)
	want := map[string]any{}
	for _, record := range exported(zoe, s.content(t)) {
		want[cellName(record)] = record.Value
	}
	for _, record := range s.export(t, zoe) {
		if value, known := want[cellName(record)]; known && !same(record.Value, value) {
			t.Errorf("%s.%s is exported as a %T that is not the %T in the table",
				record.Source, record.Field, record.Value, value)
		}
	}
}

func subjectExportHasNULLAsNil(t testing.TB, h StoreHarness) {
	s := shopUnderTest{h.open(t)}
	s.Insert(t, "people", Row{"tenant": zoe.tenant, "number": zoe.number})
	s.Insert(t, "invoices", zoe.row(zoe.ids, nil))
	records := s.export(t, zoe)
	want := len(DataMap().SubjectTable().Exported()) + 2
	assert(t, len(records) == want, "%d records, want %d, including NULL values", len(records), want)
	for _, record := range records {
		assert(t, record.Value == nil, "%s.%s is NULL and is exported as a %T", record.Source, record.Field, record.Value)
		assert(t, record.ExpiresAt == nil,
			"%s.%s expires, but the start of its retention is unknown", record.Source, record.Field)
	}
}

func subjectExportStatesLegalGrounds(t testing.TB, h StoreHarness) {
	s := h.shop(t)
	want := map[string]domain.ExportRecord{}
	for _, record := range exported(zoe, s.content(t)) {
		want[cellName(record)] = record
	}
	end := want["invoices.address of \"1000\""].ExpiresAt
	must(t, end != nil && end.Equal(time.Date(2034, 3, 1, 0, 0, 0, 0, time.UTC)),
		"the suite itself is wrong about the end of ten years")
	for _, got := range s.export(t, zoe) {
		want, known := want[cellName(got)]
		if !known {
			continue
		}
		for what, differs := range map[string]bool{
			"category": got.Category != want.Category, "legal basis": differ(got.LegalBasis, want.LegalBasis),
			"purpose": differ(got.Purpose, want.Purpose), "retention reason": differ(got.RetentionReason, want.RetentionReason),
			"end of retention": (got.ExpiresAt == nil) != (want.ExpiresAt == nil) ||
				got.ExpiresAt != nil && !same(*got.ExpiresAt, *want.ExpiresAt),
		} {
			assert(t, !differs, "%s.%s has another %s than the data map", got.Source, got.Field, what)
		}
	}
}

func differ[T comparable](a, b *T) bool { return (a == nil) != (b == nil) || a != nil && *a != *b }

// The records are in the order of recording, which differs from the order of their instants.
func subjectExportHasTheLedgers(t testing.TB, h StoreHarness) {
	s := h.shop(t)
	id := zoe.id(t)
	rows := len(s.export(t, zoe))
	consents := []domain.ConsentRecord{consentRecord(id, "v1", true, 5), consentRecord(id, "v2", false, 0)}
	news, all := withReason(id, pointer("news"), "api", "wrong"), restrictionRecord(id, nil, "api", false, -5)
	for _, record := range append(consents, grant(others[0].id(t), "ads", 0)) {
		do(t, s.Store, func(ctx context.Context, s ports.Session) error { return s.Consents().Append(ctx, record) })
	}
	for _, record := range []domain.RestrictionRecord{news, restrict(others[0].id(t), nil, 0), all} {
		do(t, s.Store, func(ctx context.Context, s ports.Session) error { return s.Restrictions().Append(ctx, record) })
	}
	var want []any
	for _, r := range consents {
		want = append(want, r.Purpose, r.PolicyVersion, r.Granted, r.RecordedAt, r.Source)
	}
	want = append(want, "news", true, "wrong", news.RecordedAt, "api", nil, false, nil, all.RecordedAt, "api")
	s.expectLedgers(t, rows, want)

	do(t, s.Store, func(ctx context.Context, s ports.Session) error { return s.Restrictions().ClearReasons(ctx, id) })
	want[12] = nil
	s.expectLedgers(t, rows, want)
}

// expectLedgers checks the end of zoe's export: values holds the wanted values of two records of each ledger, in order.
// They must follow after the given number of records, which are about the rows of zoe.
func (s shopUnderTest) expectLedgers(t testing.TB, rows int, values []any) {
	t.Helper()
	records := s.export(t, zoe)
	if len(records) != rows+len(values) {
		t.Errorf("%d records of the ledgers, want %d", len(records)-rows, len(values))
		return
	}
	records = records[rows:]
	for _, ledger := range plan.LedgerTables() {
		last := int64(-1)
		for range 2 {
			line := slices.Clone(records[:len(ledger.Personal())])
			records = records[len(line):]
			seq, err := strconv.ParseInt(line[0].Row, 10, 64)
			if err != nil || seq <= last {
				t.Errorf("line %q of %s does not come in the order of intake", line[0].Row, ledger.Name)
			}
			last = seq
			for j, column := range ledger.Personal() {
				expectLedgerField(t, line[j], ledger.Name, line[0].Row, column, values[j])
			}
			values = values[len(line):]
		}
	}
}

func expectLedgerField(t testing.TB, got domain.ExportRecord, source, row string, column datamap.Column, value any) {
	t.Helper()
	annotation := column.Personal
	switch {
	case got.Source != source || got.Field != column.Name || got.Row != row:
		t.Errorf("%s comes where %s.%s of %q is due", cellName(got), source, column.Name, row)
	case !same(got.Value, value):
		t.Errorf("%s is exported as a %T that is not the %T in the ledger", cellName(got), got.Value, value)
	case got.Category != annotation.Category || differ(got.LegalBasis, orNil(annotation.Basis)) ||
		differ(got.RetentionReason, orNil(annotation.Reason)) || got.Purpose != nil || got.ExpiresAt != nil:
		t.Errorf("%s has not the annotation of the ledger", cellName(got))
	}
}
