package manifest_test

import (
	"bytes"
	"reflect"
	"strconv"
	"testing"

	"pgregory.net/rapid"

	"github.com/habeas-data/habeas/adapters/persistence/manifest"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
)

var (
	anyText  = rapid.StringMatching(`[ -~§'"\\<>&日\n]{0,8}`)
	nonEmpty = rapid.StringMatching(`[a-z§"\\. ]{1,8}`)
	types    = rapid.SampledFrom([]datamap.ColumnType{
		datamap.TypeText, datamap.TypeSmallInt, datamap.TypeInteger, datamap.TypeBigInt, datamap.TypeNumber,
		datamap.TypeBoolean,
		datamap.TypeTime, datamap.TypeUUID, datamap.TypeJSON, datamap.TypeArray, datamap.TypeBytes,
	})
	categories = rapid.SampledFrom([]domain.Category{
		domain.CategoryContact, domain.CategoryIdentity, domain.CategoryFinancial, domain.CategoryBehavioral,
		domain.CategoryTechnical, domain.CategoryLocation, domain.CategoryCommunication, domain.CategorySpecial,
	})
	bases = rapid.SampledFrom(
		[]domain.LegalBasis{"", domain.BasisConsent, domain.BasisContract, domain.BasisLegitimateInterests},
	)
	exports = rapid.SampledFrom([]datamap.Export{"", datamap.ExportYes, datamap.ExportNo})
	amount  = rapid.IntRange(0, 33)
)

// drawColumn draws a random column. If the column is retained, its retention period starts at the time in the column
// "at", or never ends.
func drawColumn(t *rapid.T, name string) datamap.Column {
	column := datamap.Column{
		Name: name, Type: types.Draw(t, "type"),
		Length: rapid.SampledFrom([]int{0, 50, 300}).Draw(t, "length"), Surrogate: anyText.Draw(t, "surrogate"),
		Note: anyText.Draw(t, "note"),
	}
	strategy := rapid.SampledFrom([]domain.Strategy{
		"none", domain.StrategyErase, domain.StrategyAnonymize, domain.StrategyNull, domain.StrategyRetain,
	}).Draw(t, "strategy")
	if strategy == "none" {
		column.NotPersonal = rapid.Bool().Draw(t, "not personal")
		return column
	}
	column.Personal = &datamap.Annotation{
		Category: categories.Draw(t, "category"), Strategy: strategy, Basis: bases.Draw(t, "basis"),
		Purpose: anyText.Draw(t, "purpose"), Export: exports.Draw(t, "export"),
	}
	if strategy == domain.StrategyNull {
		column.Surrogate = ""
	}
	if strategy == domain.StrategyRetain {
		column.Personal.Reason = nonEmpty.Draw(t, "reason")
		period := datamap.Period{
			Years: amount.Draw(t, "years"), Months: amount.Draw(t, "months"), Days: amount.Draw(t, "days"),
		}
		if !period.IsZero() {
			column.Personal.Retain, column.Personal.Since = period, "at"
			column.Personal.From = rapid.SampledFrom([]string{"", datamap.FromYearEnd}).Draw(t, "from")
		}
	}
	return column
}

// drawMap draws a random data map. Each table refers to a table that is earlier in the list.
func drawMap(t *rapid.T) datamap.DataMap {
	names := rapid.SliceOfNDistinct(nonEmpty, 1, 4, rapid.ID).Draw(t, "tables")
	tables := make([]datamap.Table, len(names))
	for i, name := range names {
		table := datamap.Table{
			Name: name, PrimaryKey: []string{"id"}, Owned: rapid.Bool().Draw(t, "owned"),
			Trusted: rapid.Bool().Draw(t, "trusted"), Note: anyText.Draw(t, "note"),
			Columns: []datamap.Column{
				{Name: "id", Type: datamap.TypeBigInt}, {Name: "at", Type: datamap.TypeTime}, {Name: "untyped"},
			},
		}
		columns := rapid.SliceOfNDistinct(rapid.StringMatching(`[A-Z§"]{1,4}`), 0, 4, rapid.ID)
		for _, column := range columns.Draw(t, "columns") {
			table.Columns = append(table.Columns, drawColumn(t, column))
		}
		if i == 0 {
			table.SubjectKey = []string{"id"}
		} else {
			table.Relations = []datamap.Relation{{
				Columns: []string{"untyped"}, References: names[rapid.IntRange(0, i-1).Draw(t, "parent")],
				ReferencedColumns: []string{"id"}, Path: rapid.Bool().Draw(t, "path"), SetsNull: rapid.Bool().Draw(t, "null"),
			}}
		}
		tables[i] = table
	}
	m, err := datamap.NewDataMap(rapid.Permutation(tables).Draw(t, "order")...)
	if err != nil {
		t.Fatal(err)
	}
	for i := range rapid.IntRange(0, 2).Draw(t, "decisions") {
		m = m.WithDecisions(drawDecision(t, names[0], i, m.Declared()))
	}
	return m
}

// drawDecision draws a question with an edit, or an answer without options.
func drawDecision(t *rapid.T, object string, i int, tables []datamap.Table) datamap.Decision {
	d := datamap.Decision{
		Object: object, Columns: []string{strconv.Itoa(i)}, Seen: []string{anyText.Draw(t, "seen")},
		Question: anyText.Draw(t, "question"), By: anyText.Draw(t, "by"), Answer: "a",
		Because: nonEmpty.Draw(t, "because") + ".",
	}
	if rapid.Bool().Draw(t, "options") {
		d.Proposed = "b"
		d.Options = []datamap.Option{
			{Name: "a", Edit: datamap.Edit{Tables: tables, Columns: []datamap.Column{drawColumn(t, "c")}}}, {Name: "b"},
		}
	}
	return d
}

func TestAMapSurvivesBeingWrittenAndRead(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := drawMap(t)
		var first, second bytes.Buffer
		if err := manifest.Write(&first, m); err != nil {
			t.Fatal(err)
		}
		text := first.String()
		read, err := manifest.Read(&first)
		if err != nil {
			t.Fatalf("%v in\n%s", err, text)
		}
		if !reflect.DeepEqual(read, m) {
			t.Fatalf("\n got %+v\nwant %+v", read.Tables(), m.Tables())
		}
		if err := manifest.Write(&second, read); err != nil || second.String() != text {
			t.Fatalf("written again: %v\n%s", err, &second)
		}
	})
}
