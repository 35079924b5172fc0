package cli

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/domain/plan"
)

// mostSampled is the maximum number of rows of a step in a preview.
const mostSampled = 50

// maySample returns an error if the command must not show rows of a subject, because its output is not a terminal.
func (c *call) maySample(rows int) error {
	switch {
	case rows < 1 || rows > mostSampled:
		return usage(c.command, "--sample must be a number from 1 to 50")
	case c.out.json:
		return failed("nothing was read: --sample shows personal data, which --output json must not contain")
	case !isTerminal(c.command.OutOrStdout()):
		return failed("nothing was read: --sample shows personal data, which is only written to a terminal")
	default:
		return nil
	}
}

// rehearseOrPreview rehearses an erasure. If rows is not 0, it also writes this number of rows of each step to the
// terminal.
func (c *call) rehearseOrPreview(ctx context.Context, subject domain.Subject, rows int) (datamap.Rehearsal, error) {
	if rows == 0 {
		return c.Rehearse(ctx, subject)
	}
	return c.Preview(ctx, subject, rows, func(sample datamap.StepSample) error {
		c.out.sample(c.DataMap(), sample)
		return nil
	})
}

// sample writes the rows of a step, before and after the erasure.
func (p *printer) sample(m datamap.DataMap, s datamap.StepSample) {
	table, _ := m.Table(s.Step.Target)
	p.line(p.paint("head", printable(s.Step.Target)+": "+string(s.Step.Strategy)+", "+counted(int(s.Step.Rows), "row")))
	p.indented("path: "+pathOf(s.Step.Step, s.Path), "  ")
	for _, effect := range effectsOf(table, s.Step.Step) {
		p.indented(effect, "  ")
	}
	if len(s.Before) == 0 {
		p.line("")
		return
	}
	t := rowsTable(table)
	for i, row := range s.Before {
		key := make([]string, len(row.Key))
		for j, value := range row.Key {
			if key[j] = revealed(value); isHidden(table, table.PrimaryKey[j]) {
				key[j] = masked
			}
		}
		for j, name := range s.Columns {
			after := "(deleted)"
			if s.After[i] != nil {
				after = revealed(s.After[i].Values[j]) + keptUntil(m, table, name, s, row)
			}
			before := revealed(row.Values[j])
			if isHidden(table, name) {
				before, after = masked, masked
			}
			t.rows = append(t.rows, append(slices.Clone(key), name, before, after))
			for k := range key {
				key[k] = "" // shown once
			}
		}
	}
	p.table(t)
	p.line("")
}

// isHidden reports whether no export shows a column, or its name is that of a secret.
func isHidden(table datamap.Table, name string) bool {
	column, _ := table.Column(name)
	return column.Personal != nil && column.Personal.Export == datamap.ExportNo || isSecret(name, column.Type)
}

// rowsTable returns an empty table for the rows of a table of the application.
func rowsTable(rows datamap.Table) table {
	return table{head: append(slices.Clone(rows.PrimaryKey), "column", "before", "after")}
}

// pathOf returns the relations from the rows of a step to the subject, such as "order_id > orders, user_id > users".
func pathOf(step datamap.Step, path datamap.Path) string {
	if step.Self {
		return list(step.ClearedColumns) + " > the rows that are deleted"
	}
	if len(path.Relations) == 0 {
		return "the subject's own row"
	}
	var hops []string
	for _, relation := range path.Relations {
		hops = append(hops, list(relation.Columns)+" > "+relation.References)
	}
	return strings.Join(hops, ", ")
}

func list(names []string) string { return strings.Join(names, "+") }

// effectsOf returns lines with the columns that a step overwrites, sets to NULL and keeps.
func effectsOf(table datamap.Table, step datamap.Step) []string {
	if step.Strategy == domain.StrategyDelete {
		return nil
	}
	var overwritten, null, kept []string
	for _, name := range step.Columns {
		column, _ := table.Column(name)
		switch {
		case step.Strategy == domain.StrategyRetain:
			kept = append(kept, name+dutyOf(column))
		case column.Personal != nil && column.Personal.Strategy == domain.StrategyNull:
			null = append(null, name)
		default:
			overwritten = append(overwritten, name)
		}
	}
	if step.Strategy == domain.StrategyAnonymize {
		for _, name := range step.Expired {
			overwritten = append(overwritten, name+" (where its duty is over)")
		}
	}
	return effectLines(overwritten, append(null, step.ClearedColumns...), kept)
}

// effectLines returns a line for each effect of an erasure, with its columns.
func effectLines(overwritten, null, kept []string) (lines []string) {
	for i, columns := range [][]string{overwritten, null, kept} {
		if len(columns) > 0 {
			lines = append(lines, []string{"overwritten: ", "set to NULL: ", "kept: "}[i]+strings.Join(columns, ", "))
		}
	}
	return lines
}

func dutyOf(column datamap.Column) string {
	if column.Personal == nil || column.Personal.Since == "" {
		return " (no end)"
	}
	since := column.Personal.Since
	if column.Personal.From == datamap.FromYearEnd {
		since = "the end of the year of " + since
	}
	return " (" + column.Personal.Retain.String() + " since " + since + ")"
}

// keptUntil returns the end of the retention duty of a retained cell, if it has an end.
func keptUntil(m datamap.DataMap, table datamap.Table, name string, s datamap.StepSample,
	row datamap.SampledRow,
) string {
	column, _ := table.Column(name)
	if s.Step.Strategy != domain.StrategyRetain || column.Personal == nil {
		return ""
	}
	i := slices.Index(s.Columns, column.Personal.Since)
	if i < 0 {
		return ""
	}
	since, _ := row.Values[i].Reveal()
	if end, ok := endOfDuty(m.Duty(*column.Personal), since); ok {
		return " (kept until " + end.Format(time.DateOnly) + ")"
	}
	return ""
}

// endOfDuty returns the end of a retention duty, if it has an end. The parameter since is the text of the cell in
// Annotation.Since.
func endOfDuty(duty datamap.Duty, since string) (end time.Time, ok bool) {
	start, readable := plan.ReadStart(since)
	end, ends := duty.End(start)
	return end, readable && ends
}

// longestShown is the maximum length of a value in a preview, in characters.
const longestShown = 60

// masked stands for a value that no person may see.
const masked = "(masked)"

// revealed returns the text of a value in one short line. Only a terminal may show it.
func revealed(value domain.PrivateValue) string {
	text, null := value.Reveal()
	if null {
		return "NULL"
	}
	runes := []rune(oneLine(text))
	switch {
	case text == "":
		return "''"
	case len(runes) > longestShown:
		return string(runes[:longestShown-1]) + "…"
	default:
		return string(runes)
	}
}
