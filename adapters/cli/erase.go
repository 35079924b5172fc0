package cli

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/habeas-data/habeas/domain"
)

func erase() verb {
	var refs []string
	var yes, unknown bool
	return verb{
		use:   "erase SUBJECT",
		short: "erase a subject (Art. 17 GDPR)",
		long: `Deletes, anonymizes and retains the rows of a subject as the data map says, and
enqueues what external systems have to be told. All of it is one transaction for
each subject. A worker of the application tells the systems.

An external system is told if its ref is given, or if a column holds its keys.
To erase a subject again is no error: it changes nothing but surrogates.

The verb asks for confirmation, or needs --yes. With - it erases the subjects of
the standard input one after the other. It checks every line before it erases
the first one, and stops at the first failure. The subjects before that stay
erased.`,
		example: `habeas erase 42 --operator dpo
habeas erase '["de","42"]' --operator dpo --yes
habeas erase 42 --ref supportdesk=c-17 --operator dpo
habeas erase - --operator dpo --yes < subjects.txt`,
		exits: exits{
			fine:   "every subject is erased in the database of the application",
			failed: "nothing was changed for the subject that the error is about, and for\nthose after it",
		},
		args: oneSubject, acts: true,
		flags: func(c *cobra.Command) {
			c.Flags().StringArrayVar(&refs, "ref", nil, "`system=id` of the subject in an external system; repeatable")
			c.Flags().BoolVar(&yes, "yes", false, "erase without a confirmation")
			c.Flags().BoolVar(&unknown, "unknown", false, "also erase if the subject's own row is not there")
		},
		run: func(ctx context.Context, c *call) error {
			people, err := c.subjects(refs...)
			if err != nil {
				return err
			}
			for _, p := range people {
				if unknown {
					break
				}
				if err := c.mustKnow(ctx, p); err != nil {
					return err
				}
			}
			question := "Erase " + counted(len(people), "subject") + ": " + c.intention() + "."
			if err := c.confirm(ctx, yes, question); err != nil {
				return err
			}
			return c.eraseAll(ctx, people)
		},
	}
}

// intention is the plan in words.
func (c *call) intention() string {
	targets := map[domain.Strategy][]string{}
	for _, step := range c.Plan().Local() {
		if !slices.Contains(targets[step.Strategy], step.Target) {
			targets[step.Strategy] = append(targets[step.Strategy], step.Target)
		}
	}
	var parts []string
	for _, strategy := range []domain.Strategy{domain.StrategyDelete, domain.StrategyAnonymize, domain.StrategyRetain} {
		if len(targets[strategy]) > 0 {
			parts = append(parts, string(strategy)+" rows of "+strings.Join(targets[strategy], ", "))
		}
	}
	return strings.Join(parts, "; ")
}

func (c *call) eraseAll(ctx context.Context, people []person) error {
	progress := c.progress("erasing", len(people))
	defer progress.end()
	for i, p := range people {
		result, err := c.Erase(ctx, p.Subject)
		if err != nil {
			return afterSome(i, len(people), p, err)
		}
		progress.add(1)
		if err := c.out.show(result, func() { c.out.erasure(result) }); err != nil {
			return err
		}
	}
	return nil
}

// afterSome is an error of one of several subjects.
func afterSome(done, all int, p person, err error) error {
	text := p.at() + explain(err).Error()
	if all > 1 {
		text += "; " + strconv.Itoa(done) + " of " + counted(all, "subject") + " done before it"
	}
	return failed(text)
}

func (p *printer) erasure(result domain.ErasureResult) {
	p.line("Erased " + printable(written(result.SubjectID)) + " at " + instant(result.CompletedAt) + ".")
	counts := []map[string]int64{result.Deleted, result.Anonymized, result.Retained}
	tables := map[string]bool{}
	for _, count := range counts {
		for name := range count {
			tables[name] = true
		}
	}
	t := table{head: []string{"table", "deleted", "anonymized", "retained"}}
	for _, name := range slices.Sorted(maps.Keys(tables)) {
		row := []string{name}
		for _, count := range counts {
			row = append(row, strconv.FormatInt(count[name], 10))
		}
		t.rows = append(t.rows, row)
	}
	p.table(t)
	if len(result.EnqueuedExternal) > 0 {
		p.line("To be told by a worker: " + strings.Join(result.EnqueuedExternal, ", "))
	}
}
