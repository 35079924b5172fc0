package cli

import (
	"cmp"
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
	var plan string
	var yes, unknown bool
	return verb{
		use:   "erase SUBJECT",
		short: "erase a subject (Art. 17 GDPR)",
		long: `Deletes, anonymizes and retains the rows of a subject as the data map says, and
enqueues the calls to external systems. All of it is one transaction for
each subject. A worker of the application tells the systems.

An external system is told if its ref is given, or if a column holds its keys.
A second erasure of a subject succeeds. It changes nothing but surrogates.

The verb asks for confirmation, or needs --yes. The question has the counts of a
rehearsal, and the erasure is carried out only if it comes to the same. With
--plan it is carried out only if it comes to what rehearse has shown.

With - it erases the subjects of the standard input one after the other. It
checks every line before it erases the first one, and stops at the first
failure. The subjects before that stay erased.`,
		example: `habeas erase 42 --operator dpo
habeas erase '["de","42"]' --operator dpo --yes
habeas erase 42 --ref supportdesk=c-17 --operator dpo
habeas erase 42 --plan 3f2504e04f8911d39a0c0305e82c3301 --operator dpo --yes
habeas erase - --operator dpo --yes < subjects.txt`,
		exits: exits{
			fine:   "every subject is erased in the database of the application",
			failed: "nothing was changed for the subject that the error is about, and for\nthose after it",
		},
		args: oneSubject, acts: true,
		flags: func(c *cobra.Command) {
			refFlag(c, &refs)
			c.Flags().StringVar(&plan, "plan", "", "`hash` of a rehearsal that the erasure must come to")
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
			if plan != "" && len(people) > 1 {
				return usage(c.command, "--plan is for one subject")
			}
			if !yes {
				if plan, err = c.confirmErasure(ctx, people, plan); err != nil {
					return err
				}
			}
			return c.eraseAll(ctx, people, plan)
		},
	}
}

// confirmErasure asks for a confirmation of an erasure with its counts, and returns the fingerprint of these counts, or
// the one that it was given.
func (c *call) confirmErasure(ctx context.Context, people []person, plan string) (string, error) {
	if len(people) > 1 || !c.hasPerson() {
		return "", c.confirm(ctx, false, "")
	}
	intention, fingerprint, err := c.intention(ctx, people[0])
	if err != nil {
		return "", err
	}
	return cmp.Or(plan, fingerprint), c.confirm(ctx, false, "Erase 1 subject: "+intention+".")
}

// erase erases a subject, if the fingerprint of a rehearsal is given only as it was rehearsed.
func (c *call) erase(ctx context.Context, subject domain.Subject, plan string) (domain.ErasureResult, error) {
	if plan != "" {
		return c.EraseAsRehearsed(ctx, subject, plan)
	}
	return c.Erase(ctx, subject)
}

func (c *call) eraseAll(ctx context.Context, people []person, plan string) error {
	progress := c.progress("erasing", len(people))
	defer progress.end()
	for i, p := range people {
		result, err := c.erase(ctx, p.Subject, plan)
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
