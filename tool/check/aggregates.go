package check

import (
	"slices"
	"strings"

	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/internal/sqltext"
)

// gathers reports whether a view collects the values of an annotated column of the table, as array_agg(u.email) does.
func (s *schema) gathers(table datamap.Table, view datamap.CatalogTable) bool {
	text := sqltext.TokensOf(view.Definition, sqltext.QuotesOfPostgres)
	live := s.live[table.Name]
	for i := range text {
		if !text.Is(i, aggregates...) || !text.IsSign(i+1, "(") {
			continue
		}
		end := text.ClosingBracket(i + 1)
		for at := i + 2; at < end; at++ {
			column, ok := live.Mapped(table, text[at].Text)
			if ok && column.Personal != nil && text.IsName(at) && hasName(live, view.Uses[live.Name], column.Name) &&
				isColumnOf(text, at, live) {
				return true
			}
		}
	}
	return false
}

// aggregates are the functions of PostgreSQL that collect values of several rows, or choose one of them.
var aggregates = terms(`
	array_agg, string_agg, json_agg, jsonb_agg, json_object_agg, jsonb_object_agg, xmlagg, array`)

// isColumnOf reports whether the name at i in the SQL of a view is a column of the table: it has no table before it, or
// the name or an alias of the table.
func isColumnOf(t sqltext.Tokens, i int, live datamap.CatalogTable) bool {
	if !t.IsSign(i-1, ".") {
		return true
	}
	plain, of := strings.TrimPrefix(live.Name, live.Schema+"."), t[i-2].Text
	return strings.EqualFold(of, plain) || slices.ContainsFunc(indexesOf(t, plain), func(at int) bool {
		return at+1 < len(t) && t.IsName(at+1) && strings.EqualFold(t[at+1].Text, of)
	})
}

// indexesOf returns the indexes at which a name occurs.
func indexesOf(t sqltext.Tokens, name string) (all []int) {
	for i := range t {
		if t.IsName(i) && strings.EqualFold(t[i].Text, name) {
			all = append(all, i)
		}
	}
	return all
}
