// Package scan keeps the claims of outbox entries fast while PostgreSQL cannot remove old versions of settled entries.
package scan

import (
	"sync"
	"time"

	"github.com/habeas-data/habeas/domain"
)

// A scan is a statement that reads the outbox entries with due instants in a range. There are three kinds:
//
//   - A full scan reads all due entries.
//   - A recent scan reads the entries that became due in about the last second.
//   - A window scan reads the entries that became due in an older interval (a window).
//
// A round is a series of window scans that covers all windows.
const (
	// slowScan is the duration above which a full scan is slow.
	slowScan = 3 * time.Millisecond
	// slowScans is the number of consecutive slow full scans after which claims make no more full scans, if there are at
	// least manyDeadRows. Otherwise, the scans are slow for another reason, such as a busy server.
	slowScans    = 10
	manyDeadRows = 5000
	// roundPauseRatio determines the pause before a round. The pause is this multiple of the duration of the previous
	// round or, before the first round, of the last full scan.
	roundPauseRatio = 100
	// maxRoundPause is the upper limit of the pause between two rounds.
	maxRoundPause = 15 * time.Second
	// scanOverlap is the duration by which the range of a recent scan begins before the end of the previous scan. The
	// recent scan thus also finds entries of sessions that commit late or have a slightly slower clock. If an entry with
	// an even older due instant appears, the next window scan that covers this instant finds it.
	scanOverlap = time.Second
	// longestSearch is the time after which a claim that has found no entry scans no further windows.
	longestSearch = time.Second
)

// Scans decides which due instants the claims of a store read. Normally, each claim makes a full scan.
//
// A full scan is slow while a long transaction prevents the database from removing dead rows. The scan starts at the
// beginning of the index, so it reads the dead rows of all settled entries. In this situation, each claim makes a
// recent scan. From time to time, claims also scan the older due instants, one window at a time. See windows.
//
// Scans is safe for concurrent use. The zero value is ready for use.
type Scans struct {
	mu        sync.Mutex
	slow      int           // consecutive slow full scans
	inWindows bool          // claims make no full scans
	trip      time.Duration // the shortest round trip to the database so far
	next      time.Time     // earliest start of the next round
	from      map[kind]time.Time
	windows   windows
}

// kind identifies the new entries, or the retries, of one operation in one external system.
type kind struct {
	resolver  string
	operation domain.Operation
	retries   bool
}

func kindsOf(take domain.Take) (fresh, retries kind) {
	return kind{take.Resolver, take.Operation, false}, kind{take.Resolver, take.Operation, true}
}

// Read runs a statement that claims the due entries of takes.
type Read func(takes []BoundedTake) ([]domain.OutboxEntry, error)

// Claim claims due entries at the instant now, with one or more calls of read. It calls deadRows for the number of dead
// rows in the outbox if scans have become slow.
func (s *Scans) Claim(
	now time.Time, takes []domain.Take, read Read, deadRows func() (int64, error),
) (claimed []domain.OutboxEntry, err error) {
	began := time.Now()
	if s.readsAll() {
		if claimed, err = read(Unbounded(takes)); err != nil {
			return nil, err
		}
		if s.recordFull(now, takes, claimed, time.Since(began)) {
			dead, err := deadRows()
			s.decide(now, dead)
			return claimed, err
		}
		return claimed, nil
	}
	if claimed, err = s.readWindow(now, takes, read); err != nil {
		return nil, err
	}
	rest := without(takes, claimed)
	recent, err := read(s.recent(rest))
	if err != nil {
		return nil, err
	}
	s.recordRecent(now, rest, recent)
	claimed = append(claimed, recent...)
	for err == nil && len(claimed) == 0 && s.hasWindow() && time.Since(began) < longestSearch {
		claimed, err = s.readWindow(now, takes, read)
	}
	return claimed, err
}

// RoundTrip records the duration of a statement without work. The time of the network does not make a scan slow.
func (s *Scans) RoundTrip(took time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.trip == 0 || took < s.trip {
		s.trip = took
	}
}

// Restart lets the next claim begin a new round. The caller calls it after a requeue has committed, because the
// requeued entries have old due instants.
func (s *Scans) Restart() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.next, s.windows.turn = time.Time{}, len(s.windows.all)
}

func (s *Scans) readsAll() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return !s.inWindows
}

// hasWindow reports whether the next claim can scan a window.
func (s *Scans) hasWindow() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.windows.hasNext()
}

// readWindow scans the next window of the round, if there is one and no other claim scans it.
func (s *Scans) readWindow(now time.Time, takes []domain.Take, read Read) (found []domain.OutboxEntry, err error) {
	from, until, ok := s.takeWindow(now)
	if !ok {
		return nil, nil
	}
	recorded := false
	defer func() {
		if !recorded {
			s.giveBackWindow()
		}
	}()
	within := Unbounded(takes)
	for i := range within {
		within[i].FreshFrom, within[i].RetriesFrom, within[i].Until = from, from, until
	}
	began := time.Now()
	if found, err = read(within); err == nil {
		s.recordWindow(from, takes, found, time.Since(began))
		recorded = true
	}
	return found, err
}

