package cli

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/spf13/cobra"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/check"
)

// severities are the words of lint --fail-on. The first one is the default.
var severities = []string{string(domain.SeverityWarning), string(domain.SeverityError)}

// linting has the flags of lint.
type linting struct {
	failOn, source string
	ignored        []string
}

func lint() verb {
	l := linting{failOn: severities[0]}
	return verb{
		use:   "lint",
		short: "check the data map against the database",
		long: `Compares the data map, and the erasure that follows from it, with the live schema
of the database. An error means that an erasure would fail, or would leave
personal data. A warning means that a person should look at it. The verb reads
the schema only, never a row, and changes nothing. The topic rules lists the
rules.

The verb belongs into the CI of an application, after the migrations. With
--sarif it prints SARIF 2.1.0, which code hosts show beside the code: at the
lines of the given file that name the table or the column.`,
		example: `habeas lint
habeas lint --fail-on error --ignore table-unlinked
habeas lint --sarif models/user.go > habeas.sarif`,
		exits: exits{fine: "nothing was found of the severity of --fail-on", findings: "there are findings"},
		flags: func(c *cobra.Command) {
			c.Flags().Var(choice{&l.failOn, severities}, "fail-on",
				"least `severity` for which the exit code is 1")
			c.Flags().StringSliceVar(&l.ignored, "ignore", nil, "leave out findings of this `rule`; repeatable")
			c.Flags().StringVar(&l.source, "sarif", "", "print SARIF about this `file`, which has the data map")
			_ = c.RegisterFlagCompletionFunc("fail-on", completes(severities...))
			_ = c.RegisterFlagCompletionFunc("ignore", completes(ruleCodes()...))
		},
		run: l.run,
	}
}

func (l *linting) run(ctx context.Context, c *call) error {
	for _, code := range l.ignored {
		if !slices.Contains(ruleCodes(), code) {
			return usage(c.command, "--ignore must be a rule; see the topic rules")
		}
	}
	var lines *source
	if l.source != "" {
		var err error
		if lines, err = readSource(l.source); err != nil {
			return err
		}
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
	if lines != nil {
		encoder := json.NewEncoder(c.out)
		encoder.SetEscapeHTML(false)
		_ = encoder.Encode(sarifOf(lines, found)) // its values have a form in JSON, and the output remembers its error
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

// ruleCodes are the codes of the rules.
func ruleCodes() (codes []string) {
	for _, rule := range check.Rules() {
		codes = append(codes, rule.Code)
	}
	return codes
}

// rulesTopic lists the rules of lint.
func rulesTopic() topic {
	text := "The rules of lint, each with its severity. The code of a rule never changes."
	for _, rule := range check.Rules() {
		text += "\n\n    " + rule.Code + ", " + string(rule.Severity)
		for _, line := range wrap(rule.Title+".", pageWidth-10) {
			text += "\n        " + line
		}
	}
	return topic{"rules", "the rules of lint", text}
}
