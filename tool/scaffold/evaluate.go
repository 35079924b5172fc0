package scaffold

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/habeas-data/habeas/domain/datamap"
)

// evaluate lets the database evaluate a CHECK constraint of a table on rows. See ports.CatalogReader.
type evaluate func(table string, check datamap.CatalogCheck, rows []map[string]any) []datamap.Verdict

// verdicts returns the verdict about each value of a column. If the constraint has other columns, too, nothing is
// decided.
func (t *table) verdicts(check datamap.CatalogCheck, column string, values []any) []datamap.Verdict {
	if slices.Equal(check.Columns, []string{column}) {
		rows := make([]map[string]any, len(values))
		for i, value := range values {
			rows[i] = map[string]any{column: value}
		}
		if verdicts := t.evaluate(t.Name, check, rows); len(verdicts) == len(values) {
			return verdicts
		}
	}
	return slices.Repeat([]datamap.Verdict{datamap.VerdictUndecided}, len(values))
}

// outcomes returns for each surrogate whether the values that an erasure writes into the column satisfy the
// constraints.
func (t *table) outcomes(c datamap.Column, surrogates []string, constraints []datamap.CatalogCheck) []datamap.Verdict {
	outcomes := slices.Repeat([]datamap.Verdict{datamap.VerdictHolds}, len(surrogates))
	var values []any
	var of []int // the index of the surrogate of each value
	for i, surrogate := range surrogates {
		examples := samples(with(c, surrogate))
		if len(examples) == 0 && len(constraints) > 0 {
			outcomes[i] = datamap.VerdictUndecided
		}
		values, of = append(values, examples...), append(of, slices.Repeat([]int{i}, len(examples))...)
	}
	for _, check := range constraints {
		for i, verdict := range t.verdicts(check, c.Name, values) {
			if to := &outcomes[of[i]]; verdict == datamap.VerdictFails || *to == datamap.VerdictHolds {
				*to = verdict
			}
		}
	}
	return outcomes
}

// samples returns examples of the values that an erasure writes into the column, or nothing if they are not known.
func samples(c datamap.Column) []any {
	fillings := []string{"0a1b2c3d4e5f60718293a4b5c6d7e8f9", "f9e8d7c6b5a493827160f5e4d3c2b1a0"}
	constant, ok := c.Constant()
	switch c.Type { //nolint:exhaustive // the surrogates of the other types are not known
	case datamap.TypeText:
		if ok {
			return []any{c.Filled(fillings[0]), c.Filled(fillings[1])}
		}
		return []any{c.DefaultText(fillings[0]), c.DefaultText(fillings[1])}
	case datamap.TypeUUID:
		return []any{"0a1b2c3d-4e5f-4071-8293-a4b5c6d7e8f9"}
	case datamap.TypeSmallInt, datamap.TypeInteger, datamap.TypeBigInt, datamap.TypeNumber:
		if n, err := strconv.ParseInt(cmp.Or(constant, "0"), 10, 64); err == nil {
			return []any{n}
		}
		return []any{constant}
	case datamap.TypeBoolean:
		return []any{constant == "true"}
	case datamap.TypeTime:
		return []any{cmp.Or(constant, "1970-01-01 00:00:00+00:00")}
	case datamap.TypeJSON:
		return []any{cmp.Or(constant, "{}")}
	default:
		return nil
	}
}

// sqlToken matches a quoted name, a text literal, a word or a number of a condition.
var sqlToken = regexp.MustCompile(`"(?:[^"]|"")*"|'(?:[^']|'')*'|[\pL_][\pL\d_$]*|\d[\d.]*`)

// literalsOf returns the text literals and number literals of a condition, in their order.
func literalsOf(condition string) []string {
	var literals []string
	for _, token := range sqlToken.FindAllString(condition, -1) {
		switch {
		case token[0] == '\'':
			literals = append(literals, strings.ReplaceAll(token[1:len(token)-1], "''", "'"))
		case token[0] >= '0' && token[0] <= '9':
			literals = append(literals, token)
		}
	}
	return literals
}
