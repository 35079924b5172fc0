package porttest

import (
	"context"
	"errors"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports"
)

// changesYield is a defect of what Export does with the errors of yield.
func changesYield(
	change func(export func(func(domain.ExportRecord) error) error, yield func(domain.ExportRecord) error) error,
) func(*Store) {
	return changesSubjects(func(s *brokenSubjects) {
		s.export = func(ctx context.Context, id domain.SubjectID, yield func(domain.ExportRecord) error) error {
			return change(func(y func(domain.ExportRecord) error) error { return s.good.Export(ctx, id, y) }, yield)
		}
	})
}

func subjectYieldDefects() defects {
	return defects{
		"yields go on after an error": {
			changesYield(func(export func(func(domain.ExportRecord) error) error, yield func(domain.ExportRecord) error) error {
				var failure error
				err := export(func(record domain.ExportRecord) error { failure = errors.Join(failure, yield(record)); return nil })
				return errors.Join(err, failure)
			}),
			found{"yield was called": {subjectExportEndsWithYield}},
		},
		"an error of yield that is swallowed": {
			changesYield(func(export func(func(domain.ExportRecord) error) error, yield func(domain.ExportRecord) error) error {
				enough := false
				err := export(func(record domain.ExportRecord) error {
					err := yield(record)
					enough = enough || err != nil
					return err
				})
				if enough {
					return nil
				}
				return err
			}),
			found{"Export came back with: <nil>; Do with: <nil>": {subjectExportEndsWithYield}},
		},
		"an error of yield that is another one": {
			changesYield(func(export func(func(domain.ExportRecord) error) error, yield func(domain.ExportRecord) error) error {
				err := export(yield)
				if errors.Is(err, errEnough) {
					err = &domain.Error{Op: "export", Message: "failed"}
				}
				return err
			}),
			found{"Export came back with: habeas: export: failed; Do with: habeas: export": {subjectExportEndsWithYield}},
		},
		"a snapshot for each record": {func(store *Store) {
			sessions := store.Sessions
			changesSubjects(func(s *brokenSubjects) {
				s.export = func(ctx context.Context, id domain.SubjectID, yield func(domain.ExportRecord) error) error {
					yielded := 0
					once := func(record domain.ExportRecord) error { yielded++; return errors.Join(yield(record), errUndo) }
					if err := s.good.Export(ctx, id, once); !errors.Is(err, errUndo) || errors.Is(err, errEnough) {
						return err
					}
					return sessions.Do(context.WithoutCancel(context.Background()), func(ctx context.Context, other ports.Session) error {
						seen := 0
						return other.Subjects().Export(ctx, id, func(record domain.ExportRecord) error {
							if seen++; seen <= yielded {
								return nil
							}
							return yield(record)
						})
					})
				}
			})(store)
		}, found{"records are exported while rows are added, want the": {subjectExportReadsOneSnapshot}}},
		"an export of what was committed, whenever": {func(store *Store) {
			sessions := store.Sessions
			changesSubjects(func(s *brokenSubjects) {
				s.export = func(_ context.Context, id domain.SubjectID, yield func(domain.ExportRecord) error) error {
					return sessions.Do(context.Background(), func(ctx context.Context, other ports.Session) error {
						return other.Subjects().Export(ctx, id, yield)
					})
				}
			})(store)
		}, found{"in its session": {subjectExportComesBeforeWrites}}},
		"an append that is held to be a write": {changesSessions(func(s ports.Session) replaced {
			appended := false
			good := s.Subjects()
			o := brokenOutbox{Outbox: s.Outbox(), enqueue: func(c outboxCall) error { appended = true; return c.enqueue() }}
			broken := &brokenSubjects{lock: good.Lock, hold: good.LockToRectify, apply: good.Apply, rectify: good.Rectify}
			broken.export = func(ctx context.Context, id domain.SubjectID, yield func(domain.ExportRecord) error) error {
				if appended {
					return &domain.Error{Code: domain.ErrSession, Op: "export", Message: "must come first"}
				}
				return good.Export(ctx, id, yield)
			}
			return replaced{Session: s, subjects: broken, outbox: o}
		}), found{"an export after appends failed: habeas: export: must come first": {subjectExportMayFollowAppends}}},
	}
}