func (s *Scans) takeWindow(now time.Time) (from, until time.Time, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.windows.turn >= len(s.windows.all) && !time.Now().Before(s.next) {
		s.windows.start(now.Add(-scanOverlap))
	}
	if !s.windows.hasNext() {
		return time.Time{}, time.Time{}, false
	}
	from, until = s.windows.take()
	return from, until, true
}

func (s *Scans) giveBackWindow() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.windows.giveBack()
}

// recent returns the takes with the bounds of a recent scan.
func (s *Scans) recent(takes []domain.Take) []BoundedTake {
	s.mu.Lock()
	defer s.mu.Unlock()
	within := Unbounded(takes)
	for i, take := range takes {
		fresh, retries := kindsOf(take)
		within[i].FreshFrom, within[i].RetriesFrom = s.from[fresh], s.from[retries]
	}
	return within
}

// recordFull records a full scan that has just ended. It reports whether the last scans were slow.
func (s *Scans) recordFull(now time.Time, takes []domain.Take, found []domain.OutboxEntry, took time.Duration) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.moveRecent(now, takes, found)
	took -= s.trip
	s.slow++
	if took < slowScan {
		s.slow = 0
	}
	s.next = time.Now().Add(min(roundPauseRatio*took, maxRoundPause))
	return s.slow >= slowScans
}

// decide ends the full scans if dead rows make them slow.
func (s *Scans) decide(now time.Time, deadRows int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.slow = 0
	if s.inWindows = deadRows >= manyDeadRows; s.inWindows {
		s.windows = windows{}
		s.windows.start(now.Add(-scanOverlap))
		s.windows.turn = len(s.windows.all)
	}
}

// recordWindow records the scan of the window that begins at from. If the window may hold more due entries,
// recordWindow moves the beginning of the next recent scan back into the window, so that this scan finds them. If all
// windows have been scanned in a short time, the next claims make full scans again.
func (s *Scans) recordWindow(from time.Time, takes []domain.Take, found []domain.OutboxEntry, took time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, take := range takes {
		fresh, retries := kindsOf(take)
		freshFound, retriesFound := take.Among(found)
		if take.Fresh > 0 && freshFound >= take.Fresh {
			s.from[fresh] = earlier(s.from[fresh], oldestFresh(take, found, from))
		}
		if take.Retries > 0 && retriesFound >= take.Retries {
			s.from[retries] = earlier(s.from[retries], from)
		}
	}
	if !s.windows.scanned(max(0, took-s.trip)) {
		return
	}
	s.next = time.Now().Add(min(roundPauseRatio*s.windows.cost, maxRoundPause))
	if s.windows.cost < slowScan {
		s.inWindows, s.windows = false, windows{}
	}
}

// recordRecent records a recent scan that has just ended.
func (s *Scans) recordRecent(now time.Time, takes []domain.Take, found []domain.OutboxEntry) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.moveRecent(now, takes, found)
}

// moveRecent sets the due instants at which the next recent scan begins. If a claim has found as many retries as the
// take permits, the remaining ones may be as old. New entries are taken in the order of their age, so no new entry that
// is older than the found ones remains.
func (s *Scans) moveRecent(now time.Time, takes []domain.Take, found []domain.OutboxEntry) {
	if s.from == nil {
		s.from = map[kind]time.Time{}
	}
	for _, take := range takes {
		fresh, retries := kindsOf(take)
		freshFound, retriesFound := take.Among(found)
		from := now.Add(-scanOverlap)
		if freshFound < take.Fresh {
			s.from[fresh] = from
		} else {
			s.from[fresh] = earlier(from, oldestFresh(take, found, s.from[fresh]))
		}
		if retriesFound < take.Retries {
			s.from[retries] = from
		}
	}
}

// oldestFresh returns the instant at which the oldest new entry of the take was enqueued, or none if there is no new
// entry.
func oldestFresh(take domain.Take, found []domain.OutboxEntry, none time.Time) time.Time {
	oldest := none
	first := true
	for _, entry := range found {
		if entry.Resolver == take.Resolver && entry.Operation == take.Operation && entry.Attempts <= 1 &&
			(first || entry.EnqueuedAt.Before(oldest)) {
			oldest, first = entry.EnqueuedAt, false
		}
	}
	return oldest
}

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

// without returns the takes of which the claimed entries are not a part.
func without(takes []domain.Take, claimed []domain.OutboxEntry) []domain.Take {
	rest := make([]domain.Take, len(takes))
	for i, take := range takes {
		fresh, retries := take.Among(claimed)
		take.Fresh, take.Retries = take.Fresh-fresh, take.Retries-retries
		rest[i] = take
	}
	return rest
}
