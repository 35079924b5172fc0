package cli

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/habeas-data/habeas/domain"
)

// someEntries describes the arguments of a command that needs the given number of outbox entry ids, or more.
func someEntries(least int) arguments {
	return arguments{least, -1, "the ids of entries, or - for the standard input"}
}

// entryIDs returns the ids of outbox entries from the arguments. If the argument is "-", it returns the lines of the
// standard input, and the number of the line of each id.
func (c *call) entryIDs() (ids []string, lines map[string]int, err error) {
	if len(c.args) != 1 || c.args[0] != fromStdin {
		return c.args, nil, nil
	}
	lines = map[string]int{}
	err = c.eachLine(func(n int, line string) error {
		ids, lines[line] = append(ids, line), n
		return nil
	})
	if err == nil && len(ids) == 0 {
		err = failed("the standard input has no entry id: write one id per line")
	}
	return ids, lines, err
}

const notRequeued = "not abandoned, or a rectification, which cannot be requeued"

func outboxRequeue() subcommand {
	var filter filter
	return subcommand{
		use:  "requeue [ENTRY...]",
		args: someEntries(0), needsOperator: true,
		flags: func(c *cobra.Command) { filter.flags(c) },
		needs: onlyTables,
		run: func(ctx context.Context, c *call) error {
			ids, lines, err := c.entryIDs()
			if err != nil {
				return err
			}
			chosen, err := filter.outboxFilter(c, len(ids) > 0)
			if err != nil {
				return err
			}
			if len(ids) == 0 {
				return c.requeueMatching(ctx, chosen)
			}
			requeued, err := c.Requeue(ctx, ids...)
			if err != nil {
				return err
			}
			return c.changed("Requeued", requeued, len(ids), lines, notRequeued)
		},
	}
}

// requeueMatching requeues the abandoned outbox entries that match the filter, page by page. It requeues at most as
// many entries as were abandoned when it started. Without this limit, it might never end, because a requeued entry can
// be abandoned again and then matches the filter again.
func (c *call) requeueMatching(ctx context.Context, filter domain.OutboxFilter) error {
	status, err := c.Status(ctx)
	if err != nil {
		return err
	}
	left := int(status.Counts[domain.OutboxAbandoned])
	progress := c.progress("requeueing", left)
	var all []domain.OutboxEntry
	for left > 0 {
		requeued, err := c.RequeueMatching(ctx, filter, min(page, left))
		if err != nil {
			progress.end()
			return failed(explain(err).Error() + "; " + counted(len(all), "entry") + " requeued before the failure")
		}
		if len(requeued) == 0 {
			break
		}
		all = append(all, requeued...)
		left -= len(requeued)
		progress.add(int64(len(requeued)))
	}
	progress.end()
	return c.changed("Requeued", all, len(all), nil, notRequeued)
}

// changed prints the outbox entries that a command has changed. It returns an error with the exit code for findings if
// there are fewer entries than total, the number of entries that the command should change. The parameter lines has the
// number of the line of each id on the standard input. The parameter reason says why a command skips an entry.
func (c *call) changed(
	did string, entries []domain.OutboxEntry, total int, lines map[string]int, reason string,
) error {
	if c.out.json {
		if err := c.entries(entries); err != nil {
			return err
		}
	} else {
		c.out.line(did + " " + counted(len(entries), "entry") + ".")
	}
	if skipped := total - len(entries); skipped > 0 {
		for _, entry := range entries {
			delete(lines, entry.EntryID)
		}
		return &Error{
			Code: ExitFindings,
			Text: counted(skipped, "entry") + " skipped" + inLines(slices.Sorted(maps.Values(lines))) + ": " + reason,
		}
	}
	return nil
}

// inLines names lines of the standard input, as in " (lines 3, 7)". It names at most ten of them. Without lines, it
// returns "".
func inLines(numbers []int) string {
	if len(numbers) == 0 {
		return ""
	}
	var texts []string
	const most = 10
	for _, n := range numbers[:min(len(numbers), most)] {
		texts = append(texts, strconv.Itoa(n))
	}
	if len(numbers) > len(texts) {
		texts = append(texts, "…")
	}
	word := " (lines "
	if len(numbers) == 1 {
		word = " (line "
	}
	return word + strings.Join(texts, ", ") + ")"
}

// filter has the flags that select entries.
type filter struct {
	system               string
	olderThan, newerThan durationFlag
	all                  bool
}

