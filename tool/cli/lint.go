package cli

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/ports"
	"github.com/habeas-data/habeas/tool/check"
)

// severities has the possible values of the flag --fail-on of lint. The first value is the default.
var severities = []string{string(datamap.SeverityWarning), string(datamap.SeverityError)}

// linting has the flags of lint.
type linting struct {
	failOn           string
	ignored, sources []string
	all, rows        bool
}

// countingTime is how long lint counts rows.
const countingTime = 30 * time.Second

func lint() subcommand {
	l := linting{failOn: severities[0]}
	return subcommand{
		use: "lint",
		flags: func(c *cobra.Command) {
			c.Flags().Var(choice{&l.failOn, severities}, "fail-on",
				"lowest `severity` for which the exit code is 1")
			c.Flags().StringSliceVar(&l.ignored, "ignore", nil, "omit findings of this `rule`; repeatable")
			c.Flags().StringArrayVar(&l.sources, "sarif", nil, "print SARIF; `file` has the data map or models; repeatable")
			c.Flags().BoolVar(&l.rows, "rows", false, "count rows for the rules that need them, for at most 30 seconds")
			c.Flags().BoolVar(&l.all, "all", false, "also show accepted findings")
			_ = c.RegisterFlagCompletionFunc("fail-on", completes(severities...))
			_ = c.RegisterFlagCompletionFunc("ignore", completes(ruleCodes()...))
		},
		run: l.run,
	}
}

func (l *linting) run(ctx context.Context, c *call) error {
	for _, code := range l.ignored {
		if !slices.Contains(ruleCodes(), code) {
			return usage(c.command, `--ignore must be the code of a rule; see the help topic "rules"`)
		}
	}
	lines, err := readSources(l.sources)
	if err != nil {
		return err
	}
	options := check.Options{Registers: c.Registers, Manifest: c.manifest}
	if l.rows {
		options.Rows = limitedCounter{c, time.Now().Add(countingTime)}
	}
	result, err := check.Run(ctx, c, c.DataMap(), c.Plan(), options)
	if err != nil {
		return err
	}
	found, failing := []linted{}, 0
	for _, finding := range result.Findings {
		if l.ignores(finding) {
			continue
		}
		found = append(found, linted{Finding: finding})
		if l.counts(finding) {
			failing++
		}
	}
	open, accepted := len(found), 0
	for _, finding := range result.Accepted {
		if l.ignores(finding.Finding) {
			continue
		}
		accepted++
		if l.all {
			found = append(found, linted{finding.Finding, &finding.Acceptance})
		}
	}
	if len(lines) > 0 {
		encoder := json.NewEncoder(c.out)
		encoder.SetEscapeHTML(false)
		_ = encoder.Encode(sarifOf(lines, found)) // encoding cannot fail, and printer.end reports a failed write
		return findings(failing)
	}
	if err := c.out.show(found, func() {
		c.out.linted(found, open, accepted)
		c.out.leftOut(result.LeftOut)
		c.out.uncounted(result.Uncounted)
	}); err != nil {
		return err
	}
	return findings(failing)
}

// limitedCounter counts rows until an instant.
type limitedCounter struct {
	ports.RowCounter
	until time.Time
}

// CountRows implements ports.RowCounter.
func (l limitedCounter) CountRows(ctx context.Context, of datamap.RowQuestion) (datamap.RowCount, error) {
	ctx, cancel := context.WithDeadline(ctx, l.until)
	defer cancel()
	return l.RowCounter.CountRows(ctx, of)
}

// uncounted prints the places whose rows were not counted, so that nobody takes no findings for no rows.
func (p *printer) uncounted(all []check.Uncounted) {
	var places []string
	for _, u := range all {
		places = append(places, u.Rule+" "+u.Table+"."+u.Column)
	}
	if len(places) > 0 {
		p.indented("Not counted: "+strings.Join(places, ", ")+". Run lint with --rows on a database with rows.", "")
	}
}

// linted is a finding of lint.
type linted struct {
	datamap.Finding
	Acceptance *datamap.Acceptance `json:"acceptance,omitempty"` // nil if the finding is not accepted
}

// counts reports whether the finding reaches the severity of --fail-on. A notice never does.
func (l *linting) counts(f datamap.Finding) bool {
	return f.Severity == datamap.SeverityError ||
		f.Severity == datamap.SeverityWarning && l.failOn == string(datamap.SeverityWarning)
}

func (l *linting) ignores(f datamap.Finding) bool { return slices.Contains(l.ignored, f.Code) }

// linted prints the number of the open and of the accepted findings, and the findings in groups.
func (p *printer) linted(found []linted, open, accepted int) {
	line := counted(open, "finding") + severitiesOf(found)
	if accepted > 0 {
		line += ", and " + counted(accepted, "accepted finding")
	}
	p.line(line + ".")
	for _, group := range groupsOf(found) {
		p.line("")
		p.group(group)
	}
}

// ruleCodes returns the codes of the rules.
func ruleCodes() (codes []string) {
	for _, rule := range check.Rules() {
		codes = append(codes, rule.Code)
	}
	return codes
}

// rulesTopic returns the help page that lists the rules of lint.
func rulesTopic() *cobra.Command {
	text := "The rules of lint, each with its code and severity. The codes are stable\nacross versions."
	for _, rule := range check.Rules() {
		text += "\n\n    " + rule.Code + ", " + string(rule.Severity)
		for _, line := range wrap(rule.Title+".", pageWidth-10) {
			text += "\n        " + line
		}
	}
	return &cobra.Command{Use: "rules", Short: "the rules of lint", Long: text, Annotations: documented("").Annotations}
}

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
