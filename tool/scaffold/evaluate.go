package scaffold

import (
	"cmp"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/habeas-data/habeas/domain"
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
// constraint. Columns that an erasure overwrites, too, have their surrogates. A value fails if the row then does not
// satisfy the constraint, although a row with NULL instead of the value, and with examples of the overwritten columns,
// does. A value holds if it satisfies the constraint with all examples. verdictsWith returns nil if the columns have
// too many examples.
func (t *table) verdictsWith(check datamap.CatalogCheck, column string, values []any) []datamap.Verdict {
	var kept, overwritten []string
	for _, name := range check.Columns {
		if t.found[name] && name != column {
			overwritten = append(overwritten, name)
		} else if name != column {
			kept = append(kept, name)
		}
	}
	before := t.combinations(check, overwritten, examplesOf)
	after := t.combinations(check, overwritten, t.examplesAfter)
	verdicts := slices.Repeat([]datamap.Verdict{datamap.VerdictHolds}, len(values))
	combinations := t.combinations(check, kept, examplesOf)
	for _, others := range combinations {
		var rows []map[string]any
		for _, row := range before {
			rows = append(rows, merged(others, row, map[string]any{column: nil}))
		}
		for _, value := range values {
			for _, row := range after {
				rows = append(rows, merged(others, row, map[string]any{column: value}))
			}
		}
		all := t.evaluate(t.Name, check, rows)
		if len(before) == 0 || len(after) == 0 || len(all) != len(rows) {
			return nil
		}
		occurs := slices.Contains(all[:len(before)], datamap.VerdictHolds)
		for i, verdict := range all[len(before):] {
			switch to := &verdicts[i/len(after)]; {
			case verdict == datamap.VerdictFails && occurs:
				*to = datamap.VerdictFails
			case verdict != datamap.VerdictHolds && *to == datamap.VerdictHolds:
				*to = datamap.VerdictUndecided
			}
		}
	}
	if len(combinations) == 0 {
		return nil
	}
	return verdicts
}

// dropRefused removes the overwritten columns about which a constraint on several columns refuses the row with all
// surrogates. The verdict about a single column assumes that the others have surrogates, too.
func (t *table) dropRefused() {
	for _, check := range t.Checks {
		t.overwritten = slices.DeleteFunc(t.overwritten, func(column datamap.Column) bool {
			if len(check.Columns) < 2 || !slices.Contains(check.Columns, column.Name) {
				return false
			}
			c, _ := t.Column(column.Name)
			isRefused := slices.Contains(t.verdictsWith(check, c.Name, t.examplesAfter(c, check)), datamap.VerdictFails)
			t.found[column.Name] = !isRefused
			return isRefused
		})
	}
}

func merged(parts ...map[string]any) map[string]any {
	row := map[string]any{}
	for _, part := range parts {
		maps.Copy(row, part)
	}
	return row
}

// combinations returns rows with all combinations of the examples of the columns. It returns nil if there are too many.
func (t *table) combinations(
	check datamap.CatalogCheck, columns []string, examples func(datamap.CatalogColumn, datamap.CatalogCheck) []any,
) []map[string]any {
	const most = 64
	rows := []map[string]any{{}}
	for _, name := range columns {
		c, known := t.Column(name)
		if !known {
			return nil
		}
		var longer []map[string]any
		for _, row := range rows {
			for _, example := range examples(c, check) {
				longer = append(longer, merged(row, map[string]any{name: example}))
			}
		}
		if rows = longer; len(rows) > most {
			return nil
		}
	}
	return rows
}

// examplesAfter returns examples of an overwritten column after an erasure: its surrogate, or NULL. A column about
// which the proposal has not decided yet has the surrogate of its type.
func (t *table) examplesAfter(c datamap.CatalogColumn, _ datamap.CatalogCheck) []any {
	column := datamap.Column{Name: c.Name, Type: c.Type, Length: c.Length}
	if i := slices.IndexFunc(t.overwritten, func(to datamap.Column) bool { return to.Name == c.Name }); i >= 0 {
		if column = t.overwritten[i]; column.Personal.Strategy == domain.StrategyNull {
			return []any{nil}
		}
	}
	return samples(column)
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
