package saga

import (
	"slices"
	"sync"

	"github.com/habeas-data/habeas/domain"
)

// patience is the number of claims after which deal keeps a share for a stream that it did not ask.
const patience = 4

// stream is the new entries, or the retries, of one operation in one external system.
type stream struct {
	system    string
	operation domain.Operation
	retries   bool

	more   bool // the last take has found as many entries as it asked for, so more entries may be due
	found  int  // the number of entries in the last batch
	waited int  // the number of claims since the last take

	share, asked, got int // in the claim in progress: of the next take, and of the previous takes
}

// part is a group of streams that gets a share together.
type part struct {
	streams []*stream
	most    int  // the limit of its share
	more    bool // whether one of its streams may have more entries
	found   int
	waited  int
	share   int
}

// deal divides n entries among streams, and returns the takes of a claim. It divides n among the systems, the share of
// a system among its operations, and the share of an operation between new entries and retries. No system gets more
// than its limit.
//
// In each division, a part whose last take found fewer entries than it asked for gets up to twice as many entries as it
// had in the last batch. The others share the rest equally. If that leaves something, the smallest shares get it. So
// that a part that had nothing is asked again, a division first keeps a tenth for such a kind of entries, and a
// twentieth for such operations and systems. If another part may have more entries, it does so only every few claims.
func deal(n int, streams []*stream, limits map[string]int) []domain.Take {
	bySystem := func(a, b *stream) bool { return a.system == b.system }
	byOperation := func(a, b *stream) bool { return a.operation == b.operation }
	byKind := func(a, b *stream) bool { return a.retries == b.retries }
	var takes []domain.Take
	for _, system := range divide(n, n/20, streams, bySystem, limits) {
		for _, operation := range divide(system.share, system.share/20, system.streams, byOperation, limits) {
			first := operation.streams[0]
			take := domain.Take{Resolver: first.system, Operation: first.operation}
			for _, kind := range divide(operation.share, operation.share/10, operation.streams, byKind, limits) {
				if kind.streams[0].share = kind.share; kind.streams[0].retries {
					take.Retries = kind.share
				} else {
					take.Fresh = kind.share
				}
			}
			if take.Fresh+take.Retries > 0 {
				takes = append(takes, take)
			}
		}
	}
	return takes
}

// divide divides n among groups of streams, and keeps the given number for the groups without more entries. It prefers
// the groups that have waited longer.
func divide(
	n, kept int, streams []*stream, together func(a, b *stream) bool, limits map[string]int,
) []*part {
	parts := partsOf(streams, together, limits)
	slices.SortStableFunc(parts, func(a, b *part) int { return b.waited - a.waited })
	calm := slices.DeleteFunc(slices.Clone(parts), func(p *part) bool { return p.more })
	kept = min(max(kept, 1), n)
	if len(calm) < len(parts) && (len(calm) == 0 || calm[0].waited < patience) {
		kept = 0
	}
	n -= give(kept, calm, func(p *part) int { return p.most })
	n -= give(n, parts, func(p *part) int {
		if p.more {
			return p.most
		}
		return min(2*p.found, p.most)
	})
	give(n, parts, func(p *part) int { return p.most })
	return parts
}

// give adds up to n to the shares of the parts, always to the smallest share that is below its bound. It returns the
// number that it has added.
func give(n int, parts []*part, bound func(*part) int) (given int) {
	for ; given < n; given++ {
		var least *part
		for _, p := range parts {
			if p.share < bound(p) && (least == nil || p.share < least.share) {
				least = p
			}
		}
		if least == nil {
			break
		}
		least.share++
	}
	return given
}

func partsOf(streams []*stream, together func(a, b *stream) bool, limits map[string]int) (parts []*part) {
	for _, s := range streams {
		i := slices.IndexFunc(parts, func(p *part) bool { return together(p.streams[0], s) })
		if i < 0 {
			i = len(parts)
			parts = append(parts, &part{most: limits[s.system], waited: s.waited})
		}
		p := parts[i]
		p.streams = append(p.streams, s)
		p.more, p.found, p.waited = p.more || s.more, p.found+s.found, min(p.waited, s.waited)
	}
	return parts
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
	any := slices.ContainsFunc(streams, func(one *stream) bool { return one.got > 0 })
	for _, one := range streams {
		kept := &s.streams[slices.IndexFunc(s.streams, func(k stream) bool {
			return k.system == one.system && k.operation == one.operation && k.retries == one.retries
		})]
		if one.asked == 0 {
			kept.waited++
			continue
		}
		kept.more, kept.waited = one.more, 0
		if any {
			kept.found = one.got
		}
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
			s.asked, s.got, s.more, s.share = s.asked+s.share, s.got+got, got >= s.share, 0
		}
	}
}
