// Package endpoints measures the four endpoints on both sides, hand-written and habeas, in alternating pairs.
package endpoints

import (
	"math/rand/v2"
	"strconv"
	"sync/atomic"

	"github.com/habeas-data/habeas/tests/bench/load"
)

// Endpoint is a measured endpoint.
type Endpoint struct {
	Name string // name as in "ratio consent_post 16 1.40"

	// consumes means that each user is used only once, because a second request has nothing left to do.
	consumes bool
	// append adds the request of a user to a buffer.
	append func(buffer []byte, user int64) []byte
}

// All returns the endpoints in the order of measurement. The erasure comes last, because it leaves less data to export.
func All() []Endpoint {
	const body = `{"purpose":"newsletter","policy_version":"2026-01","granted":true}`
	post := "\r\nContent-Type: application/json\r\nContent-Length: " + strconv.Itoa(len(body)) + "\r\n\r\n" + body
	return []Endpoint{
		{Name: "consent_post", append: request("POST /me/consent", post)},
		{Name: "consent_get", append: request("GET /me/consent/newsletter", end)},
		{Name: "export", append: request("GET /me/export", end)},
		{Name: "erase", append: request("DELETE /me", end), consumes: true},
	}
}

const end = "\r\n\r\n"

// request returns a function that appends requests, which differ only in the user.
func request(line, rest string) func([]byte, int64) []byte {
	head := line + " HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer "
	return func(buffer []byte, user int64) []byte {
		return append(strconv.AppendInt(append(buffer, head...), user, 10), rest...)
	}
}

// span is a range of users from the first to the last number.
type span struct{ first, last int64 }

// part returns the i-th of the given number of equal parts.
func (s span) part(i, parts int) span {
	size := (s.last - s.first + 1) / int64(parts)
	first := s.first + int64(i)*size
	return span{first, first + size - 1}
}

// requests returns the requests of a run for random users. Both sides use the same seed, and so the same users. An
// endpoint that consumes users uses each user once.
func (e Endpoint) requests(users span, seed uint64) func(int) load.Requests {
	if e.consumes {
		order := rand.New(rand.NewPCG(seed, 0)).Perm(int(users.last - users.first + 1))
		var taken atomic.Int64
		return func(int) load.Requests {
			return func(buffer []byte) ([]byte, bool) {
				i := taken.Add(1) - 1
				if i >= int64(len(order)) {
					return buffer, false
				}
				return e.append(buffer, users.first+int64(order[i])), true
			}
		}
	}
	return func(connection int) load.Requests {
		random := rand.New(rand.NewPCG(seed, uint64(connection)))
		return func(buffer []byte) ([]byte, bool) {
			return e.append(buffer, users.first+random.Int64N(users.last-users.first+1)), true
		}
	}
}
