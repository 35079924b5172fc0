package cli

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/spf13/cobra"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/check"
)

// severities has the possible values of the flag --fail-on of lint. The first value is the default.
var severities = []string{string(domain.SeverityWarning), string(domain.SeverityError)}

// linting has the flags of lint.
type linting struct {
	failOn           string
	ignored, sources []string
}

func lint() subcommand {
	l := linting{failOn: severities[0]}
	return subcommand{
		use:   "lint",
		short: "check the data map against the database",
		long: `Compares the data map, and the erasure plan that follows from it, with the live
schema of the database. A finding with severity error means that an erasure would
fail or would leave personal data behind. A warning means that a person should review
the place in the data map. The command reads only the schema, and changes nothing. The
help topic "rules" lists all rules.

Run the command in the CI of an application, after the migrations. With --sarif,
it prints SARIF 2.1.0. Code hosts show such findings in the given files, next to
a line with the name of the table or column. Repeat --sarif for each file with models.`,
		example: `habeas lint
habeas lint --fail-on error --ignore table-unlinked
habeas lint --sarif models/user.go > habeas.sarif`,
		exits: exits{
			fine: "no finding reaches the severity of --fail-on", findings: "a finding reaches the severity of --fail-on",
		},
		flags: func(c *cobra.Command) {
			c.Flags().Var(choice{&l.failOn, severities}, "fail-on",
				"lowest `severity` for which the exit code is 1")
			c.Flags().StringSliceVar(&l.ignored, "ignore", nil, "omit findings of this `rule`; repeatable")
			c.Flags().StringArrayVar(&l.sources, "sarif", nil, "print SARIF; `file` has the data map or models; repeatable")
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
	all, err := c.Check(ctx)
	if err != nil {
		return err
	}
	found := []domain.Finding{}
	failing := 0
	for _, finding := range all {
		if slices.Contains(l.ignored, finding.Code) {
			continue
		}
		found = append(found, finding)
		if l.failOn != string(domain.SeverityError) || finding.Severity == domain.SeverityError {
			failing++
		}
	}
	if len(lines) > 0 {
		encoder := json.NewEncoder(c.out)
		encoder.SetEscapeHTML(false)
		_ = encoder.Encode(sarifOf(lines, found)) // encoding cannot fail, and printer.end reports a failed write
		return findings(failing)
	}
	err = c.out.show(found, func() {
		c.out.line(counted(len(found), "finding") + ".")
		if len(found) > 0 {
			c.out.findings(found)
		}
	})
	if err != nil {
		return err
	}
	return findings(failing)
}

// ruleCodes returns the codes of the rules.
func ruleCodes() (codes []string) {
	for _, rule := range check.Rules() {
		codes = append(codes, rule.Code)
	}
	return codes
}

// rulesTopic returns the help page that lists the rules of lint.
func rulesTopic() topic {
	text := "The rules of lint, each with its code and severity. The codes are stable across versions."
	for _, rule := range check.Rules() {
		text += "\n\n    " + rule.Code + ", " + string(rule.Severity)
		for _, line := range wrap(rule.Title+".", pageWidth-10) {
			text += "\n        " + line
		}
	}
	return topic{"rules", "the rules of lint", text}
}
