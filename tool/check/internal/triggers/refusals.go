package triggers

import (
	"slices"
	"strings"

	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/internal/sqltext"
)

// MayRefuse reports whether a trigger may refuse or skip an UPDATE that changes no other columns than the given ones.
// It returns true if the code is not known.
func MayRefuse(table datamap.CatalogTable, of datamap.CatalogTrigger, changed []string) bool {
	t := trigger{CatalogTrigger: of, table: table}
	if table.FoldsCase || of.Language != "plpgsql" {
		return true
	}
	t.readHeader(sqltext.TokensOf(of.Definition, sqltext.QuotesOfPostgres))
	text := sqltext.TokensOf(of.Code, sqltext.QuotesOfPostgres).Body()
	at := change{table: table, some: changed}
	if at.enters(guard{conditions: t.when}) == notTrue {
		return false
	}
	for i := range text {
		isSkip := t.early && text.Is(i, "return") && text.Is(i+1, "null")
		around, _ := guardsBefore(text, i)
		if (raises(text, i) || isSkip) &&
			!slices.ContainsFunc(around, func(g guard) bool { return at.enters(g) == notTrue }) {
			return true
		}
	}
	return false
}

// SetsOf returns the columns that triggers of a table set in the row before it is written. It returns false if the code
// of such a trigger is not known, or sets the complete row.
func SetsOf(table datamap.CatalogTable) (columns []string, known bool) {
	for _, of := range table.Triggers {
		t := trigger{CatalogTrigger: of, table: table}
		t.readHeader(sqltext.TokensOf(of.Definition, sqltext.QuotesOfPostgres))
		switch isOfPostgres := of.Language == "c" && t.calls == unlinker || of.Language == "internal"; {
		case !t.early, isOfPostgres:
			continue
		case of.Language != "plpgsql":
			return nil, false
		}
		text := sqltext.TokensOf(of.Code, sqltext.QuotesOfPostgres).Body()
		for i := range text {
			at := i + 1
			if text.IsSign(at, ".") {
				at += 2
			}
			isSet := text.IsSign(at, ":") && text.IsSign(at+1, "=") || text.IsSign(at, "=") && beginsStatement(text, i) ||
				text.Is(i-1, "into", "strict") || text.IsSign(i-1, ",")
			switch {
			case !text.Is(i, "new") || !isSet:
			case at == i+1 && !text.IsSign(i-1, ","):
				return nil, false
			case at > i+1:
				columns = append(columns, text[i+2].Text)
			}
		}
	}
	return columns, true
}

// beginsStatement reports whether a statement begins at i.
func beginsStatement(text sqltext.Tokens, i int) bool {
	return i == 0 || text.IsSign(i-1, ";") || text.Is(i-1, "declare", "begin", "then", "else", "loop")
}

func containsFold(list []string, name string) bool {
	return slices.ContainsFunc(list, func(other string) bool { return strings.EqualFold(other, name) })
}
