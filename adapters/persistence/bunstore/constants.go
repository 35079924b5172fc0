package bunstore

import (
	"context"
	"strings"
	"unicode"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/conn"
	"github.com/habeas-data/habeas/domain"
)

// checkConstants returns domain.ErrManifest if a text that the data map declares has a character that the encoding of
// the database lacks. It asks the database only about texts that are not in ASCII, which every encoding has.
func (s *Store) checkConstants(ctx context.Context) error {
	var problems []domain.Problem
	for _, constant := range s.constants() {
		if !strings.ContainsFunc(constant.text, func(r rune) bool { return r > unicode.MaxASCII }) {
			continue
		}
		err := s.pool.Query(ctx, conn.Ignore, "SELECT CAST($1 AS text)", constant.text)
		switch {
		case err != nil && conn.SQLState(err) != conn.StateOfLackingCharacter:
			return err
		case err != nil:
			problems = append(problems, domain.Problem{
				Table: constant.table, Column: constant.column,
				Message: "has a " + constant.kind + " with a character that the encoding of the database lacks",
				Remedy:  "choose another text, or move the database to UTF8",
			})
		}
	}
	return domain.ManifestError("bunstore", problems)
}

// constant is a text that the data map declares for a column.
type constant struct{ table, column, kind, text string }

func (s *Store) constants() (found []constant) {
	for _, table := range s.dataMap.Declared() {
		for _, column := range table.Columns {
			found = append(found, constant{table.Name, column.Name, "surrogate", column.Surrogate})
		}
		for _, relation := range table.Relations {
			if relation.When != nil {
				found = append(found, constant{table.Name, relation.When.Column, "condition", relation.When.Value})
			}
		}
	}
	return found
}
