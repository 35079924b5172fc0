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
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/domain/plan"
	"github.com/habeas-data/habeas/tool/check"
)

func erase() subcommand {
	var refs []string
	var plan string
	var yes, unknown bool
	return subcommand{
		use:  "erase SUBJECT",
		args: oneSubject, needsOperator: true,
		flags: func(c *cobra.Command) {
			refFlag(c, &refs)
			c.Flags().StringVar(&plan, "plan", "", "`hash` of a rehearsal that the erasure must match")
			c.Flags().BoolVar(&yes, "yes", false, "erase without confirmation")
			c.Flags().BoolVar(&unknown, "unknown", false, "also erase if the subject has no row")
		},
		run: func(ctx context.Context, c *call) error {
			if c.command.Flags().Changed("plan") && datamap.CheckFingerprint(plan) != nil {
				return usage(c.command, "--plan must be the 32 hexadecimal digits that rehearse has shown")
			}
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

// confirmErasure asks a person to confirm an erasure. For one subject, it first rehearses the erasure and shows the
// steps. It then returns planHash, or if planHash is empty, the fingerprint of the rehearsal. For
// several subjects, the returned fingerprint is empty.
func (c *call) confirmErasure(ctx context.Context, people []person, planHash string) (string, error) {
	if len(people) > 1 || !c.hasPerson() {
		return "", c.confirm(ctx, false, "")
	}
	fingerprint, err := c.showEffect(ctx, people[0])
	if err != nil {
		return "", err
	}
	return cmp.Or(planHash, fingerprint), c.confirm(ctx, false, "Erase 1 subject?")
}

// erase erases a subject. If fingerprint is not empty, erase fails unless the erasure has this fingerprint.
func (c *call) erase(ctx context.Context, subject domain.Subject, fingerprint string) (domain.ErasureResult, error) {
	if fingerprint != "" {
		return c.EraseAsRehearsed(ctx, subject, fingerprint)
	}
	return c.Erase(ctx, subject)
}

func (c *call) eraseAll(ctx context.Context, people []person, fingerprint string) error {
	progress := c.progress("erasing", len(people))
	defer progress.end()
	for i, p := range people {
		result, err := c.erase(ctx, p.Subject, fingerprint)
		if err != nil {
			return afterSome(i, len(people), p, err)
		}
		progress.add(1)
		asText := c.out.erasure
		if p.line > 0 {
			asText = c.out.erasureInLine
		}
		if err := c.out.show(result, func() { asText(result) }); err != nil {
			return err
		}
	}
	c.out.undecided(c.openQuestions())
	return nil
}

// afterSome returns the error of a command that processes several subjects and has failed for the subject p. The text
// of the error has the number of subjects that were processed before p.
func afterSome(done, all int, p person, err error) error {
	text := p.place() + explain(err).Error()
	if all > 1 {
		text += "; " + strconv.Itoa(done) + " of " + counted(all, "subject") + " were done before"
	}
	return failed(text)
}

func (p *printer) erasure(result domain.ErasureResult) {
	p.line("Erased " + printable(formatID(result.SubjectID)) + " at " + instant(result.CompletedAt) + ".")
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
	p.cascaded("The database also deleted or changed", result.Cascaded)
	if len(result.EnqueuedExternal) > 0 {
		p.line("A worker will call: " + strings.Join(result.EnqueuedExternal, ", "))
	}
}

// erasureInLine prints the result of one of several erasures.
func (p *printer) erasureInLine(result domain.ErasureResult) {
	var parts []string
	for _, part := range []struct {
		counts map[string]int64
		says   string
	}{{result.Deleted, "deleted"}, {result.Anonymized, "anonymized"}, {result.Retained, "retained"}} {
		total := int64(0)
		for _, n := range part.counts {
			total += n
		}
		parts = append(parts, strconv.FormatInt(total, 10)+" "+part.says)
	}
	if n := len(result.EnqueuedExternal); n > 0 {
		parts = append(parts, counted(n, "call")+" to external systems")
	}
	p.line("Erased " + printable(formatID(result.SubjectID)) + ": " + strings.Join(parts, ", ") + ".")
}

// cascaded prints the rows that the database deletes or changes besides the steps of an erasure, in one line. The line
// begins with the given words. If there are no such rows, cascaded prints nothing.
func (p *printer) cascaded(words string, rows map[string]int64) {
	if len(rows) > 0 {
		p.line(words + ", because of foreign keys or triggers: " + printable(strings.Join(rowsOf(rows), ", ")) + ".")
	}
}

// rowsOf returns a text such as "2 of likes" for each table.
func rowsOf(counts map[string]int64) []string {
	var texts []string
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		texts = append(texts, strconv.FormatInt(counts[name], 10)+" of "+name)
	}
	return texts
}

func verify() subcommand {
	var clearRecorded bool
	return subcommand{
		use:  "verify SUBJECT",
		args: oneSubject, needsOperator: true,
		flags: func(c *cobra.Command) {
			c.Flags().BoolVar(&clearRecorded, "clear", false, "clear what was found before the id was registered again")
		},
		run: func(ctx context.Context, c *call) error {
			people, err := c.subjects()
			if err != nil {
				return err
			}
			progress := c.progress("verifying", len(people))
			defer progress.end()
			left := 0
			for i, p := range people {
				verify := c.Verify
				if clearRecorded {
					verify = c.ClearLeftOver
				}
				result, err := verify(ctx, p.ID)
				if err != nil {
					return afterSome(i, len(people), p, err)
				}
				progress.add(1)
				if !result.Cleared {
					left += len(result.LeftOver)
				}
				if result.Life == domain.LifeUnknown {
					left++
				}
				if err := c.out.show(result, func() { c.out.verification(c.DataMap(), result) }); err != nil {
					return err
				}
			}
			// Without a catalog, it is not known.
			if out, err := check.LeftOutOf(ctx, c, c.DataMap()); err == nil && !c.out.json {
				c.out.leftOut(out)
			}
			open := c.undecided(ctx)
			c.out.undecided(open)
			return findings(left + len(open))
		},
	}
}

func (p *printer) verification(dataMap datamap.DataMap, v domain.Verification) {
	id := printable(formatID(v.SubjectID))
	if v.Life != "" {
		why := "the id was registered again or restored"
		if subject := dataMap.SubjectTable(); v.Life == domain.LifeUnknown && len(plan.Identifying(subject)) == 0 &&
			!dataMap.RowsDeleted(subject, datamap.Path{}) {
			why = "no column shows whether the row is still that of the erased person (see life-unknown in lint)"
		}
		p.line(id + " was erased at " + instant(v.ErasedAt) + ": not checked, because " + why + ".")
	} else {
		p.line(id + " was erased at " + instant(v.ErasedAt) + ": " + counted(len(v.LeftOver), "finding") + ".")
	}
	if len(v.LeftOver) == 0 {
		return
	}
	switch {
	case v.Cleared:
		p.line("Cleared, as recorded before:")
	case v.Life != "":
		p.line("Recorded before. Check that nothing of the erased person is left, and then clear it with --clear:")
	}
	t := table{head: []string{"place", "left over", "rows"}}
	for _, left := range v.LeftOver {
		kind := "rows"
		if left.Column != "" {
			kind = "cells"
		}
		where := domain.Problem{Table: left.Table, Column: left.Column}.Where()
		t.rows = append(t.rows, []string{where, kind, strconv.FormatInt(left.Rows, 10)})
	}
	p.table(t)
}
