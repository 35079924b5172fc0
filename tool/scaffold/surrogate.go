package scaffold

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/tool/internal/names"
)

// dutyLasts is the assumed retention period of bookkeeping records. It is the longest of the usual legal periods, which
// count from the end of the calendar year.
var dutyLasts = datamap.Period{Years: 10}

// retained are the categories that must be kept by law in bookkeeping records.
var retained = []domain.Category{
	domain.CategoryIdentity, domain.CategoryContact, domain.CategoryFinancial, domain.CategoryLocation,
}

// chooseStrategy sets the strategy and the surrogate for a personal column of rows that stay. It returns false if no
// strategy suits the column. The column then stays without an annotation.
func (t *table) chooseStrategy(
	c datamap.CatalogColumn, m names.Match, to *datamap.Column, a *datamap.Annotation, since string,
) bool {
	duty, hasDuty := names.FindDuty(t.Name)
	switch {
	case hasDuty && !m.Secret && slices.Contains(retained, m.Category):
		a.Strategy, a.Reason = domain.StrategyRetain, duty.Reason
		if since == "" {
			return true
		}
		a.Since, a.Retain, a.From = since, dutyLasts, datamap.FromYearEnd
	default:
		a.Strategy = domain.StrategyAnonymize
	}
	if a.Strategy == domain.StrategyAnonymize && m.Category == domain.CategoryFinancial &&
		family(c.Type) != datamap.TypeText {
		t.ask(c.Name, "An erasure replaces the value with a meaningless number. Does the application compute with it?",
			"overwrite it", "leave it as it is", "retain it, with a reason")
	}
	if c.Type == "" {
		if surrogate, ok := surrogates[baseType(c.Declared)]; ok {
			to.Type, to.Surrogate = datamap.TypeText, surrogate
			constraints := t.checksOf(c.Name)
			if t.outcomes(*to, []string{surrogate}, constraints)[0] != datamap.VerdictHolds {
				t.askForCheck(c, constraints, surrogate)
			}
			return true
		}
		if len(c.Values) == 0 && c.Nullable && t.takesNull(c) {
			a.Strategy = domain.StrategyNull
			t.askForNull(c, "No surrogate is known for its type "+c.Declared+".")
			return true
		}
		if len(c.Values) == 0 {
			t.ask(c.Name, "It looks personal ("+m.Means+"), but no surrogate is known for its type "+c.Declared+
				". How can it be erased?", "keep the value", "make it nullable", "give a surrogate of the type")
			return false
		}
	}
	if c.Nullable && a.Strategy == domain.StrategyAnonymize && t.takesNull(c) {
		why := ""
		switch {
		case isEncrypted(c.Name):
			why = "It seems to hold an encrypted value, and a program may fail to decrypt a surrogate."
		case t.needsNull(c, m):
			why = "No surrogate satisfies its constraints without a false fact."
		case t.inUnique(c.Name) && !(datamap.Column{Type: c.Type, Length: c.Length}).Unique():
			why = "It is unique, and the surrogate of its type is always the same."
		}
		if why != "" {
			a.Strategy = domain.StrategyNull
			t.askForNull(c, why)
			return true
		}
	}
	return t.chooseSurrogate(c, m, to)
}

// isEncrypted reports whether the name of a column says that it holds an encrypted value, or its initialization vector
// or index, as encrypted_email, encrypted_email_iv and email_bidx do.
func isEncrypted(column string) bool {
	return slices.Contains(names.Words(column), "encrypted") ||
		slices.Contains([]string{"iv", "bidx", "ciphertext"}, lastWord(column))
}

// needsNull reports whether no surrogate is known that satisfies the constraints of the column and reveals nothing.
func (t *table) needsNull(c datamap.CatalogColumn, m names.Match) bool {
	if len(c.Values) > 0 {
		return !slices.ContainsFunc(c.Values, isNeutral)
	}
	to := datamap.Column{Name: c.Name, Type: c.Type, Length: c.Length}
	constraints := t.checksOf(c.Name)
	valid := slices.DeleteFunc(t.candidatesFor(c, m, constraints), func(surrogate string) bool {
		return surrogate != "" && !isValid(to, surrogate)
	})
	return !slices.ContainsFunc(t.outcomes(to, valid, constraints), func(outcome datamap.Verdict) bool {
		return outcome != datamap.VerdictFails
	})
}

