// Package load generates HTTP requests in a closed loop: each connection sends its next request after the response to
// its previous request. The package uses little processor time, because the measured servers run on the same machine.
package load

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/valyala/fasthttp"
)

// patience is the longest wait for a response. If a response takes longer, the run fails.
const patience = 30 * time.Second

// Requests appends the next HTTP request of a connection to an empty buffer. It returns false if no request is left.
type Requests func(buffer []byte) ([]byte, bool)

// Plan describes a run of the load generator.
type Plan struct {
	Address     string
	Connections int
	Duration    time.Duration
	// Requests is called once for each connection. The connections are numbered from 0.
	Requests func(connection int) Requests
}

// Result is the result of a run of the load generator.
type Result struct {
	Responses int             // number of all responses
	InTime    int             // number of responses within Plan.Duration
	Latencies []time.Duration // latencies of all requests, ascending
	Elapsed   time.Duration   // Plan.Duration, or less if no request was left
}

// Rate returns the number of responses per second. It counts only responses before the end of the planned duration.
func (r Result) Rate() float64 {
	if r.Elapsed <= 0 {
		return 0
	}
	return float64(r.InTime) / r.Elapsed.Seconds()
}

// Percentile returns the smallest latency that the given percentage of the requests did not exceed, or 0 if there were
// no requests.
func (r Result) Percentile(percent int) time.Duration {
	if len(r.Latencies) == 0 {
		return 0
	}
	return r.Latencies[max((percent*len(r.Latencies)+99)/100, 1)-1]
}

// Run opens the connections, sends requests for the planned duration, and waits for the last responses. It returns an
// error for a status other than 200, or for a body that is not JSON.
func Run(ctx context.Context, plan Plan) (Result, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var connections []*connection
	defer func() {
		for _, c := range connections {
			c.Close()
		}
	}()
	for i := range plan.Connections {
		var dialer net.Dialer
		conn, err := dialer.DialContext(ctx, "tcp", plan.Address)
		if err != nil {
			return Result{}, err
		}
		connections = append(connections, &connection{Conn: conn, reader: bufio.NewReader(conn), next: plan.Requests(i)})
	}
	begin := time.Now()
	end := begin.Add(plan.Duration)
	var all sync.WaitGroup
	for _, c := range connections {
		all.Go(func() {
			// If one connection fails, the other connections are closed, because their results would be useless.
			stop := context.AfterFunc(ctx, func() { c.Close() })
			defer stop()
			if err := c.loop(begin, end); err != nil {
				cancel(err)
			}
		})
	}
	all.Wait()
	if err := context.Cause(ctx); err != nil {
		return Result{}, err
	}
	return sum(connections, begin, end), nil
}

func sum(connections []*connection, begin, end time.Time) Result {
	var result Result
	ended := begin
	for _, c := range connections {
		result.Responses += len(c.latencies)
		result.InTime += c.inTime
		result.Latencies = append(result.Latencies, c.latencies...)
		if c.ended.After(ended) {
			ended = c.ended
		}
	}
	if ended.After(end) {
		ended = end
	}
	result.Elapsed = ended.Sub(begin)
	slices.Sort(result.Latencies)
	return result
}

// connection sends requests over one TCP connection, one after the other.
type connection struct {
	net.Conn
	reader    *bufio.Reader
	next      Requests
	inTime    int
	latencies []time.Duration
	ended     time.Time // when the last response arrived
}

func (c *connection) loop(begin, end time.Time) error {
	if err := c.SetDeadline(end.Add(patience)); err != nil {
		return err
	}
	var request []byte
	var response fasthttp.Response
	c.latencies = make([]time.Duration, 0, 1<<12)
	c.ended = begin
	for sent := time.Now(); sent.Before(end); sent = c.ended {
		var more bool
		if request, more = c.next(request[:0]); !more {
			break
		}
		if _, err := c.Write(request); err != nil {
			return err
		}
		if err := response.Read(c.reader); err != nil {
			return fmt.Errorf("a response cannot be read: %w", err)
		}
		if response.StatusCode() != http.StatusOK {
			return fmt.Errorf("the response to %s has status %d: %.200s", firstLine(request), response.StatusCode(),
				response.Body())
		}
		c.ended = time.Now()
		c.latencies = append(c.latencies, c.ended.Sub(sent))
		if c.ended.Before(end) {
			c.inTime++
		}
	}
	if len(c.latencies) > 0 && !json.Valid(response.Body()) {
		return errors.New("a response is not valid JSON")
	}
	return nil
}

func firstLine(request []byte) []byte {
	if end := slices.Index(request, '\r'); end >= 0 {
		return request[:end]
	}
	return request
}
