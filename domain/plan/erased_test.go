package plan_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/domain/plan"
)

// heldCell is a column and the value that one row holds in it.
type heldCell struct {
	column datamap.Column
	value  any
	erased bool // the expected ExportRecord.Erased
}

func anonymized(kind datamap.ColumnType, value any, erased bool) heldCell {
	column := datamap.Column{Type: kind, Personal: &datamap.Annotation{
		Category: domain.CategoryContact, Strategy: domain.StrategyAnonymize,
	}}
	return heldCell{column, value, erased}
}

func (c heldCell) with(change func(*datamap.Column)) heldCell {
	change(&c.column)
	return c
}

func TestCellsThatAnErasureHasOverwrittenAreMarked(t *testing.T) {
	const hex = "0123456789abcdef0123456789abcdef"
	constant := func(kind datamap.ColumnType, surrogate string, value any, erased bool) heldCell {
		return anonymized(kind, value, erased).with(func(c *datamap.Column) { c.Surrogate = surrogate })
	}
	text := func(length int, value string, erased bool) heldCell {
		return anonymized(datamap.TypeText, value, erased).with(func(c *datamap.Column) { c.Length = length })
	}
	retained := func(kind datamap.ColumnType, value any, since string, erased bool) heldCell {
		return anonymized(kind, value, erased).with(func(c *datamap.Column) {
			c.Personal.Strategy, c.Personal.Reason, c.Personal.Since = domain.StrategyRetain, "law", since
		})
	}
	epoch, uuid := time.Unix(0, 0).UTC(), "f47ac10b-58cc-4372-a567-0e02b2c3d479"
	for name, cells := range map[string][]heldCell{
		"one of each type": {
			text(0, "anon-"+hex, true), text(20, "anon-"+hex[:15], true), text(10, hex[:10], true),
			anonymized(datamap.TypeInteger, int64(0), true), anonymized(datamap.TypeNumber, 0.0, true),
			anonymized(datamap.TypeNumber, domain.Number("0.00"), true), anonymized(datamap.TypeBoolean, false, true),
			anonymized(datamap.TypeTime, epoch, true), anonymized(datamap.TypeUUID, uuid, true),
			anonymized(datamap.TypeJSON, domain.JSON("{}"), true), anonymized(datamap.TypeArray, domain.JSON("[]"), true),
			anonymized(datamap.TypeBytes, []byte{}, true),
		},
		"constants": {
			constant(datamap.TypeText, "{}@erased.invalid", hex+"@erased.invalid", true),
			constant(datamap.TypeText, "gone", "gone", true), constant(datamap.TypeText, datamap.EmptySurrogate, "", true),
			constant(datamap.TypeInteger, "-1", int64(-1), true), constant(datamap.TypeNumber, "1.50", 1.5, true),
			constant(datamap.TypeBoolean, "true", true, true), constant(datamap.TypeTime, "1900-01-01", epoch, false),
			constant(datamap.TypeTime, "1970-01-01", epoch, true),
			constant(datamap.TypeJSON, `{"a":1}`, domain.JSON(`{ "a" : 1 }`), true),
		},
		"NULL": {
			text(0, "anon-"+hex, true),
			anonymized(datamap.TypeText, nil, true).with(func(c *datamap.Column) { c.Personal.Strategy = domain.StrategyNull }),
			anonymized(datamap.TypeText, nil, false), // an erasure leaves it as it is
		},
		"NULL beside numbers": {
			anonymized(datamap.TypeInteger, int64(0), true), anonymized(datamap.TypeText, nil, false),
			anonymized(datamap.TypeTime, epoch, true),
		},
		"NULL alone": {
			anonymized(datamap.TypeText, nil, false),
			anonymized(datamap.TypeText, nil, false).with(func(c *datamap.Column) { c.Personal.Strategy = domain.StrategyNull }),
		},
		"what was written after the erasure": {
			text(0, "anon-"+hex, true), text(0, "new", false), anonymized(datamap.TypeInteger, int64(7), false),
			anonymized(datamap.TypeBoolean, false, true),
		},
		"a row that came later": {
			text(0, "new", false), anonymized(datamap.TypeInteger, int64(0), false),
			anonymized(datamap.TypeBoolean, false, false),
			anonymized(datamap.TypeTime, epoch, false),
		},
		"a row of numbers": {anonymized(datamap.TypeInteger, int64(0), true), anonymized(datamap.TypeBoolean, false, true)},
		"what looks like it": {
			text(0, "anon-me", false), text(0, "Anon-"+hex, false), text(0, "anon-"+hex+"0", false),
			text(10, "0123456789a", false), text(20, "anon-"+hex, false),
			anonymized(datamap.TypeUUID, strings.ToUpper(uuid), false),
		},
		"what is retained": {
			text(0, "anon-"+hex, true), retained(datamap.TypeText, "anon-"+hex, "issued_at", true),
			retained(datamap.TypeText, "anon-"+hex, "", false), retained(datamap.TypeText, "1 Main Street", "issued_at", false),
			retained(datamap.TypeInteger, int64(0), "issued_at", false),
		},
	} {
		t.Run(name, func(t *testing.T) {
			table := datamap.Table{Name: "users", PrimaryKey: []string{"id"}, Columns: []datamap.Column{{Name: "id"}}}
			table.Columns = append(table.Columns, datamap.Column{Name: "theme"}) // not annotated, so that the rows stay
			var records []domain.ExportRecord
			for i, c := range cells {
				c.column.Name = string(rune('a' + i))
				table.Columns = append(table.Columns, c.column)
				records = append(records, domain.ExportRecord{Field: c.column.Name, Value: c.value})
			}
			m := datamap.DataMap{}
			plan.MarkErased(m, table, []datamap.Path{{}}, records)
			for i, record := range records {
				if record.Erased != cells[i].erased || record.Erased && record.Value != nil {
					t.Errorf("cell %d with %v: erased is %v, and it holds %v", i, cells[i].value, record.Erased, record.Value)
				}
			}
		})
	}
}

