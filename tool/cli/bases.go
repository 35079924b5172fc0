package cli

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
)

// answerBases writes a legal basis and a purpose to the columns that lack them, in the tables with a name or a pattern.
// The text has the form BASIS:PURPOSE.
func (answering) answerBases(m datamap.DataMap, pattern, text string) (datamap.DataMap, []string, error) {
	word, purpose, _ := strings.Cut(text, ":")
	basis, purpose := domain.LegalBasis(word), strings.TrimSpace(purpose)
	if !basis.Valid() || purpose == "" {
		return m, nil, failed(pattern + ": the form is TABLE=BASIS:PURPOSE. A basis is one of " + legalBases())
	}
	var answered []string
	tables := m.Declared()
	for i, table := range tables {
		if !matches(pattern, table.Name) || len(table.Personal()) == 0 {
			continue
		}
		answered = append(answered, table.Name)
		tables[i].Columns = slices.Clone(table.Columns)
		for j, column := range table.Columns {
			if column.Personal != nil {
				annotation := *column.Personal
				annotation.Basis = cmp.Or(annotation.Basis, basis)
				annotation.Purpose = cmp.Or(annotation.Purpose, purpose)
				tables[i].Columns[j].Personal = &annotation
			}
		}
	}
	if len(answered) == 0 {
		return m, nil, failed(pattern + ": no such table of the data map has personal data")
	}
	next, err := remade(m, tables, m.Decisions())
	return next, answered, err
}

func legalBases() string {
	var words []string
	for _, basis := range domain.LegalBases() {
		words = append(words, string(basis))
	}
	return strings.Join(words, ", ")
}

// bases asks for the legal basis and the purpose of each table that has none.
func (t *dialogue) bases(ctx context.Context) error {
	file, err := readMapFile(t.path)
	if err != nil {
		return err
	}
	introduced := false
	for _, table := range file.dataMap.Tables() {
		table, _ = file.dataMap.Table(table.Name)
		var without []string
		for _, column := range table.Personal() {
			if column.Personal.Basis == "" || column.Personal.Purpose == "" {
				without = append(without, column.Name)
			}
		}
		if len(without) == 0 {
			continue
		}
		if !introduced {
			t.out.line("")
			t.out.indented("Last, the legal basis and the purpose of each table, such as contract:delivery. *= before it "+
				"means all tables, Enter skips a table, q leaves. A basis is one of "+legalBases()+".", "")
			introduced = true
		}
		for {
			line, err := t.ask.ask(ctx, printable(table.Name+" ("+strings.Join(without, ", ")+")")+"> ")
			if err != nil || line == "q" {
				return err
			}
			if line == "" {
				break
			}
			pattern := table.Name
			if rest, isAll := strings.CutPrefix(line, "*="); isAll {
				pattern, line = "*", rest
			}
			next, _, err := t.answerBases(file.dataMap, pattern, line)
			if err == nil {
				file.dataMap = next
				if err := file.write(); err != nil {
					return err
				}
				break
			}
			t.out.indented(explain(err).Text, "  ")
		}
	}
	return nil
}
