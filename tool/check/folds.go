package check

import (
	"slices"
	"strconv"

	"github.com/habeas-data/habeas/domain/datamap"
)

// foldEqual replaces findings with the same texts about more than maxAlone tables of the data map, or about as many
// views, by one finding, except those about speed and about the data map itself. It is about the place of the first of
// them. A finding that an acceptance names stays alone.
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
		if _, mapped := s.Table(f.Table); slices.Contains(minor, f.Code) || !mapped && (!exists || isTable(live)) ||
			slices.ContainsFunc(s.Accepted(), func(a datamap.Acceptance) bool { return matchesFinding(a, f) }) {
			kept = append(kept, f)
			continue
		}
		of := texts{f.Code, f.Reason, f.Remedy, f.Severity}
		if f.Code == viewCopies {
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
			first.Reason = strconv.Itoa(len(tables[of])) + " tables or views are concerned: " +
				placesOf(found, datamap.Finding.Where) + ". " + of.reason
			kept = append(kept, first)
		}
	}
	s.findings = kept
}
