package scaffold

import (
	"cmp"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/habeas-data/habeas/domain/datamap"
)

// evaluate lets the database evaluate a CHECK constraint of a table on rows. See ports.CatalogReader.
type evaluate func(table string, check datamap.CatalogCheck, rows []map[string]any) []datamap.Verdict

// verdicts returns the verdict about each value of a column. If the constraint has other columns, too, the verdict is
// about the rows in which the cell was NULL before: see verdictsWith.
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
	if verdicts := t.verdictsWith(check, column, values); verdicts != nil {
		return verdicts
	}
	return slices.Repeat([]datamap.Verdict{datamap.VerdictUndecided}, len(values))
}

// verdictsWith returns the verdict about each value of a column in rows with examples of the other columns of the
// constraint. A value fails if it replaces NULL in a row that satisfies the constraint, and the row then does not. A
// value holds if it satisfies the constraint with all examples. verdictsWith returns nil if an erasure may overwrite
// the other columns, too, or if they have too many examples.
func (t *table) verdictsWith(check datamap.CatalogCheck, column string, values []any) []datamap.Verdict {
	combinations := t.combinations(check, column)
	var rows []map[string]any
	for _, others := range combinations {
		for _, value := range append([]any{nil}, values...) {
			row := maps.Clone(others)
			row[column] = value
			rows = append(rows, row)
		}
	}
	all := t.evaluate(t.Name, check, rows)
	if len(combinations) == 0 || len(all) != len(rows) {
		return nil
	}
	verdicts := slices.Repeat([]datamap.Verdict{datamap.VerdictHolds}, len(values))
	for group := range slices.Chunk(all, 1+len(values)) {
		for i, verdict := range group[1:] {
			switch {
			case verdict == datamap.VerdictFails && group[0] == datamap.VerdictHolds:
				verdicts[i] = datamap.VerdictFails
			case verdict != datamap.VerdictHolds && verdicts[i] == datamap.VerdictHolds:
				verdicts[i] = datamap.VerdictUndecided
			}
		}
	}
	return verdicts
}

// combinations returns rows with examples of the columns of a constraint, without the given column. See verdictsWith.
func (t *table) combinations(check datamap.CatalogCheck, column string) []map[string]any {
	const most = 64
	rows := []map[string]any{{}}
	for _, name := range check.Columns {
		c, known := t.Column(name)
		if _, personal := t.found[name]; name == column || !known || personal {
			if name == column {
				continue
			}
			return nil
		}
		var longer []map[string]any
		for _, row := range rows {
			for _, example := range examplesOf(c, check) {
				row = maps.Clone(row)
				row[name] = example
				longer = append(longer, row)
			}
		}
		if rows = longer; len(rows) > most {
			return nil
		}
	}
	return rows
}

// examplesOf returns examples of the values of a column, among them those that a constraint mentions.
func examplesOf(c datamap.CatalogColumn, check datamap.CatalogCheck) []any {
	var list []any
	if c.Nullable {
		list = append(list, nil)
	}
	switch {
	case c.Type == datamap.TypeBoolean:
		return append(list, true, false)
	case len(c.Values) > 0:
		for _, value := range c.Values {
			list = append(list, value)
		}
		return list
	case c.Type == datamap.TypeText:
		for _, literal := range literalsOf(check.Text) {
			list = append(list, literal)
		}
	}
	return append(list, samples(datamap.Column{Name: c.Name, Type: c.Type, Length: c.Length})...)
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
