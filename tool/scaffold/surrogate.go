package scaffold

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/tool/internal/dictionary"
)

// overwrite sets the strategy and the surrogate of an annotated column of rows that stay. It returns false if neither a
// surrogate nor NULL satisfies the constraints of the column.
func (t *table) overwrite(c datamap.CatalogColumn, to *datamap.Column) bool {
	to.Personal.Strategy = domain.StrategyAnonymize
	if c.Type == "" {
		to.Type = datamap.TypeText
		if surrogate, ok := surrogates[baseType(c.Declared)]; ok && t.allows(with(*to, surrogate)) {
			to.Surrogate = surrogate
			return true
		}
		return t.clear(c, to)
	}
	constraints := t.checksOf(c.Name)
	candidates := slices.DeleteFunc(t.candidatesFor(c, *to, constraints), func(surrogate string) bool {
		_, isNeutral := dictionary.IsNeutral(surrogate)
		return surrogate != "" && !isValid(*to, surrogate) || t.inUnique(c.Name) && !with(*to, surrogate).Unique() ||
			c.Type == datamap.TypeText && t.IsChoice(c) && !isNeutral // any other value would be a false fact
	})
	outcomes := t.outcomes(*to, candidates, constraints)
	i := slices.Index(outcomes, datamap.VerdictHolds)
	isBound := slices.ContainsFunc(constraints, func(check datamap.CatalogCheck) bool { return len(check.Columns) > 1 })
	undecided := slices.Index(outcomes, datamap.VerdictUndecided)
	switch {
	case i < 0 && undecided < 0:
		return t.clear(c, to)
	case i < 0 && c.Nullable && isBound: // the constraint may refuse any value in a row that has NULL
		return false
	case i < 0:
		i = undecided
	}
	to.Surrogate = candidates[i]
	return true
}

// allows reports whether no constraint of the column is known to refuse its surrogate.
func (t *table) allows(c datamap.Column) bool {
	if t.inUnique(c.Name) && !c.Unique() {
		return false
	}
	return t.outcomes(c, []string{c.Surrogate}, t.checksOf(c.Name))[0] != datamap.VerdictFails
}

// clear sets the strategy of a column to NULL. It returns false if the column must have a value.
func (t *table) clear(c datamap.CatalogColumn, to *datamap.Column) bool {
	to.Personal.Strategy, to.Surrogate = domain.StrategyNull, ""
	return t.takesNull(c)
}

// takesNull reports whether NULL satisfies all constraints of the column, even if several rows have NULL.
func (t *table) takesNull(c datamap.CatalogColumn) bool {
	return c.Nullable && !slices.ContainsFunc(t.Uniques, func(u datamap.CatalogUnique) bool {
		return u.NullsEqual && slices.Contains(u.Columns, c.Name)
	}) && !slices.ContainsFunc(t.checksOf(c.Name), func(check datamap.CatalogCheck) bool {
		switch t.verdicts(check, c.Name, []any{nil})[0] {
		case datamap.VerdictHolds:
			return false
		case datamap.VerdictFails:
			return true
		case datamap.VerdictUndecided:
		}
		text := strings.ToLower(check.Text)
		return strings.Contains(text, "null") || strings.Contains(text, "coalesce")
	})
}

func (t *table) checksOf(column string) []datamap.CatalogCheck {
	return slices.DeleteFunc(slices.Clone(t.Checks), func(check datamap.CatalogCheck) bool {
		return !slices.Contains(check.Columns, column)
	})
}

func (t *table) inUnique(column string) bool {
	return slices.ContainsFunc(t.Uniques, func(u datamap.CatalogUnique) bool { return slices.Contains(u.Columns, column) })
}

// surrogates has the constants that an erasure writes into columns of types that the data map does not support. The
// keys are these types.
var surrogates = map[string]string{
	"inet": "0.0.0.0", "cidr": "0.0.0.0/0", "macaddr": "00:00:00:00:00:00", "macaddr8": "00:00:00:00:00:00:00:00",
	"interval": "0", "money": "0", "tsvector": datamap.EmptySurrogate, "hstore": datamap.EmptySurrogate,
	"time": "00:00:00", "time without time zone": "00:00:00", "point": "(0,0)",
}

