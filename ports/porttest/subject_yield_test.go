package porttest

import (
	"context"
	"errors"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports"
)

func subjectYieldDefects() defects {
	return defects{
		"yields go on after an error": {brokenSubjects{export: func(c subjectCall) error {
			var failure error
			err := c.Export(c.ctx, c.id, func(r domain.ExportRecord) error { failure = errors.Join(failure, c.yield(r)); return nil })
			return errors.Join(err, failure)
		}}.breaks, found{"yield was called": {subjectExportEndsWithYield}}},
		"an error of yield that is swallowed": {brokenSubjects{export: func(c subjectCall) error {
			enough := false
			err := c.Export(c.ctx, c.id, func(record domain.ExportRecord) error {
				err := c.yield(record)
				enough = enough || err != nil
				return err
			})
			if enough {
				return nil
			}
			return err
		}}.breaks, found{"Export came back with: <nil>; Do with: <nil>": {subjectExportEndsWithYield}}},
		"an error of yield that is another one": {brokenSubjects{export: func(c subjectCall) error {
			err := c.export()
			if errors.Is(err, errEnough) {
				err = &domain.Error{Op: "export", Message: "failed"}
			}
			return err
		}}.breaks, found{
			"Export came back with: habeas: export: failed; Do with: habeas: export": {subjectExportEndsWithYield},
		}},
		"a snapshot for each record": {func(store *Store) {
			sessions := store.Sessions
			brokenSubjects{export: func(c subjectCall) error {
				yielded := 0
				once := func(record domain.ExportRecord) error { yielded++; return errors.Join(c.yield(record), errUndo) }
				if err := c.Export(c.ctx, c.id, once); !errors.Is(err, errUndo) || errors.Is(err, errEnough) {
					return err
				}
				return sessions.Do(context.WithoutCancel(context.Background()), func(ctx context.Context, other ports.Session) error {
					seen := 0
					return other.Subjects().Export(ctx, c.id, func(record domain.ExportRecord) error {
						if seen++; seen <= yielded {
							return nil
						}
						return c.yield(record)
					})
				})
			}}.breaks(store)
		}, found{"records are exported while rows are added, want the": {subjectExportReadsOneSnapshot}}},
		"an export of what was committed, whenever": {func(store *Store) {
			sessions := store.Sessions
			brokenSubjects{export: func(c subjectCall) error {
				return sessions.Do(context.Background(), func(ctx context.Context, other ports.Session) error {
					return other.Subjects().Export(ctx, c.id, c.yield)
				})
			}}.breaks(store)
		}, found{"in its session": {subjectExportComesBeforeWrites}}},
		"an append that is held to be a write": {changesSessions(func(s ports.Session) replaced {
			appended := false
			o := brokenOutbox{Outbox: s.Outbox(), enqueue: func(c outboxCall) error { appended = true; return c.enqueue() }}
			broken := brokenSubjects{SubjectStore: s.Subjects(), export: func(c subjectCall) error {
				if appended {
					return &domain.Error{Code: domain.ErrSession, Op: "export", Message: "must come first"}
				}
				return c.export()
			}}
			return replaced{Session: s, subjects: broken, outbox: o}
		}), found{"an export after appends failed: habeas: export: must come first": {subjectExportMayFollowAppends}}},
	}
}
