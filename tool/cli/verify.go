package cli

import (
	"context"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/domain/plan"
	"github.com/habeas-data/habeas/tool/check"
)

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
