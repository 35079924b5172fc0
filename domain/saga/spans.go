package saga

import (
	"slices"
	"time"
)

const (
	// spanLength is the duration of a new span, unless a round would then add more than newSpans spans.
	spanLength = time.Second
	newSpans   = 64
	// slowSpan is the duration of a look above which its span is halved.
	slowSpan = 2 * time.Millisecond
	// A span shorter than twice shortestSpan is not halved. With mostSpans spans, no span is halved.
	shortestSpan = 10 * time.Millisecond
	mostSpans    = 2000
	// firstWidth is the duration that is cut off the end of the first span, which has no beginning. This duration doubles
	// with each cut.
	firstWidth = time.Minute
)

// span is an interval of due times. It begins at the end of the previous span. The first span has no beginning.
type span struct {
	until time.Time
	took  time.Duration // duration of the last look
}

// spans divides the time before the recent looks into intervals. A look at one span is fast. A round consists of one
// look at each span, which together cover all due times before the recent looks.
type spans struct {
	all   []span // oldest first
	turn  int    // index of the next span of the round, or len(all) if no round is in progress
	taken bool   // a claim is looking at the span at turn
	cost  time.Duration
	width time.Duration // duration that was last cut off the first span
}

// start begins a round. It adds spans for the time since the last round.
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
	s.all[len(s.all)-1].until = maxTime(s.all[len(s.all)-1].until, until) // the remainder
}

func maxTime(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// underWay reports whether the round has another span to look at and no claim looks at it.
func (s *spans) underWay() bool { return s.turn < len(s.all) && !s.taken }

// take returns the bounds of the next span. The caller must then call looked or giveBack.
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

// looked records the duration of the look at the span that take returned. It reports whether the round has ended.
func (s *spans) looked(took time.Duration) (last bool) {
	s.taken = false
	if s.turn >= len(s.all) { // restart ended the round meanwhile
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

// split halves the current span.
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

// merge joins adjacent spans that can be read fast in one look.
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
