// Package observed has observers for tests. One records its calls, and the other panics.
package observed

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/habeas-data/habeas/domain/observation"
	"github.com/habeas-data/habeas/ports"
)

// Recorder is an observer that records a line for each activity that has ended, and a line for each observation. The
// zero value is ready for use. It is safe for concurrent use.
type Recorder struct {
	mu    sync.Mutex
	begun int
	lines []string
}

var _ ports.Observer = (*Recorder)(nil)

// within is the key of a context value with the names of the enclosing activities.
type within struct{}

// Start records a line when the activity ends. The line has the names of the enclosing activities, the name of the
// activity, and its outcome. An example is "request GET /export > session: ok". The HTTP status and the number of
// retries follow unless they are zero.
func (r *Recorder) Start(ctx context.Context, a observation.Activity) (context.Context, func(observation.ActivityEnd)) {
	names := strings.Join(strings.Fields(strings.Join([]string{
		string(a.Kind), a.Method, a.Route, a.System, string(a.Call),
	}, " ")), " ")
	if outer, inside := ctx.Value(within{}).(string); inside {
		names = outer + " > " + names
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.begun++
	return context.WithValue(ctx, within{}, names), func(ended observation.ActivityEnd) {
		line := names + ": " + string(ended.Outcome)
		if ended.Status != 0 {
			line += fmt.Sprint(" ", ended.Status)
		}
		if ended.Retries != 0 {
			line += fmt.Sprint(" after ", ended.Retries, " retries")
		}
		r.note(-1, line)
	}
}

// Observe records an observation with its fields.
func (r *Recorder) Observe(_ context.Context, seen observation.Observation) {
	line := fmt.Sprintf("%+v", seen)
	switch o := seen.(type) {
	case observation.RightObserved:
		line = strings.Join(strings.Fields(string(o.Right)+" "+string(o.Decision)), " ") + ": " + string(o.Outcome)
	case observation.BreakerObserved:
		line = "breaker of " + o.System + ": " + string(o.State)
	case observation.PollObserved:
		line = fmt.Sprintf("poll at %s: %s, %d settled", o.At.UTC().Format("15:04:05"), o.Outcome, o.Settled)
	case observation.OutboxObserved:
		line = "outbox:"
		for _, backlog := range o.Backlogs {
			line += fmt.Sprintf(" %s %v", backlog.Resolver, backlog.Counts)
			if backlog.OldestDue != nil {
				line += " due " + backlog.OldestDue.UTC().Format("15:04:05")
			}
		}
	}
	r.note(0, line)
}

func (r *Recorder) note(begun int, line string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.begun += begun
	r.lines = append(r.lines, line)
}

// Lines returns a copy of the recorded lines.
func (r *Recorder) Lines() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.lines)
}

// Want fails unless the recorded lines equal the given lines, in the same order. It also fails unless every activity
// has ended exactly once. Want then deletes the lines.
func (r *Recorder) Want(t testing.TB, want ...string) {
	t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	if !slices.Equal(r.lines, want) {
		t.Errorf("observed\n\t%s\nwant\n\t%s", strings.Join(r.lines, "\n\t"), strings.Join(want, "\n\t"))
	}
	if r.begun != 0 {
		t.Errorf("%d activities have not ended, or have ended twice", r.begun)
	}
	r.lines, r.begun = nil, 0
}

// Broken is an observer whose methods panic. If AtEnd is true, Start succeeds and returns a function that panics when
// the activity ends.
type Broken struct{ AtEnd bool }

// Start panics, unless AtEnd is true. In that case, it returns a function that panics.
func (b Broken) Start(ctx context.Context, _ observation.Activity) (context.Context, func(observation.ActivityEnd)) {
	if !b.AtEnd {
		panic("observer")
	}
	return ctx, func(observation.ActivityEnd) { panic("observer") }
}

// Observe panics.
func (Broken) Observe(context.Context, observation.Observation) { panic("observer") }
