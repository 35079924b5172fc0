package memory

import (
	"context"
	"encoding/json"
	"regexp"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports"
)

var _ ports.Finder = (*Store)(nil)

// Find implements ports.Finder. It searches the texts and JSON values of the newest committed state: all tables of the
// application, also those of the stores beside this one (see Options.Beside), and the tables of habeas of this store.
// The tables of habeas have the same names in the result as in a database.
func (s *Store) Find(
	ctx context.Context, values []string, progress func(domain.FindProgress),
) (domain.Found, error) {
	if err := domain.CheckSearchValues(values); err != nil {
		return domain.Found{}, err
	}
	sought := make([]*regexp.Regexp, len(values))
	for i, value := range values {
		sought[i] = regexp.MustCompile(domain.SearchPattern(value))
	}
	newest := s.newest()
	if err := newest.installation.Check(s.dataMap); err != nil {
		return domain.Found{}, err
	}
	places, err := newest.places(s.applicationTables())
	if err != nil {
		return domain.Found{}, err
	}
	found := domain.Found{Occurrences: []domain.Occurrence{}, Gaps: []domain.FindGap{}}
	for i, place := range append(places, place{}) {
		if ctx.Err() != nil {
			return domain.Found{}, endedBy(ctx)
		}
		if progress != nil {
			progress(domain.FindProgress{Table: place.table, Done: i, Tables: len(places)})
		}
		for _, column := range place.columns {
			for value, pattern := range sought {
				if n := count(place.rows, column, pattern); n > 0 {
					found.Occurrences = append(found.Occurrences, domain.Occurrence{
						Value: value, Table: place.table, Column: column, Rows: n,
					})
				}
			}
		}
	}
	return found, nil
}

// place is a table in which Find searches for values.
type place struct {
	table   string
	columns []string
	rows    []Row
}

// places returns all tables to search: first the given tables of the application, and then the tables of habeas that
// have texts about subjects.
func (s *state) places(ofApplication []domain.Table) ([]place, error) {
	var places []place
	for _, table := range ofApplication {
		var columns []string
		for _, column := range table.Columns {
			if column.Type != domain.TypeUUID {
				columns = append(columns, column.Name)
			}
		}
		places = append(places, place{table.Name, columns, s.rows[table.Name]})
	}
	prefix := domain.ObjectPrefix(s.name)
	reasons := place{table: prefix + "restriction_records", columns: []string{"reason"}}
	for _, record := range s.restrictions {
		if record.Reason != nil {
			reasons.rows = append(reasons.rows, Row{"reason": *record.Reason})
		}
	}
	entries := place{table: prefix + "outbox", columns: []string{"ref", "corrections"}}
	for _, entry := range s.entries {
		row := Row{}
		for column, value := range map[string]any{"ref": entry.Ref, "corrections": entry.Corrections} {
			text, err := json.Marshal(value)
			if err != nil {
				return nil, &domain.Error{Op: "find", Message: "an entry of the outbox cannot be encoded as JSON", Err: err}
			}
			row[column] = domain.JSON(text)
		}
		entries.rows = append(entries.rows, row)
	}
	return append(places, reasons, entries), nil
}

// count returns the number of rows whose text or JSON in a column matches the pattern.
func count(rows []Row, column string, pattern *regexp.Regexp) (n int64) {
	for _, row := range rows {
		switch value := row[column].(type) {
		case string, domain.JSON:
			if pattern.MatchString(textOf(value)) {
				n++
			}
		}
	}
	return n
}
