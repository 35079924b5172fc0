package rectification_test

import (
	"bytes"
	"encoding/json"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
)

const aUUID = "8c2b5e6a-0f3d-4a51-9d0e-2f6b7a8c9d0e"

// planned returns the value that a correction writes into the column.
func planned(tb testing.TB, c datamap.Column, value any) (any, error) {
	tb.Helper()
	c.Name, c.Personal = "c", &datamap.Annotation{Category: domain.CategoryContact}
	plan, err := planner.Plan(holding(tb, c), domain.Corrections{domain.CategoryContact: value}.List(true), false)
	if err != nil {
		return nil, err
	}
	return plan.Steps[0].Values[0].Value, nil
}

func TestValuesThatFitAreConvertedToTheirCanonicalForm(t *testing.T) {
	west := time.FixedZone("west", -7*3600)
	for _, c := range []struct {
		columnType  datamap.ColumnType
		given, want any
	}{
		{datamap.TypeText, "", ""},
		{datamap.TypeText, "42", "42"},
		{datamap.TypeSmallInt, int8(-7), int64(-7)},
		{datamap.TypeSmallInt, math.MinInt16, int64(math.MinInt16)},
		{datamap.TypeSmallInt, uint8(255), int64(255)},
		{datamap.TypeInteger, int32(math.MaxInt32), int64(math.MaxInt32)},
		{datamap.TypeInteger, uint16(65535), int64(65535)},
		{datamap.TypeInteger, 7.0, int64(7)}, // encoding/json decodes a number to float64
		{datamap.TypeBigInt, int64(math.MinInt64), int64(math.MinInt64)},
		{datamap.TypeBigInt, uint64(math.MaxInt64), int64(math.MaxInt64)},
		{datamap.TypeBigInt, float64(1 << 53), int64(1 << 53)},
		{datamap.TypeBigInt, uint32(7), int64(7)},
		{datamap.TypeBigInt, json.Number("9007199254740993"), int64(1<<53 + 1)},
		{datamap.TypeSmallInt, json.Number("-7"), int64(-7)},
		{datamap.TypeNumber, json.Number("9007199254740993"), int64(1<<53 + 1)},
		{datamap.TypeNumber, json.Number("18446744073709551615"), domain.Number("18446744073709551615")},
		{datamap.TypeNumber, json.Number("0.10"), domain.Number("0.10")},
		{datamap.TypeNumber, int16(7), int64(7)},
		{datamap.TypeNumber, 12.5, 12.5},
		{datamap.TypeNumber, float32(12.5), 12.5},
		{datamap.TypeNumber, uint64(math.MaxUint64), domain.Number("18446744073709551615")},
		{datamap.TypeNumber, domain.Number("0.10"), domain.Number("0.10")},
		{datamap.TypeNumber, domain.Number("0e-9"), domain.Number("0e-9")},
		{datamap.TypeBoolean, false, false},
		{datamap.TypeTime, noon.In(west).Add(999), noon},
		{datamap.TypeTime, "2024-03-01T13:00:00.0000019+01:00", noon.Add(time.Microsecond)},
		{datamap.TypeTime, "2024-02-29", time.Date(2024, 2, 29, 0, 0, 0, 0, time.UTC)},
		{datamap.TypeTime, time.Time{}, time.Time{}},
		{datamap.TypeUUID, aUUID, aUUID},
		{datamap.TypeJSON, domain.JSON(`{"a": [1]}`), domain.JSON(`{"a": [1]}`)},
		{datamap.TypeBytes, []byte{}, []byte{}},
		{datamap.TypeBytes, []byte{0, 255}, []byte{0, 255}},
	} {
		got, err := planned(t, datamap.Column{Type: c.columnType}, c.given)
		if err != nil || !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s of %T %v: got %T %v, %v", c.columnType, c.given, c.given, got, got, err)
		}
	}
}

