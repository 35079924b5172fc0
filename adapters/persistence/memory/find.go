package memory

import (
	"cmp"
	"context"
	"encoding/json"
	"regexp"
	"slices"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports"
)

var _ ports.Finder = (*Store)(nil)

// Find implements ports.Finder. It searches the texts and JSON values of the newest committed state. The tables of
// habeas have the same names in the result as in a database.
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
	places, err := s.committed.Load().places()
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

// places returns all tables to search: first the tables of the application, ordered by name, and then the tables of
// habeas that have texts about subjects.
func (s *state) places() ([]place, error) {
	var places []place
	for _, table := range s.dataMap.Tables() {
		var columns []string
		for _, column := range table.Columns {
			if column.Type != domain.TypeUUID {
				columns = append(columns, column.Name)
			}
		}
		places = append(places, place{table.Name, columns, s.rows[table.Name]})
	}
	slices.SortFunc(places, func(a, b place) int { return cmp.Compare(a.table, b.table) })
	reasons := place{table: "habeas_restriction_records", columns: []string{"reason"}}
	for _, record := range s.restrictions {
		if record.Reason != nil {
			reasons.rows = append(reasons.rows, Row{"reason": *record.Reason})
		}
	}
	entries := place{table: "habeas_outbox", columns: []string{"ref", "corrections"}}
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
