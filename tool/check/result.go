package check

import (
	"context"
	"slices"
	"strings"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/ports"
	"github.com/habeas-data/habeas/tool/internal/facts"
)

// Result is the complete result of a check.
type Result struct {
	Findings []datamap.Finding `json:"findings"` // in order, without the accepted ones
	Accepted []AcceptedFinding `json:"accepted"` // in the same order
	LeftOut  []LeftOut         `json:"left_out"` // in the order of the names
	// Uncounted are the places whose rows were not counted, in the order of the declared tables.
	Uncounted []Uncounted `json:"uncounted"`
}

// LeftOut is a table that stays out of the data map because a person has decided so.
type LeftOut struct {
	Table   string `json:"table"`
	Answer  string `json:"answer"`
	Because string `json:"because,omitempty"`
	// LeadsToPeople says that a foreign key leads from the table to people.
	LeadsToPeople bool `json:"leads_to_people"`
}

// LeftOutOf returns the tables of the live database that stay out of the data map because a person has decided so. It
// reads the catalog. Result.LeftOut has the same tables.
func LeftOutOf(ctx context.Context, reader ports.CatalogReader, dataMap datamap.DataMap) ([]LeftOut, error) {
	if len(dataMap.Decisions()) == 0 {
		return []LeftOut{}, nil
	}
	catalog, err := reader.Catalog(ctx)
	if err != nil {
		return nil, err
	}
	return newSchema(dataMap, datamap.Plan{}, catalog, false).leftOut(), nil
}

func (s *schema) leftOut() []LeftOut {
	all := []LeftOut{}
	for _, live := range s.catalog.Tables {
		decision, decided := s.decisionAbout(live)
		if _, mapped := s.mapped[live.Name]; mapped || !decided || decision.IsOpen() {
			continue
		}
		all = append(all, LeftOut{live.Name, decision.Answer, decision.Because, slices.ContainsFunc(
			s.facts.Links(live), func(l facts.Link) bool { return l.ForeignKey },
		)})
	}
	return all
}

// AcceptedFinding is a finding that an acceptance ends.
type AcceptedFinding struct {
	datamap.Finding
	Acceptance datamap.Acceptance `json:"acceptance"`
}

// Errors returns a domain.ErrManifest error that lists the findings of datamap.SeverityError, or nil if no finding has
// this severity. An application that must not start with such findings returns this error at start-up.
// domain.Problems(err) returns the listed findings as values.
func Errors(findings []datamap.Finding) error {
	var problems []domain.Problem
	for _, finding := range findings {
		if finding.Severity == datamap.SeverityError {
			problems = append(problems, domain.Problem{
				Table: finding.Table, Column: finding.Column, Remedy: finding.Remedy,
				Message: finding.Code + ": " + strings.TrimSuffix(finding.Reason, "."),
			})
		}
	}
	return domain.ManifestError("check", problems)
}
