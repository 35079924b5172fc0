package porttest

import (
	"context"
	"slices"
	"strconv"
	"testing"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports"
)

// subjectExportHasTheLedgers appends lines of which the instants are not in the order of intake.
func subjectExportHasTheLedgers(t testing.TB, h StoreHarness) {
	s := h.shop(t)
	id := zoe.id(t)
	rows := len(s.export(t, zoe))
	consents := []domain.ConsentRecord{decided(id, "v1", true, 5), decided(id, "v2", false, 0)}
	news, all := because(id, pointer("news"), "api", "wrong"), ordered(id, nil, "api", false, -5)
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

// expectLedgers checks what comes after the rows of the application: two lines of each ledger, with these values.
func (s shopUnderTest) expectLedgers(t testing.TB, rows int, values []any) {
	t.Helper()
	records := s.export(t, zoe)
	if len(records) != rows+len(values) {
		t.Errorf("%d records of the ledgers, want %d", len(records)-rows, len(values))
		return
	}
	records = records[rows:]
	for _, ledger := range domain.LedgerTables() {
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

func expectLedgerField(t testing.TB, got domain.ExportRecord, source, row string, column domain.Column, value any) {
	t.Helper()
	annotation := column.Personal
	switch {
	case got.Source != source || got.Field != column.Name || got.Row != row:
		t.Errorf("%s comes where %s.%s of %q is due", cell(got), source, column.Name, row)
	case !same(got.Value, value):
		t.Errorf("%s is exported as a %T that is not the %T in the ledger", cell(got), got.Value, value)
	case got.Category != annotation.Category || differ(got.LegalBasis, given(annotation.Basis)) ||
		differ(got.RetentionReason, given(annotation.Reason)) || got.Purpose != nil || got.ExpiresAt != nil:
		t.Errorf("%s has not the annotation of the ledger", cell(got))
	}
}
