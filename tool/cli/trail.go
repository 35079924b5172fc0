package cli

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

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
