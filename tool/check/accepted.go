package check

import (
	"slices"
	"strconv"
	"time"

	"github.com/habeas-data/habeas/domain/datamap"
)

// accept separates the accepted findings from the others. It adds a finding about each acceptance that has ended, that
// matches no finding, or that matches several. Such an acceptance ends no finding.
func (s *schema) accept(all []datamap.Acceptance) []AcceptedFinding {
	accepted := []AcceptedFinding{}
	ended := make([]bool, len(s.findings)) // by an acceptance
	var about []datamap.Finding
	for _, a := range all {
		var matches []int
		for i, finding := range s.findings {
			if matchesFinding(a, finding) {
				matches = append(matches, i)
			}
		}
		if exact := slices.IndexFunc(matches, func(i int) bool { return s.findings[i].Object == a.Object }); exact >= 0 {
			matches = matches[exact : exact+1] // a finding without an object, beside others with one
		}
		switch {
		case hasEnded(a, s.now) && len(matches) == 0:
			about = append(about, aboutAcceptance("acceptance-expired", a, "The acceptance has ended on "+a.Until+
				", and matches no finding.", "Remove the acceptance."))
		case hasEnded(a, s.now):
			about = append(about, aboutAcceptance("acceptance-expired", a,
				"The acceptance of this finding has ended on "+a.Until+".",
				"Fix the cause of the finding, or accept it again until a later day."))
		case len(matches) == 0:
			about = append(about, aboutAcceptance("acceptance-unused", a, "The acceptance matches no finding: "+
				s.missed(a)+".", "Remove the acceptance, or correct it."))
		case len(matches) > 1:
			about = append(about, aboutAcceptance("acceptance-ambiguous", a, "The acceptance matches "+
				strconv.Itoa(len(matches))+" findings, and accepts none of them.", "Name the object of one of the findings."))
		case !ended[matches[0]]:
			ended[matches[0]] = true
			accepted = append(accepted, AcceptedFinding{Finding: s.findings[matches[0]], Acceptance: a})
		}
	}
	open := []datamap.Finding{}
	for i, finding := range s.findings {
		if !ended[i] {
			open = append(open, finding)
		}
	}
	s.findings = append(open, about...)
	s.sort()
	return accepted
}

// hasEnded reports whether the last day of an acceptance is over at the given instant. An Until that is not valid has
// ended.
func hasEnded(a datamap.Acceptance, now time.Time) bool {
	last, err := time.Parse(time.DateOnly, a.Until)
	return err != nil || !now.Before(last.AddDate(0, 0, 1))
}

// matchesFinding reports whether an acceptance is for the finding. If its object is empty, it may match several
// findings.
func matchesFinding(a datamap.Acceptance, f datamap.Finding) bool {
	return a.Rule == f.Code && a.Table == f.Table && a.Column == f.Column && (a.Object == "" || a.Object == f.Object)
}

// missed says which part of an acceptance no finding has: the first one that differs from those of its rule.
func (s *schema) missed(a datamap.Acceptance) string {
	has := func(matches func(f datamap.Finding) bool) bool {
		return slices.ContainsFunc(s.findings, func(f datamap.Finding) bool { return f.Code == a.Rule && matches(f) })
	}
	switch {
	case !slices.ContainsFunc(rules, func(r Rule) bool { return r.Code == a.Rule }):
		return "no rule has this code"
	case !has(func(datamap.Finding) bool { return true }):
		return "nothing breaks its rule now"
	case !has(func(f datamap.Finding) bool { return f.Table == a.Table }):
		return "no finding of its rule is about its table"
	case !has(func(f datamap.Finding) bool { return f.Table == a.Table && f.Column == a.Column }):
		return "findings of its rule and table have another column"
	default:
		return "the finding of its rule, table and column has another object"
	}
}

// aboutAcceptance returns a finding about an acceptance. Its object is the accepted rule.
func aboutAcceptance(code string, a datamap.Acceptance, reason, remedy string) datamap.Finding {
	return datamap.Finding{
		Code: code, Severity: severityOf(code), Table: a.Table, Column: a.Column, Object: a.Rule,
		Reason: reason, Remedy: remedy,
	}
}
