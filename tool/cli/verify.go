package cli

import (
	"context"
	"strconv"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
)

func verify() subcommand {
	return subcommand{
		use:   "verify SUBJECT",
		short: "check that an erased subject has no data left",
		long: `Searches for rows and values that the last erasure of a subject should have deleted
or overwritten. For example, a trigger, a job, a restored copy or a later write of
the application could have written them again. The command changes no row. The audit trail
records the result.`,
		example: `habeas verify 42 --operator dpo
habeas verify - --operator dpo --output json < erased.txt`,
		exits: exits{
			fine: "no row or value is left over", findings: "a row or value is left over, or unclear whose the rows are",
			failed: "the verification failed, or the subject was never erased",
		},
		args: oneSubject, needsOperator: true,
		run: func(ctx context.Context, c *call) error {
			people, err := c.subjects()
			if err != nil {
				return err
			}
			progress := c.progress("verifying", len(people))
			defer progress.end()
			left := 0
			for i, p := range people {
				result, err := c.Verify(ctx, p.ID)
				if err != nil {
					return afterSome(i, len(people), p, err)
				}
				progress.add(1)
				left += len(result.LeftOver)
				if result.Life == domain.LifeUnknown {
					left++
				}
				if err := c.out.show(result, func() { c.out.verification(c.DataMap(), result) }); err != nil {
					return err
				}
			}
			return findings(left)
		},
	}
}

func (p *printer) verification(dataMap datamap.DataMap, v domain.Verification) {
	id := printable(formatID(v.SubjectID))
	if v.Life != "" {
		why := "the id was registered again or restored"
		if subject := dataMap.SubjectTable(); v.Life == domain.LifeUnknown && len(subject.Identifying()) == 0 &&
			!dataMap.RowsDeleted(subject, datamap.Path{}) {
			why = "no column shows whether the row is still that of the erased person (see life-unknown in lint)"
		}
		p.line(id + " was erased at " + instant(v.ErasedAt) + ": not checked, because " + why + ".")
		return
	}
	p.line(id + " was erased at " + instant(v.ErasedAt) + ": " + counted(len(v.LeftOver), "finding") + ".")
	if len(v.LeftOver) == 0 {
		return
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
