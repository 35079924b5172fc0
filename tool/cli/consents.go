package cli

import (
	"context"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/habeas-data/habeas/domain"
)

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