func baseType(declared string) string {
	base, _, _ := strings.Cut(strings.ToLower(declared), "(")
	return strings.TrimSpace(base)
}

func with(c datamap.Column, surrogate string) datamap.Column {
	c.Surrogate = surrogate
	return c
}

// isValid reports whether a data map accepts the constant as the surrogate (replacement value) of the column.
func isValid(c datamap.Column, surrogate string) bool {
	const least = 8
	c.Surrogate = surrogate
	if c.Type == datamap.TypeText && surrogate != datamap.Placeholder && strings.Contains(surrogate, datamap.Placeholder) {
		return c.Digits() >= least
	}
	text, _ := c.Constant()
	return c.Length == 0 || utf8.RuneCountInString(text) <= c.Length
}

// candidatesFor returns the surrogates that may satisfy the constraints of the column, best first. The empty text means
// the default surrogate of the column type. For a text, this is anon- with random digits. It stands in columns that are
// unique or secret. In all other texts stands the empty text.
func (t *table) candidatesFor(c datamap.CatalogColumn, to datamap.Column, checks []datamap.CatalogCheck) []string {
	var literals []string
	for _, check := range checks {
		literals = append(literals, literalsOf(check.Text)...)
	}
	list := []string{""}
	switch c.Type { //nolint:exhaustive // the others have one surrogate
	case datamap.TypeText:
		if len(c.Values) > 0 {
			return neutralFirst(c.Values)
		}
		return t.textsFor(c, to, literals)
	case datamap.TypeSmallInt, datamap.TypeInteger, datamap.TypeBigInt, datamap.TypeNumber:
		list = append(list, "1", "-1")
		for _, text := range literals {
			if n, err := strconv.ParseInt(text, 10, 32); err == nil {
				list = append(list, text, strconv.FormatInt(n+1, 10), strconv.FormatInt(n-1, 10))
			}
		}
	case datamap.TypeBoolean:
		list = append(list, "true")
	case datamap.TypeTime:
		list = append(list, slices.DeleteFunc(literals, func(text string) bool { return len(text) < len("2006-01-02") })...)
		list = append(list, "2000-01-01", "1900-01-01")
	}
	return list
}

func (t *table) textsFor(c datamap.CatalogColumn, to datamap.Column, literals []string) (list []string) {
	entry, _ := dictionary.Person(c.Name, c.Type)
	switch {
	case entry.Word == "email":
		list = append(list, "{}@erased.invalid")
	case !t.inUnique(c.Name) && to.Personal.Export != datamap.ExportNo:
		list = append(list, datamap.EmptySurrogate)
	}
	list = append(list, "")
	if len(literals) > 0 || len(t.checksOf(c.Name)) > 0 {
		list = append(list, "{}@erased.invalid", "https://erased.invalid/{}", "a{}")
		list = append(list, neutralFirst(slices.DeleteFunc(literals, isPattern))...)
		list = append(list, "0", "00", "000", "00000", "0000000000", "+00000000000", "X", "XX", datamap.EmptySurrogate)
	}
	return list
}

// isPattern reports whether a literal in a constraint seems to be a pattern for LIKE or a regular expression. A pattern
// is not a candidate for the value that an erasure writes.
func isPattern(text string) bool { return text == "" || strings.ContainsAny(text, `%^$*+?[](){}|\'`) }

// neutralFirst returns the texts with those first that reveal nothing about a person.
func neutralFirst(list []string) []string {
	rank := func(word string) int {
		if i, ok := dictionary.IsNeutral(word); ok {
			return i
		}
		return len(list) + 100
	}
	list = slices.Clone(list)
	slices.SortStableFunc(list, func(a, b string) int { return cmp.Compare(rank(a), rank(b)) })
	return list
}
