// Package endpoints measures the four endpoints on both sides, hand-written and habeas, in alternating pairs.
package endpoints

import (
	"math/rand/v2"
	"strconv"
	"sync/atomic"

	"github.com/habeas-data/habeas/tests/bench/load"
)

// Endpoint is one of those that are measured.
type Endpoint struct {
	Name string // as in "ratio consent_post 16 1.40"

	// consumes says that a user is asked for only once, for nothing is left to do the second time.
	consumes bool
	// append adds the request of a user to a buffer.
	append func(buffer []byte, user int64) []byte
}

// All lists the endpoints in the order in which they are measured: erasing comes last, for it leaves less to export.
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

// request makes requests that differ in nothing but who is asking.
func request(line, rest string) func([]byte, int64) []byte {
	head := line + " HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer "
	return func(buffer []byte, user int64) []byte {
		return append(strconv.AppendInt(append(buffer, head...), user, 10), rest...)
	}
}

// span are users, by their numbers: from the first to the last.
type span struct{ first, last int64 }

// part returns one of so many equal parts.
func (s span) part(i, parts int) span {
	size := (s.last - s.first + 1) / int64(parts)
	first := s.first + int64(i)*size
	return span{first, first + size - 1}
}

// requests of a run take users at random, the same ones on both sides as the seed is the same; each only once where
// the endpoint consumes them.
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
