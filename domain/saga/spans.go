package saga

import (
	"slices"
	"time"
)

const (
	// spanLength is how much time a new span covers, unless there would be more than newSpans of them.
	spanLength = time.Second
	newSpans   = 64
	// slowSpan is what a look at a span may take before it is halved.
	slowSpan = 2 * time.Millisecond
	// shortestSpan is halved no more, and no span is where there are mostSpans.
	shortestSpan = 10 * time.Millisecond
	mostSpans    = 2000
	// firstWidth is how much is cut off the end of the first span, which has no beginning, doubled each time.
	firstWidth = time.Minute
)

// span is a time in which entries came due: since the end of the span before, or ever.
type span struct {
	until time.Time
	took  time.Duration // the last look at it
}

// spans cut the time before the newest looks into pieces. A look at one of them is short, and a round of looks is a
// look at everything.
type spans struct {
	all   []span // oldest first
	turn  int    // the one that comes next in a round; their number when no round is under way
	taken bool   // a claim is looking at that one
	cost  time.Duration
	width time.Duration // cut off the first one last
}

// start begins a round. The time since the last one becomes further spans.
func (s *spans) start(until time.Time) {
	s.turn, s.cost = 0, 0
	if len(s.all) == 0 {
		s.all = []span{{until: until}}
		return
	}
	from := s.all[len(s.all)-1].until
	length := max(spanLength, until.Sub(from)/newSpans)
	for ; until.Sub(from) >= length; from = from.Add(length) {
		s.all = append(s.all, span{until: from.Add(length)})
	}
	s.all[len(s.all)-1].until = maxTime(s.all[len(s.all)-1].until, until) // what is left over
}

func maxTime(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// underWay reports whether there is a span left to look at in this round.
func (s *spans) underWay() bool { return s.turn < len(s.all) && !s.taken }

// take returns the bounds of the next span, which looked or giveBack has to follow.
func (s *spans) take() (from, until time.Time) {
	s.taken = true
	return s.bounds(s.turn)
}

func (s *spans) bounds(i int) (from, until time.Time) {
	if i > 0 {
		from = s.all[i-1].until
	}
	return from, s.all[i].until
}

func (s *spans) giveBack() { s.taken = false }

// looked notes what the look at the span that was taken took, and reports whether it was the last one of the round.
func (s *spans) looked(took time.Duration) (last bool) {
	s.taken = false
	if s.turn >= len(s.all) { // started from the beginning meanwhile
		return false
	}
	s.cost += took
	s.all[s.turn].took = took
	if took > slowSpan {
		s.split()
	}
	s.turn++
	if s.turn < len(s.all) {
		return false
	}
	s.merge()
	return true
}

// split cuts the span that was looked at into two.
func (s *spans) split() {
	from, until := s.bounds(s.turn)
	middle := from.Add(until.Sub(from) / 2)
	if s.turn == 0 {
		s.width = max(2*s.width, firstWidth)
		middle = until.Add(-s.width)
	} else if until.Sub(from) < 2*shortestSpan {
		return
	}
	if len(s.all) >= mostSpans {
		return
	}
	half := s.all[s.turn].took / 2
	s.all[s.turn].took = half
	s.all = slices.Insert(s.all, s.turn, span{until: middle, took: half})
	s.turn++
}

// merge joins spans that are fast together.
func (s *spans) merge() {
	merged := s.all[:1]
	for _, next := range s.all[1:] {
		if last := &merged[len(merged)-1]; last.took+next.took < slowSpan {
			last.until, last.took = next.until, last.took+next.took
		} else {
			merged = append(merged, next)
		}
	}
	s.all, s.turn = merged, len(merged)
}
