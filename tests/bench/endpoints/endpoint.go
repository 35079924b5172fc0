// Package endpoints measures four HTTP endpoints in several servers (the sides): a hand-written server, and servers
// with habeas. The runs of the servers alternate.
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

	// consumes is true if a user is used for only one request. A second erasure of a user would have nothing to do.
	consumes bool
	// append appends the request of a user to a buffer.
	append func(buffer []byte, user int64) []byte
}

// All returns the endpoints in the order of the measurement. The erasure is last, because the export of an erased user
// is smaller.
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

// request returns a function that appends an HTTP request to a buffer. The request consists of the request line, the
// number of the user as bearer token, and the text in the parameter rest.
func request(line, rest string) func([]byte, int64) []byte {
	head := line + " HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer "
	return func(buffer []byte, user int64) []byte {
		return append(strconv.AppendInt(append(buffer, head...), user, 10), rest...)
	}
}

// span is a range of users. It includes the users with the numbers first and last.
type span struct{ first, last int64 }

// part divides the range into the given number of equal parts, and returns part i. The first part has i = 0.
func (s span) part(i, parts int) span {
	size := (s.last - s.first + 1) / int64(parts)
	first := s.first + int64(i)*size
	return span{first, first + size - 1}
}

// requests returns the requests of a run, in a random order of users. The same seed gives the same order, so all
// measured servers get the same requests. If the endpoint consumes users, each user occurs once.
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
