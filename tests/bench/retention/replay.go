package retention

import (
	"context"
	"fmt"
	"time"

	"github.com/habeas-data/habeas/app"
	"github.com/habeas-data/habeas/domain"
)

// Replay has the duration and the report of a replay, which repeats the erasures of a journal.
type Replay struct {
	What   string
	Took   time.Duration
	Report domain.ReplayReport
}

// MeasureReplay measures two replays of a journal (a list of erasures that are repeated after a restore). The journal
// has an erasure of every subject. The first replay erases all subjects. The second replay finds that they are erased
// already.
func MeasureReplay(ctx context.Context, c Config, workers int) (all []Replay, err error) {
	w, err := c.open(ctx, "replay", c.Subjects, time.Now())
	if err != nil {
		return nil, err
	}
	defer w.close()
	erased := time.Now()
	installation, err := w.installation(ctx)
	if err != nil {
		return nil, err
	}
	for _, what := range []string{"first", "again"} {
		begin := time.Now()
		report, err := w.gdpr.Operator().Replay(ctx, lines(installation, c.Subjects, erased), app.ReplayOptions{
			Workers: workers, Progress: func(r domain.ReplayReport) {
				if done := r.Current + r.Erased; done%10_000 == 0 {
					c.Progress(fmt.Sprintf("%d subjects", done))
				}
			},
		})
		if err != nil {
			return all, err
		}
		all = append(all, Replay{what, time.Since(begin), report})
	}
	return all, nil
}
