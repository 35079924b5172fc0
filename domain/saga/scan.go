package saga

import (
	"sync"
	"time"

	"github.com/habeas-data/habeas/domain"
)

// A scan is the part of a claim that reads the outbox entries with due times in a range. There are three kinds:
//
//   - A full scan reads all due entries.
//   - A recent scan reads the entries that became due in about the last second.
//   - A window scan reads the entries that became due in an older interval (a window).
//
// A round is a series of window scans that covers all windows.
const (
	// slowScan is the duration above which a full scan is slow.
	slowScan = 3 * time.Millisecond
	// slowScans is the number of consecutive slow full scans after which claims make no more full scans.
	slowScans = 10
	// roundPauseRatio determines the pause before a round (one scan of each window). The pause is this multiple of the
	// duration of the previous round or, before the first round, of the last full scan.
	roundPauseRatio = 100
	// maxRoundPause is the upper limit of the pause between two rounds. A round scans each window once.
	maxRoundPause = 15 * time.Second
	// scanOverlap is the duration by which the range of a recent scan begins before the end of the previous scan. The
	// recent scan thus also finds entries of sessions that commit late or have a slightly slower clock. If an entry with
	// an even older due time appears, the next window scan that covers this time finds it.
	scanOverlap = time.Second
)

// scans decides which due times each claim scans. Normally, each claim makes a full scan: it reads all due entries.
//
// A full scan is slow while a long transaction prevents the database from removing dead rows. The scan starts at the
// beginning of the index, so it reads the dead rows of all settled entries. In this situation, each claim scans only
// the entries that became due in about the last second. From time to time, claims also scan the older due times. The
// older due times are divided into intervals (windows), and one claim scans one window. See windows.
//
// scans is safe for concurrent use.
type scans struct {
	mu      sync.Mutex
	slow    int       // consecutive slow full scans
	next    time.Time // earliest start of the next round of window scans
	from    map[domain.OutboxTarget]time.Time
	windows windows
}

// scan states which due times a claim scans: all due times, or the recent ones, or a window (an older interval), or the
// recent ones and a window.
type scan struct {
	full   bool
	recent bool
	window bool
	from   time.Time // beginning of the window
	until  time.Time // end of the window
}

// plan returns the scan of the next claim. It plans no recent scan if afterEmpty is true, which means that the previous
// claim found no entry. Unless it plans a full scan, plan sets the DueFrom of each target to the beginning of a recent
// scan.
func (s *scans) plan(now time.Time, targets []domain.OutboxTarget, afterEmpty bool) scan {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.slow < slowScans {
		return scan{full: true}
	}
	if s.windows.turn >= len(s.windows.all) && !now.Before(s.next) {
		s.windows.start(now.Add(-scanOverlap))
	}
	planned := scan{recent: !afterEmpty}
	if s.windows.hasNext() {
		planned.window = true
		planned.from, planned.until = s.windows.take()
	}
	for i, target := range targets {
		targets[i].DueFrom = s.from[key(target)]
	}
	return planned
}

// hasWindow reports whether the next claim can scan a window (an interval of due times before the recent ones).
func (s *scans) hasWindow() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.slow >= slowScans && s.windows.hasNext()
}

// failed gives back the window of a failed claim, so that a later claim scans this window.
func (s *scans) failed(planned scan) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if planned.window {
		s.windows.giveBack()
	}
}

func key(target domain.OutboxTarget) domain.OutboxTarget {
	return domain.OutboxTarget{Resolver: target.Resolver, Operation: target.Operation}
}

// recordFull records the duration of a full scan that has just ended.
func (s *scans) recordFull(took time.Duration, now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.slow++
	if took < slowScan {
		s.slow = 0
	}
	if s.slow == slowScans {
		s.windows = windows{}
		s.windows.start(now.Add(-scanOverlap - took))
		s.windows.turn = len(s.windows.all)
	}
	s.next = now.Add(min(roundPauseRatio*took, maxRoundPause))
}

// recordWindow records the duration of the scan of a window (an interval of older due times) and the entries that the
// scan found. If the window may hold more due entries, recordWindow moves the beginning of the next recent scan back
// into the window, so that this scan finds them. If all windows have been scanned in a short time, the next claims make
// full scans again.
func (s *scans) recordWindow(
	planned scan, took time.Duration, now time.Time, targets []domain.OutboxTarget, batch int, found []domain.OutboxEntry,
) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, target := range targets {
		target.DueFrom = planned.from
		if before := s.from[key(target)]; mayHaveMore(target, batch, found) {
			if from := nextFrom(before, target, found); from.Before(before) {
				s.from[key(target)] = from
			}
		}
	}
	if !s.windows.scanned(took) {
		return
	}
	s.next = now.Add(min(roundPauseRatio*s.windows.cost, maxRoundPause))
	if s.windows.cost < slowScan {
		s.slow, s.windows = 0, windows{}
	}
}

// recordRecent sets the due times at which the next recent scan begins. It is called after a claim with a full scan or
// a recent scan. The parameter start is the start of this claim.
func (s *scans) recordRecent(start time.Time, targets []domain.OutboxTarget, batch int, found []domain.OutboxEntry) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.from == nil {
		s.from = map[domain.OutboxTarget]time.Time{}
	}
	for _, target := range targets {
		from := start.Add(-scanOverlap)
		if mayHaveMore(target, batch, found) {
			from = nextFrom(from, target, found)
		}
		s.from[key(target)] = from
	}
}

// mayHaveMore reports whether more entries of the target may be due, because the claim reached the limit of the batch
// or of the target.
func mayHaveMore(target domain.OutboxTarget, batch int, found []domain.OutboxEntry) bool {
	return len(found) >= batch || target.Limit > 0 && countOf(found, target.Resolver) >= target.Limit
}

// nextFrom returns the due time at which the next scan begins after a claim that reached a limit. More entries of the
// target may then be due. The result depends on the entries of the target that the claim found:
//
//   - If all of them are untried, the result is the enqueue time of the oldest one, or bound if bound is earlier.
//     An untried entry is due from its enqueue time on. A claim takes untried entries in the order of their age,
//     so no older entry remains.
//   - If one of them was tried before, or if all found entries belong to other targets, the result is the DueFrom of
//     the target, the earliest due time of the claim. Older entries may remain.
func nextFrom(bound time.Time, target domain.OutboxTarget, found []domain.OutboxEntry) time.Time {
	from := bound
	n := 0
	for _, entry := range found {
		if entry.Resolver != target.Resolver || entry.Operation != target.Operation {
			continue
		}
		if n++; entry.Attempts > 1 {
			return target.DueFrom
		}
		if entry.EnqueuedAt.Before(from) {
			from = entry.EnqueuedAt
		}
	}
	if n == 0 {
		return target.DueFrom
	}
	return from
}

// restart lets the next claim begin a new round, which scans all windows of older due times. It is called after a
// requeue, because the requeued entries have old due times.
func (s *scans) restart() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.next, s.windows.turn = time.Time{}, len(s.windows.all)
}