func TestARowOfATableWhoseRowsGoIsNew(t *testing.T) {
	table := datamap.Table{
		Name: "users", PrimaryKey: []string{"id"}, Owned: true,
		Columns: []datamap.Column{{Name: "id"}, {Name: "active", Type: datamap.TypeBoolean, Personal: &datamap.Annotation{
			Category: domain.CategoryTechnical, Strategy: domain.StrategyDelete,
		}}},
	}
	records := []domain.ExportRecord{{Field: "active", Value: false}}
	if plan.MarkErased((datamap.DataMap{}), table, []datamap.Path{{}}, records); records[0].Erased {
		t.Error("a new row counts as erased")
	}
}

// MarkErased must ignore a path if an erasure deletes the rows on the path, or sets a reference of the path to NULL.
func TestErasedCellsAreJudgedAlongThePathsOfTheirRow(t *testing.T) {
	of := func(via, name string) datamap.Column {
		c := contact(name, "")
		c.Type, c.Personal.Via = datamap.TypeBoolean, via
		return c
	}
	build := func(sender, recipient domain.Strategy, more ...datamap.Column) (datamap.DataMap, datamap.Table) {
		table := messagesTable(func(m *datamap.Table) {
			m.Relations[0].OnErasure, m.Relations[1].OnErasure = sender, recipient
			m.Columns = append(m.Columns[:3], of("Sender", "sent"), of("Recipient", "read"), of("Sender,Recipient", "open"))
			m.Columns = append(m.Columns, more...)
		})
		return mustMap(t, users(), table), table
	}
	const none, null, del = domain.Strategy(""), domain.StrategyNull, domain.StrategyDelete
	plain := column("theme", datamap.TypeText)
	for name, c := range map[string]struct {
		sender, recipient domain.Strategy
		more              []datamap.Column
		along, want       string
	}{
		"kept by nothing but the paths":     {none, none, nil, "Sender", "sent open"},
		"both people are one":               {none, none, nil, "Sender Recipient", "sent read open"},
		"deleted, although a column stays":  {del, none, []datamap.Column{plain}, "Sender", ""},
		"deleted along one path":            {del, none, nil, "Recipient", "read open"},
		"cut":                               {null, none, nil, "Sender", ""},
		"cut along one path of two":         {null, none, nil, "Sender Recipient", "read open"},
		"deleted along one, led to by both": {del, none, nil, "Sender Recipient", "read open"},
	} {
		m, table := build(c.sender, c.recipient, c.more...)
		var along []datamap.Path
		for via := range strings.FieldsSeq(c.along) {
			path, _ := m.PathVia("messages", via)
			along = append(along, path)
		}
		records := []domain.ExportRecord{
			{Field: "sent", Value: false}, {Field: "read", Value: false}, {Field: "open", Value: false},
		}
		plan.MarkErased(m, table, along, records)
		var got []string
		for _, record := range records {
			if record.Erased {
				got = append(got, record.Field)
			}
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: erased are %q, want %q", name, got, c.want)
		}
	}
}

