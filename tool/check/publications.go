package check

import (
	"slices"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
)

// checkPublications reports publications that refuse the changes of an erasure, also those of foreign keys, because the
// rows have no replica identity.
func (s *schema) checkPublications() {
	for _, live := range s.catalog.Tables {
		for _, publication := range live.Publications {
			for _, event := range publication.Refuses {
				if !slices.Contains(s.changes(live), event) {
					continue
				}
				s.report("replica-identity-missing", place{table: s.nameOf(live), object: publication.Name},
					"The publication "+publication.Name+" publishes changes of the table, but its rows have no replica identity. "+
						"The database refuses each "+event+" of an erasure.")
			}
		}
	}
}

// changes returns the kinds of statements (UPDATE, DELETE) that change rows of a table in an erasure: those of its
// steps, and those of the foreign keys of the table.
func (s *schema) changes(live datamap.CatalogTable) (events []string) {
	for _, name := range append([]string{live.Name}, live.Inherits...) {
		table, mapped := s.mappedTable(name)
		for _, step := range s.steps {
			switch {
			case !mapped || step.Target != table.Name || step.Strategy == domain.StrategyRetain && len(step.Expired) == 0:
			case step.Strategy == domain.StrategyDelete:
				events = append(events, "DELETE")
			default:
				events = append(events, "UPDATE")
			}
		}
	}
	for _, foreign := range live.ForeignKeys {
		parent, _ := s.catalog.Table(foreign.References)
		table := s.mapped[parent.Name]
		isPassedOn := slices.ContainsFunc(s.writtenColumns(table.Name), func(c written) bool {
			return foreign.ActsOnUpdate() && hasName(parent, foreign.Referenced, c.Name)
		})
		switch {
		case isPassedOn, slices.Contains(s.losing, parent.Name) && foreign.OnDelete.Acts() &&
			foreign.OnDelete != datamap.ActionCascade:
			events = append(events, "UPDATE")
		case slices.Contains(s.losing, parent.Name) && foreign.OnDelete == datamap.ActionCascade:
			events = append(events, "DELETE")
		}
	}
	return events
}
