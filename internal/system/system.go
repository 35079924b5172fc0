// Package system implements ports.Clock, ports.IDSource and ports.Secrets with the clock and the random numbers of the
// machine, and creates temporary files.
package system

import (
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"sync"
	"time"
)

// Clock is the clock of the machine. It implements ports.Clock.
type Clock struct{}

// Now returns the current time.
func (Clock) Now() time.Time { return time.Now() }

// IDs generates UUIDs of version 7 (RFC 9562, section 5.7). The UUIDs of one IDs value increase, also within a
// millisecond, so they sort in the order of their generation. IDs implements ports.IDSource and is safe for concurrent
// use. The zero value is ready for use.
type IDs struct {
	mu   sync.Mutex
	last uint64 // the last result of tick: 48 bits for milliseconds, 12 bits for fractions
}

// NewID returns a new UUID in its text form.
func (s *IDs) NewID() string {
	var id [16]byte
	_, _ = rand.Read(id[8:]) // cannot fail: without randomness, it ends the process
	tick := s.tick(time.Now())
	binary.BigEndian.PutUint64(id[:8], tick>>12<<16|0x7000|tick&0xfff)
	id[8] = id[8]&0x3f | 0x80

	text := make([]byte, 36)
	hex.Encode(text, id[:4])
	for i, at := range []int{9, 14, 19, 24} {
		text[at-1] = '-'
		hex.Encode(text[at:], id[4+2*i:min(6+2*i, 10)])
	}
	hex.Encode(text[24:], id[10:])
	return string(text)
}

// tick returns the time now in units of 1/4096 millisecond. If this is not larger than the previous result, tick
// returns the previous result plus 1, so that the results increase with every call.
func (s *IDs) tick(now time.Time) uint64 {
	nanos := uint64(now.UnixNano())
	tick := nanos/1e6<<12 | nanos%1e6<<12/1e6
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last = max(s.last+1, tick)
	return s.last
}

// Secrets makes random numbers of requests. It implements ports.Secrets, and is safe for concurrent use.
type Secrets struct{}

// Number returns random bytes.
func (Secrets) Number() (random [13]byte) {
	_, _ = rand.Read(random[:]) // cannot fail: without randomness, it ends the process
	return random
}
