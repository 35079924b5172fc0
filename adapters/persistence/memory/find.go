package memory

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/domain/search"
	"github.com/habeas-data/habeas/ports"
)

var _ ports.Finder = (*Store)(nil)

// Find implements ports.Finder. It searches the texts, numbers, JSON values and bytes of the newest committed state:
// all tables of the application, also those of the stores beside this one (see Options.Beside), and the tables of
// habeas of this store. The tables of habeas have the same names in the result as in a database.
func (s *Store) Find(
	ctx context.Context, values []string, progress func(search.Progress),
) (search.Result, error) {
	if err := search.CheckSearchValues(values); err != nil {
		return search.Result{}, err
	}
	sought := make([]*regexp.Regexp, len(values))
	for i, value := range values {
		sought[i] = regexp.MustCompile(search.Pattern(value))
	}
	newest := s.newest()
	if err := newest.installation.Check(s.dataMap); err != nil {
		return search.Result{}, err
	}
	places, err := newest.places(s.applicationTables())
	if err != nil {
		return search.Result{}, err
	}
	found := search.Result{Occurrences: []search.Occurrence{}, Gaps: []search.Gap{}, Skipped: s.skipped()}
	for i, place := range append(places, place{}) {
		if ctx.Err() != nil {
			return search.Result{}, endedBy(ctx)
		}
		if progress != nil {
			progress(search.Progress{Table: place.table, Done: i, Tables: len(places)})
		}
		for _, column := range place.columns {
			for value, pattern := range sought {
				if n := count(place.rows, column, pattern); n > 0 {
					found.Occurrences = append(found.Occurrences, search.Occurrence{
						Value: value, Table: place.table, Column: column, Rows: n,
					})
				}
			}
		}
	}
	return found.Complete(len(values)), nil
}

// skipped returns the columns that a search does not read.
func (s *Store) skipped() []search.Gap {
	columns := []search.Gap{}
	for _, table := range s.applicationTables() {
		for _, column := range table.Columns {
			if !isSearched(column.Type) {
				columns = append(columns, search.Gap{Table: table.Name, Column: column.Name, Reason: search.SkippedType})
			}
		}
	}
	return columns
}

func isSearched(t datamap.ColumnType) bool { return t != datamap.TypeBoolean && t != datamap.TypeTime }

// place is a table in which Find searches for values.
type place struct {
	table   string
	columns []string
	rows    []Row
}

// places returns all tables to search: first the given tables of the application, and then the tables of habeas that
// have texts about subjects.
func (s *state) places(ofApplication []datamap.Table) ([]place, error) {
	var places []place
	for _, table := range ofApplication {
		var columns []string
		for _, column := range table.Columns {
			if isSearched(column.Type) {
				columns = append(columns, column.Name)
			}
		}
		places = append(places, place{table.Name, columns, s.rows[table.Name]})
	}
	own, err := s.ownPlaces()
	return append(places, own...), err
}

// ownPlaces returns the tables of habeas with the columns whose values are not from habeas.
func (s *state) ownPlaces() ([]place, error) {
	named := func(name string, columns ...string) place {
		return place{table: datamap.ObjectPrefix(s.name) + name, columns: columns}
	}
	consents := named("consent_records", "subject_id", "purpose", "policy_version")
	restrictions := named("restriction_records", "subject_id", "purpose", "reason")
	consents.rows, restrictions.rows = s.ledgerRows(func(domain.SubjectID) bool { return true })
	events := named("audit_events", "subject_ref", "payload")
	for _, event := range s.events {
		payload, err := encoded(event.Payload)
		if err != nil {
			return nil, err
		}
		events.rows = append(events.rows, Row{"subject_ref": event.SubjectRef.String(), "payload": payload})
	}
	entries := named("outbox", "subject_id", "ref", "corrections")
	for _, entry := range s.entries {
		ref, err := encoded(entry.Ref)
		if err != nil {
			return nil, err
		}
		corrections, err := encoded(entry.Corrections)
		if err != nil {
			return nil, err
		}
		entries.rows = append(entries.rows,
			Row{"subject_id": entry.SubjectID.String(), "ref": ref, "corrections": corrections})
	}
	marks := named("subject_erasures", "subject_id")
	for id := range s.erasures {
		marks.rows = append(marks.rows, Row{"subject_id": id.String()})
	}
	requests := named("requests", "subject_id", "purpose", "reference")
	for _, r := range s.requests {
		requests.rows = append(requests.rows,
			Row{"subject_id": r.SubjectID.String(), "purpose": r.Purpose, "reference": r.Reference})
	}
	holds := named("holds", "subject_id", "reference")
	for _, hold := range s.holds {
		holds.rows = append(holds.rows, Row{"subject_id": hold.SubjectID.String(), "reference": hold.Reference})
	}
	return []place{consents, restrictions, events, entries, marks, requests, holds}, nil
}

func encoded(value any) (domain.JSON, error) {
	text, err := json.Marshal(value)
	if err != nil {
		return "", &domain.Error{Op: "find", Message: "a value cannot be encoded as JSON", Err: err}
	}
	return domain.JSON(text), nil
}

// count returns the number of rows whose text, number, JSON or bytes in a column match the pattern.
func count(rows []Row, column string, pattern *regexp.Regexp) (n int64) {
	for _, row := range rows {
		switch value := row[column].(type) {
		case nil:
		case string, domain.JSON:
			if pattern.MatchString(textOf(value)) {
				n++
			}
		default: // a number
			if pattern.MatchString(fmt.Sprint(value)) {
				n++
			}
		case []byte:
			if pattern.Match(value) {
				n++
			}
		}
	}
	return n
}
