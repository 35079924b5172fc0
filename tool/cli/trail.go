package cli

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/habeas-data/habeas/domain"
)

func trail() subcommand {
	return subcommand{
		use:  "trail SUBJECT",
		args: oneSubject, needs: onlyTables,
		run: func(ctx context.Context, c *call) error {
			people, err := c.subjects()
			if err != nil {
				return err
			}
			for i, p := range people {
				events, err := c.Trail(ctx, p.ID)
				if err == nil && len(events) == 0 {
					err = c.mustKnow(ctx, p)
				}
				if err != nil {
					return afterSome(i, len(people), p, err)
				}
				if events == nil {
					events = []domain.AuditEvent{}
				}
				if err := c.out.show(events, func() { c.out.trail(p.ID, events) }); err != nil {
					return err
				}
			}
			return nil
		},
	}
}

func (p *printer) trail(id domain.SubjectID, events []domain.AuditEvent) {
	p.line("Trail of " + printable(formatID(id)) + ": " + counted(len(events), "event") + ".")
	for _, event := range events {
		var payload []string
		for _, name := range slices.Sorted(maps.Keys(event.Payload)) {
			if name != domain.PayloadOperationID { // only JSON results contain the operation id
				payload = append(payload, fmt.Sprintf("%s=%v", name, event.Payload[name]))
			}
		}
		p.line(instant(event.OccurredAt) + " " + printable(string(event.EventType)))
		if len(payload) > 0 {
			p.indented(strings.Join(payload, " "), "  ")
		}
	}
}

// instant formats a time in UTC.
func instant(at time.Time) string { return at.UTC().Format("2006-01-02 15:04:05Z") }

func consents() subcommand {
	var purpose, asOf string
	return subcommand{
		use:  "consents SUBJECT",
		args: oneSubject,
		flags: func(c *cobra.Command) {
			c.Flags().Var((*Text)(&purpose), "purpose", "show the decisions about this `purpose`")
			c.Flags().Var((*Text)(&asOf), "as-of",
				"show the consent at this `time`, such as 2026-03-01T12:00:00Z; needs --purpose")
		},
		run: func(ctx context.Context, c *call) error {
			var at time.Time
			if asOf != "" {
				var err error
				if at, err = time.Parse(time.RFC3339, asOf); err != nil {
					return usage(c.command, "--as-of must be a time such as 2026-03-01T12:00:00Z")
				}
				if purpose == "" {
					return usage(c.command, "--as-of needs --purpose")
				}
			}
			people, err := c.subjects()
			if err != nil {
				return err
			}
			for i, p := range people {
				if err := c.consents(ctx, p, purpose, at); err != nil {
					return afterSome(i, len(people), p, err)
				}
			}
			return nil
		},
	}
}

func (c *call) consents(ctx context.Context, p person, purpose string, at time.Time) error {
	switch {
	case !at.IsZero():
		status, err := c.ConsentAsOf(ctx, p.ID, purpose, at)
		if err != nil {
			return err
		}
		return c.out.show(status, func() { c.out.consents(p.ID, []domain.ConsentStatus{status}) })
	case purpose != "":
		records, err := c.ConsentHistory(ctx, p.ID, purpose)
		if err == nil && len(records) == 0 {
			records, err = []domain.ConsentRecord{}, c.mustKnow(ctx, p)
		}
		if err != nil {
			return err
		}
		return c.out.show(records, func() {
			statuses := make([]domain.ConsentStatus, len(records))
			for i := range records {
				statuses[i] = domain.ConsentStatusOf(p.ID, purpose, &records[i])
			}
			c.out.consents(p.ID, statuses)
		})
	default:
		all, err := c.Consents(ctx, p.ID)
		recorded := func(status domain.ConsentStatus) bool { return status.RecordedAt != nil }
		if err == nil && !slices.ContainsFunc(all.Consents, recorded) {
			err = c.mustKnow(ctx, p)
		}
		if err != nil {
			return err
		}
		return c.out.show(all, func() { c.out.consents(p.ID, all.Consents) })
	}
}

func (p *printer) consents(id domain.SubjectID, statuses []domain.ConsentStatus) {
	p.line("Consents of " + printable(formatID(id)) + ": " + counted(len(statuses), "line") + ".")
	if len(statuses) == 0 {
		return
	}
	t := table{head: []string{"purpose", "granted", "policy", "since", "source"}}
	for _, status := range statuses {
		row := []string{status.Purpose, "no", "", "", ""}
		if status.Granted {
			row[1] = "yes"
		}
		if status.RecordedAt != nil {
			row[2], row[3], row[4] = *status.PolicyVersion, instant(*status.RecordedAt), *status.Source
		}
		t.rows = append(t.rows, row)
	}
	p.table(t)
}
