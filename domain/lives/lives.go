// Package lives registers new people (see [Register]), and counts the erased people about whom nothing tells whose
// their row is (see [Count]).
package lives

import (
	"context"
	"strconv"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/ports"
)

// batch is the number of marks that a session reads.
const batch = 500

// Count returns the number of erased subjects whose life is domain.LifeUnknown: a row of the subject is there, and
// nothing tells whether it belongs to a new person or was restored. It reads the marks of all erasures and the rows of
// their subjects in batches, each in its own session. It writes nothing.
func Count(ctx context.Context, sessions ports.SessionFactory) (unknown int64, err error) {
	for query := (domain.MarkQuery{Limit: batch}); ; {
		var marks []domain.ErasureMark
		var lives []domain.Life
		err := sessions.Do(ctx, func(ctx context.Context, s ports.Session) (err error) {
			if marks, err = s.Erased().Marks(ctx, query); err == nil {
				lives, err = s.Erased().Lives(ctx, marks)
			}
			return err
		})
		if err != nil {
			return 0, err
		}
		for _, life := range lives {
			if life == domain.LifeUnknown {
				unknown++
			}
		}
		if len(marks) < batch {
			return unknown, nil
		}
		query.After = marks[batch-1].Intake
	}
}

// Finding returns the finding for a result of Count. It returns false if the result is 0.
func Finding(unknown int64) (datamap.Finding, bool) {
	return datamap.Finding{
		Code: "lives-unknown", Severity: datamap.SeverityWarning,
		Reason: "Erased ids that have a row, of which nothing tells whether it is the erased one, was restored, or belongs" +
			" to a new person: " + strconv.FormatInt(unknown, 10) + ".",
		Remedy: "If tables were restored, replay the journal with --restored-to. Otherwise, call Registered for each new" +
			" person, or give the subject's table a creation time or a text column that an erasure anonymizes.",
	}, unknown > 0
}
