package isolation

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/big"
	"reflect"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/ports"
)

func TestAnExportHoldsTheSubjectsCellsAndNobodyElses(t *testing.T) {
	seen := &tally{features: map[string]int{}}
	onEach(t, func(t *testing.T, e engine) {
		rapid.Check(t, func(t *rapid.T) {
			w := newWorld(t, e, seen)
			before := w.dump()
			for i, subject := range w.subjects {
				w.checkBundle(i, w.export(subject))
				w.checkQueriedKeys(i, before)
			}
			if !reflect.DeepEqual(before, w.dump()) {
				t.Error("an export has changed something")
			}
		})
	})
	seen.report(t)
}

func (w *world) export(subject domain.Subject) (bundle domain.ExportBundle) {
	w.do(func(ctx context.Context, s ports.Session) (err error) {
		bundle, err = w.exporter.Export(ctx, s, subject)
		return err
	})
	return bundle
}

// place is the origin of a record.
type place struct{ source, row, field string }

// checkBundle checks that the export has one record for each annotated cell of the subject's rows, except for columns
// with export:no. If no column of a table is annotated, the export has the keys of the subject's rows instead.
func (w *world) checkBundle(subject int, bundle domain.ExportBundle) {
	records := map[place]domain.ExportRecord{}
	for _, record := range bundle.Records {
		records[place{record.Source, record.Row, record.Field}] = record
	}
	expected := 0
	for _, t := range w.mapped() {
		for _, r := range t.rows {
			for _, c := range t.columns {
				if r.owner != subject || !w.exports(t, c) {
					continue
				}
				expected++
				at := place{w.qualifier + t.name, domain.CanonicalTuple(t.keyTexts(r)), c.Name}
				record, exported := records[at]
				switch {
				case !exported:
					w.Errorf("%q is not exported", at)
				case c.Personal == nil: // the exported key is the record's Row, too
				case !sameValue(c.kind.Type, r.cells[c.Name], record.Value):
					w.Errorf("%q is exported as %#v, not %#v", at, record.Value, r.cells[c.Name])
				default:
					w.checkAnnotation(at, t, c, r, record)
				}
			}
		}
	}
	if len(bundle.Records) != expected || len(records) != expected {
		w.Errorf("%d records about %d cells, not about %d", len(bundle.Records), len(records), expected)
	}
}

// exports reports whether an export contains the column. If the table has annotated columns, an export contains them,
// except those with export:no. Otherwise, it contains the keys of the table.
func (w *world) exports(t *table, c *column) bool {
	if slices.ContainsFunc(t.columns, func(c *column) bool { return c.Personal != nil }) {
		return c.Personal != nil && c.Personal.Export != datamap.ExportNo
	}
	declared, _ := w.declared.Table(w.qualifier + t.name)
	return slices.ContainsFunc(w.declared.ExportedColumns(declared), func(key datamap.Column) bool {
		return key.Name == c.Name
	})
}

// checkAnnotation checks that a record has the annotation of its column in the data map.
func (w *world) checkAnnotation(at place, t *table, c *column, r *row, record domain.ExportRecord) {
	expires := ""
	if c.Personal.Since != "" {
		if since, ok := r.cells[c.Personal.Since].(time.Time); ok {
			p := c.Personal.Retain
			expires = endOf(since, p).Format(time.RFC3339Nano)
		}
	}
	want := fmt.Sprintf("%s %q %q %q %q", c.Personal.Category, c.Personal.Basis, c.Personal.Purpose, c.Personal.Reason,
		expires)
	got := fmt.Sprintf("%s %q %q %q %q", record.Category, text(record.LegalBasis), text(record.Purpose),
		text(record.RetentionReason), text(record.ExpiresAt))
	if got != want {
		w.Errorf("%q in %s is exported as %s, not %s", at, t.name, got, want)
	}
}

// text formats a pointer. It returns "" for nil.
func text[T any](value *T) string {
	if value == nil {
		return ""
	}
	if instant, ok := any(*value).(time.Time); ok {
		return instant.Format(time.RFC3339Nano)
	}
	return fmt.Sprint(*value)
}

// sameValue reports whether the exported value got equals the inserted value want. For some column types, the two
// values have different Go types.
func sameValue(t datamap.ColumnType, want, got any) bool {
	if want == nil || got == nil {
		return want == nil && got == nil
	}
	switch t { //nolint:exhaustive // values of other types are exported unchanged
	case datamap.TypeNumber:
		a, readA := new(big.Rat).SetString(fmt.Sprint(want))
		b, readB := new(big.Rat).SetString(fmt.Sprint(got))
		return readA && readB && a.Cmp(b) == 0
	case datamap.TypeTime:
		if text, ok := got.(string); ok { // a time without a zone, or a date
			got = withoutZone(text)
		}
		instant, ok := got.(time.Time)
		return ok && instant.Equal(want.(time.Time))
	case datamap.TypeJSON:
		return sameJSON(want.(string), got)
	case datamap.TypeArray:
		return sameJSON(want.(list).json, got)
	case datamap.TypeBytes:
		binary, ok := got.([]byte)
		return ok && bytes.Equal(want.([]byte), binary)
	default:
		return got == want
	}
}

// withoutZone returns the time that a text without a zone means in UTC, or the zero time.
func withoutZone(text string) time.Time {
	for _, layout := range []string{time.DateOnly, "2006-01-02T15:04:05.999999"} {
		if at, err := time.Parse(layout, text); err == nil {
			return at
		}
	}
	return time.Time{}
}

func sameJSON(want string, got any) bool {
	document, ok := got.(domain.JSON)
	var a, b any
	return ok && json.Unmarshal([]byte(want), &a) == nil && json.Unmarshal([]byte(document), &b) == nil &&
		reflect.DeepEqual(a, b)
}
