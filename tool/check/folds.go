package check

import (
	"slices"
	"strconv"
	"strings"

	"github.com/habeas-data/habeas/domain/datamap"
)

// maxAlone is the greatest number of tables for which each place is a finding of its own.
const maxAlone = 3

// foldForeignKeys replaces the findings foreign-key-missing about more than maxAlone tables by one finding.
func (s *schema) foldForeignKeys() {
	s.foldMissing("foreign-key-missing", wherePlaced, func(n, places string) string {
		return n + " tables refer without a foreign key: " + places +
			". If a transaction adds a row to one of them while an erasure of its subject runs, the row stays."
	}, "Create a foreign key on each of these columns. If rows may stay when the application itself deletes a person, "+
		"accept the finding.")
}

// foldIndexes replaces the findings index-missing about more than maxAlone tables by one finding.
func (s *schema) foldIndexes() {
	s.foldMissing("index-missing", s.whereWithRows, func(n, places string) string {
		return n + " tables lack an index for a search of an erasure, which scans the complete table: " + places + "."
	}, "Create an index on each of these columns.")
}

// foldMissing replaces the findings with the given code about more than maxAlone tables by one finding. It leaves out
// findings with an object, and those that an acceptance names.
func (s *schema) foldMissing(
	code string, where func(datamap.Finding) string, reason func(n, places string) string, remedy string,
) {
	var missing, others []datamap.Finding
	for _, f := range s.findings {
		isAccepted := slices.ContainsFunc(s.Accepted(), func(a datamap.Acceptance) bool { return matchesFinding(a, f) })
		if f.Code == code && f.Object == "" && !isAccepted {
			missing = append(missing, f)
		} else {
			others = append(others, f)
		}
	}
	tables := map[string]bool{}
	for _, f := range missing {
		tables[f.Table] = true
	}
	if len(tables) <= maxAlone {
		return
	}
	s.findings = others
	s.report(code, place{table: missing[0].Table, object: AllPlaces},
		reason(strconv.Itoa(len(tables)), placesOf(missing, where)), remedy)
}

// wherePlaced returns the place of a finding, such as users.email, or users (id, tenant_id) for several columns.
func wherePlaced(f datamap.Finding) string {
	if strings.Contains(f.Column, ", ") {
		return f.Table + " (" + f.Column + ")"
	}
	return f.Where()
}

// whereWithRows is wherePlaced with the number of rows of the table, if the database has statistics about it.
func (s *schema) whereWithRows(f datamap.Finding) string {
	live, exists := s.catalog.Table(f.Table)
	if !exists || live.Rows < 0 {
		return wherePlaced(f)
	}
	return wherePlaced(f) + " (about " + strconv.FormatInt(live.Rows, 10) + " rows)"
}

// AllPlaces is the object of a finding that replaces those about several tables. An acceptance with this object ends
// the whole finding.
const AllPlaces = "all"

// foldEqual replaces findings with the same texts about more than maxAlone tables of the data map, or about as many
// views, by one finding, except those about speed and about the data map itself. It is about the place of the first of
// them, or about that of an acceptance of the whole finding. A finding that another acceptance names stays alone.
func (s *schema) foldEqual() {
	type texts struct {
		code, reason, remedy string
		severity             datamap.Severity
	}
	var order []texts
	groups, tables := map[texts][]datamap.Finding{}, map[texts]map[string]bool{}
	kept := []datamap.Finding{}
	for _, f := range s.findings {
		live, exists := s.catalog.Table(f.Table)
		if _, mapped := s.Table(f.Table); isMinor(f.Code) || isOfPeople(f.Code) || !mapped && (!exists || isTable(live)) ||
			slices.ContainsFunc(s.Accepted(), func(a datamap.Acceptance) bool { return matchesFinding(a, f) }) {
			kept = append(kept, f)
			continue
		}
		of := texts{f.Code, f.Reason, f.Remedy, f.Severity}
		if f.Code == "view-copies" {
			of.reason = "They are materialized views. They keep deleted and overwritten data until they are refreshed."
		}
		if groups[of] == nil {
			order, tables[of] = append(order, of), map[string]bool{}
		}
		groups[of], tables[of][f.Table] = append(groups[of], f), true
	}
	for _, of := range order {
		if found := groups[of]; len(tables[of]) <= maxAlone {
			kept = append(kept, found...)
		} else {
			first := found[0]
			if i := slices.IndexFunc(found, s.isAcceptedWithAll); i >= 0 {
				first = found[i]
			}
			first.Object = AllPlaces
			first.Remedy += " An acceptance with the object all ends the whole finding."
			first.Reason = strconv.Itoa(len(tables[of])) + " tables or views are concerned: " +
				placesOf(found, wherePlaced) + ". " + of.reason
			kept = append(kept, first)
		}
	}
	s.findings = kept
}

// isAcceptedWithAll reports whether an acceptance of a whole finding names the place of one of the findings in it.
func (s *schema) isAcceptedWithAll(f datamap.Finding) bool {
	f.Object = AllPlaces
	return slices.ContainsFunc(s.Accepted(), func(a datamap.Acceptance) bool {
		return a.Object == AllPlaces && matchesFinding(a, f)
	})
}

// placesOf returns the places of findings, sorted and without duplicates.
func placesOf(findings []datamap.Finding, where func(datamap.Finding) string) string {
	var all []string
	for _, f := range findings {
		all = append(all, where(f))
	}
	slices.Sort(all)
	return list(slices.Compact(all))
}