func (f *filter) flags(c *cobra.Command) {
	c.Flags().Var((*Text)(&f.system), "system", "select entries for this `system`")
	c.Flags().Var(&f.olderThan, "older-than", "select entries older than this age, such as 7d or 12h")
	c.Flags().Var(&f.newerThan, "newer-than", "select entries newer than this age, such as 7d or 12h")
	c.Flags().BoolVar(&f.all, "all", false, "select all entries")
}

// outboxFilter returns the filter that the flags describe. It returns an error unless the command line has exactly one
// of these: entry ids, flags that select entries, or --all.
func (f *filter) outboxFilter(c *call, hasIDs bool) (domain.OutboxFilter, error) {
	chosen := f.system != "" || f.olderThan > 0 || f.newerThan > 0
	switch {
	case hasIDs && (chosen || f.all):
		return domain.OutboxFilter{}, usage(c.command, "takes ids or flags that select entries, not both")
	case f.all && chosen:
		return domain.OutboxFilter{}, usage(c.command, "takes --all or flags that select entries, not both")
	case !hasIDs && !chosen && !f.all:
		return domain.OutboxFilter{}, usage(c.command, "needs ids, flags that select entries, or --all")
	}
	filter, now := domain.OutboxFilter{Resolver: f.system}, time.Now()
	if f.olderThan > 0 {
		filter.EnqueuedBefore = now.Add(-time.Duration(f.olderThan))
	}
	if f.newerThan > 0 {
		filter.EnqueuedFrom = now.Add(-time.Duration(f.newerThan))
	}
	return filter, nil
}

func outboxDiscard() subcommand {
	var reason string
	var yes bool
	return subcommand{
		use:  "discard ENTRY...",
		args: someEntries(1), needsOperator: true,
		flags: func(c *cobra.Command) {
			c.Flags().Var((*Text)(&reason), "reason", "`reason` for the audit trail; required")
			c.Flags().BoolVar(&yes, "yes", false, "discard without confirmation")
		},
		needs: onlyTables,
		run: func(ctx context.Context, c *call) error {
			if reason == "" {
				return usage(c.command, "--reason is missing: the audit trail records it")
			}
			ids, lines, err := c.entryIDs()
			if err != nil {
				return err
			}
			if err := c.confirm(ctx, yes, "Discard "+counted(len(ids), "entry")+"."); err != nil {
				return err
			}
			discarded, err := c.Discard(ctx, reason, ids...)
			if err != nil {
				return err
			}
			return c.changed("Discarded", discarded, len(ids), lines, "neither abandoned nor spared")
		},
	}
}

// purged is the result of outbox purge.
type purged struct {
	Removed int64 `json:"removed"`
}

func outboxPurge() subcommand {
	var yes bool
	return subcommand{
		use: "purge",
		flags: func(c *cobra.Command) {
			c.Flags().BoolVar(&yes, "yes", false, "purge without confirmation")
		},
		needs: onlyTables,
		run: func(ctx context.Context, c *call) error {
			if !yes {
				status, err := c.Status(ctx)
				if err != nil {
					return err
				}
				succeeded := status.Counts[domain.OutboxSucceeded]
				prompt := "Of " + counted(succeeded, "succeeded entry") + ", remove those that are older than the retention."
				if err := c.confirm(ctx, yes, prompt); err != nil {
					return err
				}
			}
			removed, err := c.Purge(ctx)
			if err != nil {
				return failed(explain(err).Error() + "; " + counted(removed, "entry") + " removed before the failure")
			}
			return c.out.show(purged{removed}, func() { c.out.line("Removed " + counted(removed, "entry") + ".") })
		},
	}
}

// durationFlag is the value of a flag with a duration: a number of days (7d), or hours, minutes and seconds (1h30m).
type durationFlag time.Duration

func (s *durationFlag) String() string {
	if *s == 0 {
		return ""
	}
	return time.Duration(*s).String()
}

func (s *durationFlag) Type() string { return "age" }

func (s *durationFlag) Set(text string) error {
	if n := len(text) - 1; n > 0 && text[n] == 'd' {
		days, err := strconv.ParseUint(text[:n], 10, 16)
		*s = durationFlag(days) * durationFlag(24*time.Hour)
		if err != nil || days == 0 {
			return domain.ErrInvalid
		}
		return nil
	}
	d, err := time.ParseDuration(text)
	if err == nil && d <= 0 {
		err = domain.ErrInvalid
	}
	*s = durationFlag(d)
	return err
}
