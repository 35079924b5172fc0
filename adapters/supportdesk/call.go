package supportdesk

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"time"

	"github.com/go-resty/resty/v2"
)

// maxBody bounds an answer, after decompression. A page of 150 conversations comes with the first message of each.
const maxBody = 32 << 20

// maxHeader bounds the header of an answer.
const maxHeader = 256 << 10

// call is one call of the resolver, of one or more requests. It has a client of its own.
type call struct {
	resolver *Resolver
	client   *resty.Client
	close    func() // ends the connections that are the call's own
}

// open begins a call. The caller closes it.
func (r *Resolver) open() call {
	transport, done := r.transport, func() {}
	if transport == nil {
		own := newTransport(r.onThisMachine)
		transport, done = own, own.CloseIdleConnections
	}
	client := resty.NewWithClient(&http.Client{
		Transport:     transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	})
	client.SetRetryCount(0) // whoever calls tries again, later
	client.SetLogger(silence{})
	client.SetDoNotParseResponse(true)
	client.SetAuthToken(r.token())
	client.SetHeaders(map[string]string{
		"Accept":           "application/json",
		"Intercom-Version": r.apiVersion,
		"User-Agent":       "habeas",
	})
	return call{resolver: r, client: client, close: done}
}

// newTransport returns a transport that leaves nothing behind once its idle connections are closed. HTTP/1.1 is enough
// for requests that wait for each other, and its connections have no life of their own. For plain http it reaches
// nothing but this machine: no proxy, and no other address, whatever the name is resolved to.
func newTransport(onThisMachine bool) *http.Transport {
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	transport := &http.Transport{
		Proxy:                  http.ProxyFromEnvironment,
		DialContext:            new(net.Dialer).DialContext,
		IdleConnTimeout:        time.Minute,
		MaxResponseHeaderBytes: maxHeader,
		Protocols:              protocols,
	}
	if onThisMachine {
		transport.Proxy = nil
		transport.DialContext = (&net.Dialer{Control: onlyLoopback}).DialContext
	}
	return transport
}

// answer is the response to a request, if it can be used: a 2xx, or a 404 in the desk's own words.
type answer struct {
	status      int
	contentType string
	body        []byte
}

// notFound reports whether the desk says that it does not have what was asked for.
func (a answer) notFound() bool { return a.status == http.StatusNotFound }

// send makes one request. Answers that are of no use are errors already.
func (c call) send(ctx context.Context, method, path string, body []byte) (answer, error) {
	ctx, cancel := context.WithTimeout(ctx, c.resolver.timeout)
	defer cancel()
	request := c.client.R().SetContext(ctx)
	if body != nil {
		request.SetHeader("Content-Type", "application/json").SetBody(body)
	}
	response, err := request.Execute(method, c.resolver.baseURL+path)
	if err != nil {
		return answer{}, unanswered(ctx, method, err)
	}
	stream := response.RawBody()
	defer func() { _ = stream.Close() }()

	status := response.StatusCode()
	if !response.IsSuccess() && status != http.StatusNotFound {
		return answer{}, refused(method, status, response.Header(), c.resolver.now())
	}
	content, err := io.ReadAll(io.LimitReader(stream, maxBody+1))
	switch {
	case err != nil:
		return answer{}, brokenOff(ctx, method, err)
	case len(content) > maxBody:
		return answer{}, unusable(method, errTooLarge)
	}
	received := answer{status, response.Header().Get("Content-Type"), bytes.TrimSpace(content)}
	if received.notFound() && !received.saysNotFound() {
		return answer{}, notTheDesk(method)
	}
	return received, nil
}

// silence is the logger of clients: what resty logs may hold a URL.
type silence struct{}

func (silence) Errorf(string, ...any) {}
func (silence) Warnf(string, ...any)  {}
func (silence) Debugf(string, ...any) {}
