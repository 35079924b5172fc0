package cli

import (
	"context"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/saga"
)

func outbox() subcommand {
	return subcommand{
		use:         "outbox",
		subcommands: []subcommand{outboxCounts(), outboxList(), outboxRequeue(), outboxDiscard(), outboxPurge()},
	}
}

// outboxStatus is the result of outbox counts.
type outboxStatus struct {
	Counts  map[domain.OutboxStatus]int64 `json:"counts"`
	Backlog []domain.OutboxBacklog        `json:"backlog"`
}

func outboxCounts() subcommand {
	return subcommand{
		use:   "counts",
		needs: onlyTables,
		run: func(ctx context.Context, c *call) error {
			status, err := c.Status(ctx)
			if err != nil {
				return err
			}
			return c.out.show(outboxStatus{status.Counts, status.Backlog}, func() { c.out.counts(status) })
		},
	}
}

// counts shows the counts of the outbox.
func (p *printer) counts(status saga.Status) {
	t := table{head: []string{"system", "pending", "in flight", "failed", "abandoned", "spared", "due"}}
	for _, backlog := range status.Backlog {
		row := []string{backlog.Resolver}
		for _, s := range []domain.OutboxStatus{
			domain.OutboxPending, domain.OutboxInFlight, domain.OutboxFailed, domain.OutboxAbandoned,
			domain.OutboxSpared,
		} {
			row = append(row, strconv.FormatInt(backlog.Counts[s], 10))
		}
		due := "-"
		if backlog.OldestDue != nil && !backlog.OldestDue.After(status.At) {
			due = age(status.At.Sub(*backlog.OldestDue))
		}
		t.rows = append(t.rows, append(row, due))
	}
	if len(t.rows) > 0 {
		p.table(t)
	}
	p.line("Succeeded: " + strconv.FormatInt(status.Counts[domain.OutboxSucceeded], 10) + " (kept until a purge)")
}

// age formats a duration with its two largest units, such as 3d 4h.
func age(d time.Duration) string {
	switch {
	case d < time.Minute:
		return strconv.Itoa(int(d.Seconds())) + "s"
	case d < time.Hour:
		return strconv.Itoa(int(d.Minutes())) + "m"
	case d < 24*time.Hour:
		return strconv.Itoa(int(d.Hours())) + "h" + strconv.Itoa(int(d.Minutes())%60) + "m"
	default:
		return strconv.Itoa(int(d.Hours())/24) + "d" + strconv.Itoa(int(d.Hours())%24) + "h"
	}
}

// page is the maximum number of outbox entries that a command reads or requeues in one session (one transaction).
const page = 100

func outboxList() subcommand {
	limit := page
	return subcommand{
		use: "list",
		flags: func(c *cobra.Command) {
			c.Flags().IntVar(&limit, "limit", limit, "list at most this `number` of entries; 0 lists all")
		},
		needs: onlyTables,
		run: func(ctx context.Context, c *call) error {
			if limit < 0 {
				return usage(c.command, "--limit must be 0 or more")
			}
			shown, err := c.listAbandoned(ctx, limit)
			if err != nil {
				return err
			}
			return findings(shown)
		},
	}
}

// listAbandoned prints the abandoned entries and returns their number. It reads the entries page by page.
func (c *call) listAbandoned(ctx context.Context, limit int) (shown int, err error) {
	var after *domain.OutboxEntry
	for limit == 0 || shown < limit {
		size := page
		if limit > 0 {
			size = min(size, limit-shown)
		}
		entries, err := c.Abandoned(ctx, after, size)
		if err != nil {
			return shown, err
		}
		if err := c.entries(entries); err != nil {
			return shown, err
		}
		shown += len(entries)
		if len(entries) < size {
			break
		}
		after = &entries[len(entries)-1]
	}
	if shown == 0 && !c.out.json {
		c.out.line("No entry was given up or spared.")
	}
	return shown, nil
}

// entries prints outbox entries as text or, with --output json, as one JSON document for each entry.
func (c *call) entries(entries []domain.OutboxEntry) error {
	if len(entries) == 0 {
		return nil
	}
	if c.out.json {
		for _, entry := range entries {
			if err := c.out.show(entry, nil); err != nil {
				return err
			}
		}
		return nil
	}
	for _, entry := range entries {
		about := counted(entry.Attempts, "attempt")
		switch {
		case entry.LastError != nil:
			about += ", " + *entry.LastError
		case entry.Status == domain.OutboxSpared:
			about += ", " + string(entry.Status)
		}
		c.out.line(printable(entry.EntryID))
		c.out.indented(entry.Resolver+" "+string(entry.Operation)+" of subject "+formatID(entry.SubjectID), "  ")
		c.out.indented("since "+instant(entry.EnqueuedAt)+": "+about, "  ")
	}
	return nil
}
