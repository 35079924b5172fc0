package check

import (
	"cmp"
	"slices"

	"github.com/habeas-data/habeas/domain/datamap"
)

// CompareDanger orders findings by their danger, for slices.SortFunc: errors come first, then warnings, then notices.
// Within a severity, the order is that of Rules.
func CompareDanger(a, b datamap.Finding) int {
	severities := []datamap.Severity{datamap.SeverityError, datamap.SeverityWarning, datamap.SeverityNotice}
	return cmp.Or(
		cmp.Compare(slices.Index(severities, a.Severity), slices.Index(severities, b.Severity)),
		cmp.Compare(indexOf(a.Code), indexOf(b.Code)),
	)
}

func indexOf(code string) int {
	return slices.IndexFunc(rules, func(r Rule) bool { return r.Code == code })
}

// isMinor reports whether a rule is about speed or about the data map itself.
func isMinor(code string) bool { return indexOf(code) >= indexOf("view-trusted") }

// isOfPeople reports whether a rule is about what a person has to decide or about whose rows an erasure meets, place by
// place.
func isOfPeople(code string) bool { return indexOf(code) <= indexOf("account-open") }
