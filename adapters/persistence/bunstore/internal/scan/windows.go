package scan

import (
	"slices"
	"time"

	"github.com/habeas-data/habeas/domain"
)

const (
	// windowLength is the length of a new window, an interval of due times. The new windows are longer if a round (one
	// scan of each window) would otherwise add more than maxNewWindows windows.
	windowLength  = time.Second
	maxNewWindows = 64
	// slowWindow is the limit for the duration of a scan. If the scan of a window takes longer, the window is divided
	// into two.
	slowWindow = 2 * time.Millisecond
	// minWindow is the minimum length of a window (an interval of due times) after a division into two.
	minWindow = 10 * time.Millisecond
	// maxWindows is the maximum number of windows. At this number, no window is divided.
	maxWindows = 2000
	// firstCut is the length of the first piece that is cut off from the end of the first window. The first window has no
	// beginning, so it cannot be halved. Each further piece is twice as long as the previous one.
	firstCut = time.Minute
)

// dueWindow is an interval of due times that one claim scans. It begins at the end of the previous window. The first
// window has no beginning.
type dueWindow struct {
	until time.Time
	took  time.Duration // duration of the last scan
}

// windows divides the due times into consecutive intervals, each short enough for a fast scan. The due times of about
// the last second are not included. A round scans each window once, and so finds every due entry that is not recent.
type windows struct {
	all   []dueWindow   // oldest first
	turn  int           // index of the next window of the round, or len(all) if no round is in progress
	taken bool          // a claim is scanning the window all[turn]
	cost  time.Duration // total duration of the scans of the round
	cut   time.Duration // length of the last cut from the first window
}

// start begins a round, in which each window is scanned once. It adds windows for the due times between the end of the
// last window and the given time.
func (w *windows) start(until time.Time) {
	w.turn, w.cost = 0, 0
	if len(w.all) == 0 {
		w.all = []dueWindow{{until: until}}
		return
	}
	from := w.all[len(w.all)-1].until
	length := max(windowLength, until.Sub(from)/maxNewWindows)
	for ; until.Sub(from) >= length; from = from.Add(length) {
		w.all = append(w.all, dueWindow{until: from.Add(length)})
	}
	w.all[len(w.all)-1].until = maxTime(w.all[len(w.all)-1].until, until) // the last window includes the remainder
}

func maxTime(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// hasNext reports whether a claim can scan the next window now: the round has another window, and no other claim is
// scanning it.
func (w *windows) hasNext() bool { return w.turn < len(w.all) && !w.taken }

// take reserves the next window for a scan and returns its bounds. The caller must then call scanned or giveBack.
func (w *windows) take() (from, until time.Time) {
	w.taken = true
	return w.bounds(w.turn)
}

func (w *windows) bounds(i int) (from, until time.Time) {
	if i > 0 {
		from = w.all[i-1].until
	}
	return from, w.all[i].until
}

func (w *windows) giveBack() { w.taken = false }

// scanned records the duration of the scan of the window that the last call of take has reserved. It reports whether
// this was the last window of the round.
func (w *windows) scanned(took time.Duration) (last bool) {
	w.taken = false
	if w.turn >= len(w.all) { // restart ended the round during the scan
		return false
	}
	w.cost += took
	w.all[w.turn].took = took
	if took > slowWindow {
		w.split()
	}
	w.turn++
	if w.turn < len(w.all) {
		return false
	}
	w.merge()
	return true
}

// split divides the window that was just scanned into two, because its scan was slow.
func (w *windows) split() {
	from, until := w.bounds(w.turn)
	middle := from.Add(until.Sub(from) / 2)
	if w.turn == 0 {
		w.cut = max(2*w.cut, firstCut)
		middle = until.Add(-w.cut)
	} else if until.Sub(from) < 2*minWindow {
		return
	}
	if len(w.all) >= maxWindows {
		return
	}
	half := w.all[w.turn].took / 2
	w.all[w.turn].took = half
	w.all = slices.Insert(w.all, w.turn, dueWindow{until: middle, took: half})
	w.turn++
}

// merge joins adjacent windows (intervals of due times) if one fast scan can read both.
func (w *windows) merge() {
	merged := w.all[:1]
	for _, next := range w.all[1:] {
		if last := &merged[len(merged)-1]; last.took+next.took < slowWindow {
			last.until, last.took = next.until, last.took+next.took
		} else {
			merged = append(merged, next)
		}
	}
	w.all, w.turn = merged, len(merged)
}

// BoundedTake is a take of a claim that reads only a range of due instants. A new outbox entry is due at its
// enqueued_at, and a retry at its next_attempt_at. A zero time is no bound. SQLite ignores the bounds.
type BoundedTake struct {
	domain.Take
	FreshFrom   time.Time // the first due instant of new entries
	RetriesFrom time.Time // the first due instant of retries
	Until       time.Time // the last due instant
}

// Unbounded returns the takes without bounds.
func Unbounded(takes []domain.Take) []BoundedTake {
	all := make([]BoundedTake, len(takes))
	for i, take := range takes {
		all[i].Take = take
	}
	return all
}
