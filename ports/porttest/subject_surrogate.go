package porttest

import (
	"fmt"
	"regexp"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/domain/plan"
)

var (
	anonymousText = regexp.MustCompile(`^anon-[0-9a-f]{32}$`)
	cutText       = regexp.MustCompile(`^(anon-)?[0-9a-f]+$`) // the surrogate of a shorter column
	canonicalUUID = regexp.MustCompile(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)
)

// surrogateFault returns the reason why a value cannot be a surrogate for the column. It returns "" if the value can be
// one.
func surrogateFault(column datamap.Column, value any) string {
	if column.Personal.Strategy == domain.StrategyNull {
		return map[bool]string{false: "is not NULL"}[value == nil]
	}
	fits := false
	switch column.Type { //nolint:exhaustive // the shop anonymizes only these types
	case datamap.TypeText:
		text, isText := value.(string)
		fits = isText && anonymousText.MatchString(text)
		if constant, ok := column.Constant(); ok {
			fits = isText && text == constant
		}
		if form := filledConstants[column.Name]; form != nil {
			fits = isText && form.MatchString(text)
		}
		if column.Length > 0 && utf8.RuneCountInString(text) > column.Length {
			return "is too long"
		}
		if column.Length > 0 && column.Length < len("anon-")+32 && column.Surrogate == "" {
			fits = isText && cutText.MatchString(text)
		}
	case datamap.TypeSmallInt, datamap.TypeInteger, datamap.TypeBigInt:
		fits = same(value, int64(0))
	case datamap.TypeNumber:
		fits = same(value, float64(0))
	case datamap.TypeBoolean:
		fits = value == false
	case datamap.TypeTime:
		fits = same(value, time.Unix(0, 0).UTC())
	case datamap.TypeUUID:
		text, isText := value.(string)
		fits = isText && canonicalUUID.MatchString(text)
	case datamap.TypeJSON:
		fits = same(value, domain.JSON("{}"))
	case datamap.TypeBytes:
		_, fits = value.([]byte)
	}
	if !fits {
		return fmt.Sprintf("is not a surrogate for the type %s", column.Type)
	}
	return ""
}

// eachSurrogate calls fn for each of the customer's cells that an erasure anonymizes.
func (s shopUnderTest) eachSurrogate(
	t testing.TB, who customer, fn func(table datamap.Table, column datamap.Column, value any),
) {
	t.Helper()
	after := s.content(t).of(who)
	for _, step := range erasurePlan(t) {
		if step.Strategy != domain.StrategyAnonymize {
			continue
		}
		table, _ := DataMap().Table(step.Target)
		for _, row := range after[table.Name] {
			for _, name := range step.Columns {
				column, _ := table.Column(name)
				fn(table, column, row[name])
			}
		}
	}
}

func subjectSurrogatesFitTheirColumns(t testing.TB, h StoreHarness) {
	s := h.shop(t)
	s.apply(t, zoe, erasurePlan(t)...)
	cells := 0
	s.eachSurrogate(t, zoe, func(table datamap.Table, column datamap.Column, value any) {
		cells++
		why := surrogateFault(column, value)
		assert(t, why == "", "the value of %s.%s %s", table.Name, column.Name, why)
	})
	want := 11 + len(columnsWithRules()) + 6 + 3 + 3
	assert(t, cells == want, "%d cells were anonymized, want %d", cells, want)
}

func subjectErasuresKeepNULL(t testing.TB, h StoreHarness) {
	s := shopUnderTest{h.open(t)}
	s.Insert(t, "people", Row{"tenant": zoe.tenant, "number": zoe.number, "name": "Zoe"})
	s.Insert(t, "orders", zoe.row(zoe.ids, nil))
	s.Insert(t, "order_lines", Row{"order_id": zoe.ids, "line": int64(1)})
	s.Insert(t, "invoices", zoe.row(zoe.ids, Row{"issued_at": issued}))
	s.apply(t, zoe, plan.LocalAt(datamap.Plan{Steps: wholePlan(t)}, overAt)...)
	s.eachSurrogate(t, zoe, func(table datamap.Table, column datamap.Column, value any) {
		if column.Name == "name" || column.Always {
			why := surrogateFault(column, value)
			assert(t, why == "", "the value of %s.%s %s", table.Name, column.Name, why)
			return
		}
		assert(t, value == nil, "%s.%s was NULL, and was overwritten", table.Name, column.Name)
	})
	assert(t, s.Rows(t, "invoices")[0]["address"] == nil, "the address of the invoice was NULL, and was overwritten")
}

// No two surrogates are equal, even in different rows, tables, columns or subjects. With equal surrogates, a reader
// could recognize rows that belonged to the same subject.
func subjectSurrogatesAreUnique(t testing.TB, h StoreHarness) {
	s := h.shop(t)
	seen := map[string]string{}
	for _, who := range []customer{zoe, others[0], others[1]} {
		s.apply(t, who, erasurePlan(t)...)
		s.eachSurrogate(t, who, func(table datamap.Table, column datamap.Column, value any) {
			text, isText := value.(string)
			if !isText || column.Surrogate != "" {
				return
			}
			cell := table.Name + "." + column.Name
			other, twice := seen[text]
			assert(t, !twice, "a cell of %s has the same surrogate as a cell of %s", cell, other)
			seen[text] = cell
		})
	}
}
