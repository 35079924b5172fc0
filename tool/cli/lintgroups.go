package cli

import (
	"slices"
	"strings"

	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/tool/check"
)

// lintGroup is the findings of one rule about one table.
type lintGroup struct {
	code, table string
	severity    datamap.Severity
	accepted    bool
	findings    []linted
}

// groupsOf returns the findings in groups by rule and table. The most dangerous group is the first. The accepted
// findings are the last.
func groupsOf(found []linted) (groups []lintGroup) {
	for _, f := range found {
		i := slices.IndexFunc(groups, func(g lintGroup) bool {
			return g.code == f.Code && g.table == f.Table && g.severity == f.Severity && g.accepted == (f.Acceptance != nil)
		})
		if i < 0 {
			i, groups = len(groups), append(groups, lintGroup{f.Code, f.Table, f.Severity, f.Acceptance != nil, nil})
		}
		groups[i].findings = append(groups[i].findings, f)
	}
	slices.SortStableFunc(groups, func(a, b lintGroup) int {
		if a.accepted != b.accepted {
			return ordinal(a.accepted) - ordinal(b.accepted)
		}
		return check.CompareDanger(a.findings[0].Finding, b.findings[0].Finding)
	})
	return groups
}

func ordinal(last bool) int {
	if last {
		return 1
	}
	return 0
}

// severitiesOf returns the number of tables and of open findings of each severity, such as " in 2 tables: 1 error, 2
// warnings". It returns "" if there are no open findings.
func severitiesOf(found []linted) string {
	tables, counts := map[string]bool{}, map[datamap.Severity]int{}
	for _, f := range found {
		if f.Acceptance == nil {
			tables[f.Table] = true
			counts[f.Severity]++
		}
	}
	if len(tables) == 0 {
		return ""
	}
	var parts []string
	for _, severity := range []datamap.Severity{datamap.SeverityError, datamap.SeverityWarning, datamap.SeverityNotice} {
		if counts[severity] > 0 {
			parts = append(parts, counted(counts[severity], string(severity)))
		}
	}
	return " in " + counted(len(tables), "table") + ": " + strings.Join(parts, ", ")
}

// group prints the findings of a group. Findings with the same reason share a line. The remedy follows the last finding
// that it is for.
func (p *printer) group(g lintGroup) {
	severity := string(g.severity)
	if g.accepted {
		severity = "accepted"
	}
	head := p.paint(severity, severity) + " " + g.code
	if g.table != "" {
		head += " " + printable(g.table)
	}
	p.line(head)
	for i := 0; i < len(g.findings); {
		f := g.findings[i]
		var places []string
		for ; i < len(g.findings) && alike(f, g.findings[i]); i++ {
			if where := placeIn(g.findings[i].Finding); where != "" {
				places = append(places, where)
			}
		}
		text := f.Reason
		if len(places) > 0 {
			if len(places) > 1 {
				places = apart(places)
			}
			text = strings.Join(places, ", ") + ": " + text
		}
		p.indented(text, "  ")
		if i == len(g.findings) || g.findings[i].Remedy != f.Remedy || f.Acceptance != nil {
			p.indented(f.Remedy, "    ")
		}
		if a := f.Acceptance; a != nil {
			p.indented("Accepted until "+a.Until+": "+a.Reason, "    ")
		}
	}
}

func alike(a, b linted) bool {
	return a.Reason == b.Reason && a.Remedy == b.Remedy && a.Acceptance == b.Acceptance
}

// placeIn returns the column and the object of a finding.
func placeIn(f datamap.Finding) string {
	switch {
	case f.Object == "", f.Object == check.AllPlaces: // the reason names the places
		return f.Column
	case f.Column == "":
		return f.Object
	default:
		return f.Column + " (" + f.Object + ")"
	}
}

// apart returns the places in a form in which a list shows where each of them begins: several columns are in
// parentheses.
func apart(places []string) (list []string) {
	for _, where := range places {
		if strings.Contains(where, ", ") {
			where = "(" + where + ")"
		}
		list = append(list, where)
	}
	return list
}

// indented prints a text in lines that begin with an indentation.
func (p *printer) indented(text, indentation string) {
	for _, line := range wrap(printable(text), p.width-len(indentation)) {
		p.line(indentation + line)
	}
}
