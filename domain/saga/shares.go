package saga

import (
	"slices"
	"sync"

	"github.com/habeas-data/habeas/domain"
)

// patience is the number of claims after which a stream that was not asked comes first.
const patience = 4

// stream is the new entries, or the retries, of one operation in one external system.
type stream struct {
	system    string
	operation domain.Operation
	retries   bool

	more   bool // the last take has found as many entries as it asked for, so more entries may be due
	filled bool // one of the takes of the claim has
	waited int  // the number of claims since the last take

	share, asked int // in the claim in progress: of the next take, and of the previous takes
}

// deal divides n entries among streams, and returns the takes of a claim. The systems get equal shares, and the streams
// of a system in turn. No system gets more than its limit. While some streams may have more entries, all others
// together get a fifth, so that a claim mostly fills its batch.
func deal(n int, streams []*stream, limits map[string]int) (takes []domain.Take) {
	streams = slices.Clone(streams)
	slices.SortStableFunc(streams, func(a, b *stream) int { return b.rank() - a.rank() })
	isCalm := !slices.ContainsFunc(streams, func(s *stream) bool { return s.more })
	dealt, few := map[string]int{}, max(1, n/(5*max(1, len(streams))))
	next := func(mayTake func(*stream) bool) (next *stream) {
		for _, s := range streams {
			if dealt[s.system] < limits[s.system] && mayTake(s) && (next == nil || dealt[s.system] < dealt[next.system] ||
				s.system == next.system && s.share < next.share) {
				next = s
			}
		}
		return next
	}
	for range n {
		taker := next(func(s *stream) bool { return s.more || isCalm || s.share < few })
		if taker == nil {
			taker = next(func(*stream) bool { return true })
		}
		if taker == nil {
			break
		}
		dealt[taker.system]++
		taker.share++
	}
	for _, s := range streams {
		if s.share > 0 {
			takes = addShare(takes, s)
		}
	}
	return takes
}

// rank orders the streams of a batch that is too small for all of them.
func (s *stream) rank() int {
	if s.more && s.waited < patience {
		return patience
	}
	return s.waited
}

// addShare adds the share of a stream to the take of its operation.
func addShare(takes []domain.Take, s *stream) []domain.Take {
	i := slices.IndexFunc(takes, func(t domain.Take) bool { return t.Resolver == s.system && t.Operation == s.operation })
	if i < 0 {
		i = len(takes)
		takes = append(takes, domain.Take{Resolver: s.system, Operation: s.operation})
	}
	if s.retries {
		takes[i].Retries = s.share
	} else {
		takes[i].Fresh = s.share
	}
	return takes
}

// shares keeps the streams of a runner between its claims. It is safe for concurrent use.
type shares struct {
	mu      sync.Mutex
	streams []stream
}

// add adds the streams of an operation.
func (s *shares) add(system string, operation domain.Operation) {
	for _, retries := range []bool{false, true} {
		s.streams = append(s.streams, stream{system: system, operation: operation, retries: retries})
	}
}

// of returns copies of the streams of the systems with a limit.
func (s *shares) of(limits map[string]int) (streams []*stream) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, one := range s.streams {
		if limits[one.system] > 0 {
			streams = append(streams, &one)
		}
	}
	return streams
}

// record stores the state of the streams after a claim.
func (s *shares) record(streams []*stream) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, one := range streams {
		kept := &s.streams[slices.IndexFunc(s.streams, func(k stream) bool {
			return k.system == one.system && k.operation == one.operation && k.retries == one.retries
		})]
		if one.asked == 0 {
			kept.waited++
			continue
		}
		kept.more, kept.waited = one.filled, 0
	}
}

// unanswered returns the streams that may have more entries than the claim in progress has found. These are the streams
// that it has not asked yet, and the streams that had as many entries as it asked for.
func unanswered(streams []*stream) (open []*stream) {
	for _, s := range streams {
		if s.asked == 0 || s.more {
			open = append(open, s)
		}
	}
	return open
}

// took records the entries that a claim has returned for the takes of deal.
func took(streams []*stream, takes []domain.Take, claimed []domain.OutboxEntry) {
	for _, take := range takes {
		fresh, retries := take.Among(claimed)
		for _, s := range streams {
			if s.system != take.Resolver || s.operation != take.Operation || s.share == 0 {
				continue
			}
			got := fresh
			if s.retries {
				got = retries
			}
			s.asked, s.more, s.share = s.asked+s.share, got >= s.share, 0
			s.filled = s.filled || s.more
		}
	}
}