func TestABundleReadsBackFromJSONWithEachDigit(t *testing.T) {
	purpose, basis, at := "account", domain.BasisContract, noon
	bundle := domain.ExportBundle{
		SubjectID: mustID(t, "42"), GeneratedAt: noon, SchemaVersion: domain.ExportSchemaVersion,
		IncompleteSources: []string{"desk"},
		Records: []domain.ExportRecord{
			{
				Source: "users", Field: "settings", Row: "7\x1f1", Category: domain.CategoryTechnical,
				Value: domain.JSON(`{"id":12345678901234567890,"a":[1.50,{"b":9007199254740993}]}`), LegalBasis: &basis,
				Purpose: &purpose, ExpiresAt: &at,
			},
			{Source: "users", Field: "balance", Value: domain.Number("9007199254740993.10")},
			{Source: "users", Field: "visits", Value: int64(9007199254740993)},
			{Source: "users", Field: "active", Value: true},
			{Source: "users", Field: "email", Erased: true},
			{Source: "users", Field: "born", Value: noon},
			{Source: "users", Field: "photo", Value: []byte{1, 2}},
			{Source: "users", Field: "tags", Value: domain.JSON(`["a"]`)},
			{Source: "users", Field: "name", Value: `{"no":"JSON"}`},
		},
	}
	text, err := json.Marshal(bundle)
	if err != nil {
		t.Fatal(err)
	}
	var read domain.ExportBundle
	if err := json.Unmarshal(text, &read); err != nil {
		t.Fatal(err)
	}
	again, err := json.Marshal(read)
	if err != nil || string(again) != string(text) {
		t.Errorf("decoded and encoded again: got %s, want %s (%v)", again, text, err)
	}
	want := []any{
		bundle.Records[0].Value, domain.Number("9007199254740993.10"), domain.Number("9007199254740993"), true, nil,
		"2024-03-01T12:00:00Z", "AQI=", domain.JSON(`["a"]`), `{"no":"JSON"}`,
	}
	for i, record := range read.Records {
		if !reflect.DeepEqual(record.Value, want[i]) || !record.Valid() && record.Field != "" {
			t.Errorf("%s is %#v, want %#v, and valid: %v", record.Field, record.Value, want[i], record.Valid())
		}
	}
	if !reflect.DeepEqual(read.Records[0].ExpiresAt, &at) || *read.Records[0].LegalBasis != basis ||
		!read.Records[4].Erased {
		t.Errorf("read back are %+v", read.Records)
	}
	record := domain.ExportRecord{Field: "kept"}
	if err := json.Unmarshal([]byte(`{"field": 7}`), &record); err == nil || record.Field != "kept" {
		t.Errorf("got %+v, %v", record, err)
	}
}
