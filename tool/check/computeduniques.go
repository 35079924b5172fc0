package check

import (
	"slices"
	"strings"

	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/internal/sqltext"
)

// withComputed returns a constraint in which the expression of each generated column stands for the column.
func withComputed(live datamap.CatalogTable, unique datamap.CatalogUnique) datamap.CatalogUnique {
	var columns, keys []string
	isComputed := false
	add := func(name string) {
		if !slices.Contains(columns, name) {
			columns = append(columns, name)
		}
	}
	for _, name := range unique.Columns {
		column, _ := live.Column(name)
		if !column.Generated || column.Expression == "" {
			add(name)
			keys = append(keys, `"`+name+`"`)
			continue
		}
		isComputed = true
		keys = append(keys, column.Expression)
		text := sqltext.TokensOf(column.Expression, sqltext.QuotesOfPostgres)
		for _, other := range live.Columns {
			if (written{live: other}).isIn(text) {
				add(other.Name)
			}
		}
	}
	if isComputed && !unique.Expressions && !unique.Exclusion {
		unique.Columns, unique.Expressions, unique.Definition = columns, true, "("+strings.Join(keys, ", ")+")"
	}
	return unique
}

// keyIs is what an index on expressions has for a row in which a column is NULL.
type keyIs int

const (
	keyUnknown  keyIs = iota
	keyNull           // NULL, so that the index accepts the row
	keyReplaced       // a value in place of the NULL
)

// ofNull returns what the keys of an index are if the column is NULL.
func (c written) ofNull(unique datamap.CatalogUnique) keyIs {
	is := keyUnknown
	for _, key := range keysOf(unique) {
		if !c.isIn(key) {
			continue
		}
		isReplaced, isStrict := false, true
		for i := range key {
			isCall := key.IsName(i) && key.IsSign(i+1, "(")
			isReplaced = isReplaced || isCall && slices.Contains(replacingNull, strings.ToLower(key[i].Text))
			isStrict = isStrict && (!isCall || slices.Contains(keepingNull, strings.ToLower(key[i].Text))) &&
				!key.Is(i, "case", "is", "row", "array")
		}
		if isStrict {
			return keyNull
		}
		if isReplaced {
			is = keyReplaced
		}
	}
	return is
}

// keysOf returns the keys of an index with expressions.
func keysOf(unique datamap.CatalogUnique) []sqltext.Tokens {
	text := sqltext.TokensOf(unique.Definition, sqltext.QuotesOfPostgres)
	begin := slices.IndexFunc(text, func(t sqltext.Token) bool { return t.Kind == sqltext.TokenSign && t.Text == "(" })
	if begin < 0 {
		return nil
	}
	return entriesIn(text, begin)
}

// keepingNull are functions of PostgreSQL that return NULL for NULL, and replacingNull functions that return another
// value.
var (
	keepingNull = terms(`
		lower, upper, initcap, trim, btrim, ltrim, rtrim, md5, sha256, digest, encode, replace, translate, unaccent,
		normalize, regexp_replace, split_part, left, right, substr, substring, length, abs`)
	replacingNull = terms("coalesce, concat, concat_ws, ifnull")
)
