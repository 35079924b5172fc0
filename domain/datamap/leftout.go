package datamap

import (
	"regexp"
	"slices"
	"strings"
)

// LeftOutIn returns the tables that the questions in the note of the subject's table name. Such a question is about
// several tables, or about columns of several tables. It may say in brackets which columns of a table it is about. Two
// examples:
//
//	DECIDE: Tables letters (user_id), calls (user_id): Are some of them the person's own rows?
//	DECIDE: Columns letters.owner_id, calls.target_id: Do they lead to a person in some rows?
//
// The result has one entry for each table. A table is decided if all questions that name it are answered. The note of
// the entry holds these questions, each with the names of the columns only.
func LeftOutIn(note string) (tables []LeftOut) {
	at := questionMarks.FindAllStringIndex(note, -1)
	for i, mark := range at {
		end := len(note)
		if i+1 < len(at) {
			end = at[i+1][0]
		}
		begin := listBegin.FindString(note[mark[1]:end])
		list, _, isList := strings.Cut(note[mark[1]+len(begin):end], ": ")
		if begin == "" || !isList {
			continue
		}
		word := note[mark[0]:mark[1]]
		for _, name := range splitList(list) {
			name, about, _ := strings.Cut(unquoted(name), "(")
			if isColumns := strings.HasPrefix(strings.ToLower(begin), "column"); isColumns {
				point := max(strings.LastIndexByte(name, '.'), 0) // a column of the subject's table has none
				name, about = name[:point], name[min(point+1, len(name)):]
			}
			question := LeftOut{Table: strings.TrimSpace(name), Decided: word == Decided, Note: word + strings.Trim(about, ") ")}
			j := slices.IndexFunc(tables, func(t LeftOut) bool { return t.Table == question.Table })
			switch {
			case question.Table == "":
			case j < 0:
				tables = append(tables, question)
			default:
				tables[j].Decided = tables[j].Decided && question.Decided
				tables[j].Note += " " + question.Note
			}
		}
	}
	return tables
}

var (
	questionMarks = regexp.MustCompile(Decided + "|" + Decide)
	listBegin     = regexp.MustCompile(`^(?i:tables?|columns?)\s+`)
	listAnd       = regexp.MustCompile(`^and\s+`)
)

// splitList returns the entries of a list such as a (b, c), "d" and e. A comma in brackets or in quotes separates no
// entries.
func splitList(list string) (entries []string) {
	depth, quoted, start := 0, false, 0
	end := func(at, next int) {
		if entry := listAnd.ReplaceAllString(strings.TrimSpace(list[start:at]), ""); entry != "" {
			entries = append(entries, entry)
		}
		start = next
	}
	for i, r := range list {
		switch {
		case r == '"' || r == '`':
			quoted = !quoted
		case quoted:
		case r == '(':
			depth++
		case r == ')':
			depth--
		case r == ',' && depth == 0:
			end(i, i+1)
		case depth == 0 && strings.HasPrefix(list[i:], " and "):
			end(i, i+len(" and "))
		}
	}
	end(len(list), len(list))
	return entries
}

// unquoted returns a name, or a name with a schema, without the quotes of SQL.
func unquoted(name string) string { return strings.NewReplacer(`"`, "", "`", "").Replace(name) }