func (t *table) askForNull(c datamap.CatalogColumn, why string) {
	t.ask(c.Name, why+" Can every program that reads the column read NULL?", "yes: NULL", "no: leave it as it is",
		"give a surrogate")
}

// takesNull reports whether NULL satisfies all constraints of the column, even if several rows have NULL.
func (t *table) takesNull(c datamap.CatalogColumn) bool {
	if slices.ContainsFunc(t.Uniques, func(u datamap.CatalogUnique) bool {
		return u.NullsEqual && slices.Contains(u.Columns, c.Name)
	}) {
		return false
	}
	return !slices.ContainsFunc(t.checksOf(c.Name), func(check datamap.CatalogCheck) bool {
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

// surrogates has the constants that an erasure writes into columns of types that the data map does not support. The
// keys are these types.
var surrogates = map[string]string{
	"inet": "0.0.0.0", "cidr": "0.0.0.0/0", "macaddr": "00:00:00:00:00:00", "macaddr8": "00:00:00:00:00:00:00:00",
	"interval": "0", "money": "0", "tsvector": datamap.EmptySurrogate, "hstore": datamap.EmptySurrogate,
	"time":                   "00:00:00",
	"time without time zone": "00:00:00", "point": "(0,0)",
}

func baseType(declared string) string {
	base, _, _ := strings.Cut(strings.ToLower(declared), "(")
	return strings.TrimSpace(base)
}

// chooseSurrogate sets the surrogate of a column to the best candidate: one that certainly satisfies the constraints of
// the column, otherwise one that possibly does.
func (t *table) chooseSurrogate(c datamap.CatalogColumn, m names.Match, to *datamap.Column) bool {
	if to.Type == "" {
		to.Type = datamap.TypeText
	}
	constraints := t.checksOf(c.Name)
	candidates := t.candidatesFor(c, m, constraints)
	candidates = slices.DeleteFunc(candidates, func(surrogate string) bool {
		return utf8.RuneCountInString(surrogate) > 0 && !isValid(*to, surrogate)
	})
	if t.inUnique(c.Name) {
		slices.SortStableFunc(candidates, func(a, b string) int {
			return cmp.Compare(boolRank(with(*to, a).Unique()), boolRank(with(*to, b).Unique()))
		})
	}
	outcomes := t.outcomes(*to, candidates, constraints)
	for _, wanted := range []datamap.Verdict{datamap.VerdictHolds, datamap.VerdictUndecided} {
		i := slices.Index(outcomes, wanted)
		if i < 0 {
			continue
		}
		if wanted == datamap.VerdictUndecided && c.Nullable && slices.ContainsFunc(constraints, hasOtherColumns) {
			break // the constraint may refuse any value in a row that has NULL
		}
		to.Surrogate = candidates[i]
		if wanted != datamap.VerdictHolds || slices.ContainsFunc(constraints, hasOtherColumns) {
			t.askForCheck(c, constraints, to.Surrogate)
		}
		return true
	}
	if len(candidates) == 0 {
		return true
	}
	t.askForCheck(c, constraints, leaveIt)
	return false
}

// leaveIt is the option that an erasure does not write a column.
const leaveIt = "leave it as it is"

// hasOtherColumns reports whether examples are not sufficient for the verdict about a column of the constraint.
func hasOtherColumns(check datamap.CatalogCheck) bool { return len(check.Columns) > 1 }

func boolRank(b bool) int {
	if b {
		return 0
	}
	return 1
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

func (t *table) askForCheck(c datamap.CatalogColumn, constraints []datamap.CatalogCheck, surrogate string) {
	var list []string
	for _, check := range constraints {
		list = append(list, cmp.Or(check.Name, "a CHECK"))
	}
	chosen := "the surrogate of the type"
	if surrogate != "" {
		chosen = surrogate
	}
	t.ask(c.Name, "Which surrogate fits the constraints "+strings.Join(list, ", ")+"?", chosen,
		"another surrogate, or make the column nullable")
}

func (t *table) inUnique(column string) bool {
	return slices.ContainsFunc(t.Uniques, func(u datamap.CatalogUnique) bool { return slices.Contains(u.Columns, column) })
}

// askForUnique asks about each unique constraint that the erasure of a second subject would violate, because an erasure
// writes the same values into each row.
func (t *table) askForUnique() {
	if t.rowsDeleted {
		return
	}
	for _, u := range t.Uniques {
		var equal []string
		apart := false
		for _, c := range t.columns {
			if c.Personal == nil || !slices.Contains(u.Columns, c.Name) {
				continue
			}
			differs := c.Unique()
			switch c.Personal.Strategy { //nolint:exhaustive // the others write a surrogate
			case domain.StrategyNull:
				differs = !u.NullsEqual
			case domain.StrategyRetain: // a kept value may be equal in two rows, so that it does not set them apart
				if differs || c.Personal.Since == "" {
					continue
				}
			}
			if differs {
				apart = true
			} else {
				equal = append(equal, c.Name)
			}
		}
		if len(equal) > 0 && !apart {
			why := " is unique, so the second erasure fails."
			if u.Partial {
				why = " is unique in some rows, so the second erasure may fail."
			}
			t.ask(equal[0], "An erasure writes the same value into each row, but "+u.Name+why+
				" Which value should an erasure write instead?", "the surrogate, until the schema is changed",
				"make the column nullable")
		}
	}
}

// candidatesFor returns the surrogates that may satisfy the constraints of the column, best first. The empty text means
// the default surrogate of the column type. For a text, this is anon- with random digits. It stands in columns that are
// unique, in secrets, and in names by which an application finds the person. In all other texts stands the empty text.
func (t *table) candidatesFor(c datamap.CatalogColumn, m names.Match, constraints []datamap.CatalogCheck) []string {
	if len(c.Values) > 0 {
		return neutralFirst(c.Values)
	}
	if names.IsFlag(c) {
		return []string{c.Initial}
	}
	list := []string{""}
	var literals []string
	for _, check := range constraints {
		literals = append(literals, literalsOf(check.Text)...)
	}
	switch c.Type { //nolint:exhaustive // the others have one surrogate
	case datamap.TypeText:
		switch name := flat(c.Name); {
		case isInstant(c, m):
			list = instantsFor(c, m)
		case m.Means == names.Email && (strings.HasSuffix(name, flat(m.Word)) || strings.HasSuffix(name, "addr")):
			list = []string{"{}@erased.invalid", ""}
		case !t.inUnique(c.Name) && names.IsDocument(c.Name):
			list = []string{"{}", datamap.EmptySurrogate, ""}
		case !t.inUnique(c.Name) && !m.Secret && (!t.isSubject || !isHandle(m)):
			list = []string{datamap.EmptySurrogate, ""}
		case strings.HasSuffix(name, "url"), strings.HasSuffix(name, "uri"), strings.HasSuffix(name, "website"):
			list = []string{"https://erased.invalid/{}", ""}
		}
		if len(constraints) > 0 {
			list = append(list, "{}@erased.invalid", "https://erased.invalid/{}", "a{}")
			list = append(list, neutralFirst(slices.DeleteFunc(literals, isPattern))...)
			list = append(list, "0", "00", "000", "00000", "0000000000", "+00000000000", "X", "XX", "erased",
				datamap.EmptySurrogate)
		}
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

// isPattern reports whether a literal in a constraint seems to be a pattern for LIKE or a regular expression. A pattern
// is not a candidate for the value that an erasure writes.
func isPattern(text string) bool { return text == "" || strings.ContainsAny(text, `%^$*+?[](){}|\'`) }

// neutral are words that reveal nothing about a person.
var neutral = []string{
	"unknown", "unspecified", "undisclosed", "none", "other", "not_specified", "n/a", "na", "x", "anonymous", "deleted",
	"inactive", "unbekannt", "divers", "keine", "inconnu", "autre", "desconocido", "otro",
}

func isNeutral(word string) bool { return slices.Contains(neutral, strings.ToLower(word)) }

// handles are words for the name by which an application finds a person.
var handles = []string{
	"user name", "username", "user handle", "login", "login name", "handle", "slug", "acct", "alias", "nick", "nickname",
	"nick name",
	"screen name", "benutzername", "nom utilisateur", "pseudo", "pseudonyme", "nombre usuario", "apodo",
}

func isHandle(m names.Match) bool { return slices.Contains(handles, m.Word) }

// neutralFirst returns the texts with the neutral words first.
func neutralFirst(list []string) []string {
	rank := func(word string) int {
		if i := slices.Index(neutral, strings.ToLower(word)); i >= 0 {
			return i
		}
		return len(neutral)
	}
	list = slices.Clone(list)
	slices.SortStableFunc(list, func(a, b string) int { return cmp.Compare(rank(a), rank(b)) })
	return list
}