func TestValuesOfTheWrongTypeAreRefused(t *testing.T) {
	type name string
	whatNoneTakes := []any{
		nil, name("x"), []string{"x"}, map[string]any{}, new(string), struct{}{}, math.NaN(), math.Inf(-1),
	}
	for columnType, refused := range map[datamap.ColumnType][]any{
		datamap.TypeText: {1, 1.5, true, noon, []byte("x"), domain.Number("1"), domain.JSON(`"x"`), "a\x00b", "a\xff"},
		datamap.TypeSmallInt: {
			"1", math.MaxInt16 + 1, math.MinInt16 - 1, 1.5, true, domain.Number("1"),
			json.Number("32768"),
		},
		datamap.TypeInteger: {"1", int64(math.MaxInt32 + 1), int64(math.MinInt32 - 1), math.Nextafter(7, 8)},
		datamap.TypeBigInt: {
			"1", uint64(math.MaxInt64 + 1), float64(1<<53 + 2), 1e19, json.Number("9223372036854775808"), json.Number("1.5"),
		},
		datamap.TypeNumber: {
			"1", true, domain.Number("1e309"), domain.Number("1e-400"), domain.Number("0x1"), domain.Number("NaN"),
			json.Number("1e309"), json.Number("+1"), json.Number("007"), json.Number(""), json.Number("1_0"),
		},
		datamap.TypeBoolean: {"true", 1, 0.0},
		datamap.TypeTime: {
			int64(0), "", "yesterday", "2024-02-30", "2024-02-29T25:00:00Z", "2024-02-29 12:00", "0000-12-31",
			time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC), "9999-12-31T23:59:59-01:00",
		},
		datamap.TypeUUID: {strings.ToUpper(aUUID), strings.ReplaceAll(aUUID, "-", ""), "x", 1},
		datamap.TypeJSON: {
			"{}", []byte("{}"), 1, domain.JSON("{"), domain.JSON(""), domain.JSON(`"\u0000"`), domain.JSON(`"\ud83d"`),
			domain.JSON(`1e999`),
		},
		datamap.TypeBytes: {"x", 1, []byte(nil)},
		datamap.TypeArray: {"{}", domain.JSON("[]"), 1, []byte("{}")},
	} {
		for _, value := range append(refused, whatNoneTakes...) {
			got, err := planned(t, datamap.Column{Type: columnType}, value)
			if err == nil {
				t.Errorf("%s took %T %v as %v", columnType, value, value, got)
				continue
			}
			wantCode(t, err, domain.ErrInvalid)
		}
	}
}

func TestTheLengthOfTextCountsCharacters(t *testing.T) {
	short := datamap.Column{Type: datamap.TypeText, Length: 3}
	if _, err := planned(t, short, "äöü"); err != nil {
		t.Errorf("three characters: %v", err)
	}
	_, err := planned(t, short, "abcd")
	wantFaults(t, err, "contact too_long")
	if _, err := planned(t, datamap.Column{Type: datamap.TypeText}, strings.Repeat("x", 100_000)); err != nil {
		t.Errorf("without a limit: %v", err)
	}
}

func TestAPlanSharesNoBytesWithTheCaller(t *testing.T) {
	given := []byte{1, 2}
	plan, err := planner.Plan(holding(t, personal("scan", datamap.TypeBytes, domain.CategoryIdentity)),
		domain.Corrections{domain.CategoryIdentity: given}.List(true), true)
	if err != nil {
		t.Fatal(err)
	}
	given[0] = 9
	sent, _ := plan.Corrections[domain.CategoryIdentity].([]byte)
	written, _ := plan.Steps[0].Values[0].Value.([]byte)
	sent[1] = 9
	if !bytes.Equal(sent, []byte{1, 9}) || !bytes.Equal(written, []byte{1, 2}) {
		t.Errorf("got %v to send, %v to write", sent, written)
	}
}

func TestAValueHasToFitEachColumnOfItsCategory(t *testing.T) {
	text := personal("text", datamap.TypeText, domain.CategoryContact)
	limited := personal("limited", datamap.TypeText, domain.CategoryContact)
	limited.Length = 10
	born := personal("born", datamap.TypeTime, domain.CategoryContact)
	for _, c := range []struct {
		columns []datamap.Column
		value   any
		want    string
	}{
		{[]datamap.Column{text, limited}, "12345678901", "contact too_long"},
		{[]datamap.Column{limited, text}, "12345678901", "contact too_long"},
		{[]datamap.Column{text, born}, "somewhen", "contact type"},
		{[]datamap.Column{text, born}, noon, "contact type"},
		{[]datamap.Column{limited, born}, "2024-02-29", ""},
	} {
		_, err := planner.Plan(holding(t, c.columns...), domain.Corrections{domain.CategoryContact: c.value}.List(true), true)
		if c.want != "" {
			wantFaults(t, err, c.want)
		} else if err != nil {
			t.Error(err)
		}
	}
}
