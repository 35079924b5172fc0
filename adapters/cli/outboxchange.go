package cli

import (
	"context"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/habeas-data/habeas/domain"
)

// someEntries are the arguments of verbs about entries.
func someEntries(least int) arguments {
	return arguments{least, -1, "the ids of entries, or - for the standard input"}
}

// entryIDs returns the ids of the arguments, or of the lines of the standard input.
func (c *call) entryIDs() (ids []string, err error) {
	if len(c.args) != 1 || c.args[0] != fromStdin {
		return c.args, nil
	}
	err = c.eachLine(func(_ int, line string) error {
		ids = append(ids, line)
		return nil
	})
	if err == nil && len(ids) == 0 {
		err = failed("the standard input has no id")
	}
	return ids, err
}

func outboxRequeue() verb {
	var filter filter
	return verb{
		use:   "requeue [ENTRY...]",
		short: "let a worker try entries again that were given up",
		long: `Makes entries pending again that were given up, once the reason for it is out of
the way. Entries are chosen by their ids, or by flags. An entry that was not
given up is skipped, and so is a rectification: it is issued again by the
application, as its corrections are forgotten.`,
		example: `habeas outbox requeue 0197b2c0-... --operator dpo
habeas outbox requeue --system supportdesk --newer-than 2d --operator dpo
habeas outbox requeue --all --operator dpo`,
		exits: exits{fine: "every entry that was given is requeued", findings: "an entry that was given is skipped"},
		args:  someEntries(0), acts: true,
		flags: func(c *cobra.Command) { filter.flags(c) },
		run: func(ctx context.Context, c *call) error {
			ids, err := c.entryIDs()
			if err != nil {
				return err
			}
			chosen, err := filter.of(c, len(ids) > 0)
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
			return c.changed("Requeued", requeued, len(ids))
		},
	}
}

// requeueMatching requeues entries a page after the other: as many as there were at the beginning, because an entry can
// be given up again meanwhile.
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
			return failed(explain(err).Error() + "; " + counted(len(all), "entry") + " requeued before it")
		}
		if len(requeued) == 0 {
			break
		}
		all = append(all, requeued...)
		left -= len(requeued)
		progress.add(int64(len(requeued)))
	}
	progress.end()
	return c.changed("Requeued", all, len(all))
}

// changed shows entries that a verb has changed, of as many as were given.
func (c *call) changed(did string, entries []domain.OutboxEntry, given int) error {
	if c.out.json {
		if err := c.entries(entries); err != nil {
			return err
		}
	} else {
		c.out.line(did + " " + counted(len(entries), "entry") + ".")
	}
	if skipped := given - len(entries); skipped > 0 {
		return &Error{Code: ExitFindings, Text: counted(skipped, "entry") + " skipped: not given up, or not of this kind"}
	}
	return nil
}

// filter has the flags that choose entries.
type filter struct {
	system               string
	olderThan, newerThan span
	all                  bool
}

func (f *filter) flags(c *cobra.Command) {
	c.Flags().StringVar(&f.system, "system", "", "entries for this `system` only")
	c.Flags().Var(&f.olderThan, "older-than", "entries that were enqueued longer ago, such as 7d or 12h")
	c.Flags().Var(&f.newerThan, "newer-than", "entries that were enqueued since then")
	c.Flags().BoolVar(&f.all, "all", false, "every entry")
}

// of returns the filter. Either entries are named, or a flag chooses them.
func (f *filter) of(c *call, named bool) (domain.OutboxFilter, error) {
	chosen := f.system != "" || f.olderThan > 0 || f.newerThan > 0
	switch {
	case named && (chosen || f.all):
		return domain.OutboxFilter{}, usage(c.command, "takes ids or flags that choose entries, not both")
	case f.all && chosen:
		return domain.OutboxFilter{}, usage(c.command, "takes --all or flags that choose entries, not both")
	case !named && !chosen && !f.all:
		return domain.OutboxFilter{}, usage(c.command, "needs ids, flags that choose entries, or --all")
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

func outboxDiscard() verb {
	var reason string
	var yes bool
	return verb{
		use:   "discard ENTRY...",
		short: "settle entries that a person has dealt with",
		long: `Settles entries that were given up, because a person has dealt with them by
other means: has deleted the subject in the system by hand, say. Their refs are
forgotten. If it was the last open entry of an erasure, the erasure is complete.
The reason stands on the audit trail: up to 100 letters from a to z, digits,
spaces, hyphens and underscores, so that it holds no personal data.

The verb asks for confirmation, or needs --yes. A discarded entry cannot be
requeued.`,
		example: `habeas outbox discard 0197b2c0-... --reason "deleted by hand" --operator dpo
habeas outbox list -o json | jq -r .entry_id |
  habeas outbox discard - --reason "system shut down" --operator dpo --yes`,
		exits: exits{
			fine:     "every entry that was given is discarded",
			findings: "an entry that was given is skipped: it was not given up",
		},
		args: someEntries(1), acts: true,
		flags: func(c *cobra.Command) {
			c.Flags().StringVar(&reason, "reason", "", "`reason` for the audit trail; required")
			c.Flags().BoolVar(&yes, "yes", false, "discard without a confirmation")
		},
		run: func(ctx context.Context, c *call) error {
			if reason == "" {
				return usage(c.command, "--reason is missing")
			}
			ids, err := c.entryIDs()
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
			return c.changed("Discarded", discarded, len(ids))
		},
	}
}

// purged is the result of outbox purge.
type purged struct {
	Removed int64 `json:"removed"`
}

func outboxPurge() verb {
	var yes bool
	return verb{
		use:   "purge",
		short: "remove entries that succeeded long ago",
		long: `Removes entries that succeeded and are older than the retention of the
application, 30 days by default. A worker does the same every hour. Entries that
are open or were given up stay. The audit trail is not changed.

The verb asks for confirmation, or needs --yes.`,
		example: `habeas outbox purge --yes`,
		exits:   exits{fine: "the entries are removed, also if there were none"},
		flags: func(c *cobra.Command) {
			c.Flags().BoolVar(&yes, "yes", false, "purge without a confirmation")
		},
		run: func(ctx context.Context, c *call) error {
			if !yes {
				status, err := c.Status(ctx)
				if err != nil {
					return err
				}
				succeeded := status.Counts[domain.OutboxSucceeded]
				question := "Remove those of " + counted(succeeded, "entry") + " that are older than the retention."
				if err := c.confirm(ctx, yes, question); err != nil {
					return err
				}
			}
			removed, err := c.Purge(ctx)
			if err != nil {
				return failed(explain(err).Error() + "; " + counted(removed, "entry") + " removed before it")
			}
			return c.out.show(purged{removed}, func() { c.out.line("Removed " + counted(removed, "entry") + ".") })
		},
	}
}

// span is a flag for a span of time: a number of days (7d), or of hours, minutes and seconds (1h30m).
type span time.Duration

func (s *span) String() string {
	if *s == 0 {
		return ""
	}
	return time.Duration(*s).String()
}

func (s *span) Type() string { return "age" }

func (s *span) Set(text string) error {
	if n := len(text) - 1; n > 0 && text[n] == 'd' {
		days, err := strconv.ParseUint(text[:n], 10, 16)
		*s = span(days) * span(24*time.Hour)
		if err != nil || days == 0 {
			return domain.ErrInvalid
		}
		return nil
	}
	d, err := time.ParseDuration(text)
	if err == nil && d <= 0 {
		err = domain.ErrInvalid
	}
	*s = span(d)
	return err
}
