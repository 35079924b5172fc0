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

// maxBody is the maximum size in bytes of the decompressed body of a response. It allows for a page of 150
// conversations, each with its first message.
const maxBody = 32 << 20

// maxHeader is the maximum size of the header of a response, in bytes.
const maxHeader = 256 << 10

// call is one call of a Resolver method. A call sends one or more HTTP requests with the same client.
type call struct {
	resolver *Resolver
	client   *resty.Client
	close    func() // closes the connections of the call, unless the caller has set a transport
}

// newCall returns a call, which the caller must close.
func (r *Resolver) newCall() call {
	transport, done := r.transport, func() {}
	if transport == nil {
		own := newTransport(r.onThisMachine)
		transport, done = own, own.CloseIdleConnections
	}
	client := resty.NewWithClient(&http.Client{
		Transport:     transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	})
	client.SetRetryCount(0) // the caller retries later
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

// newTransport returns an HTTP transport for one call. After CloseIdleConnections, no goroutine and no connection of
// the transport remains. The transport therefore does not use HTTP/2, whose connections keep goroutines in the
// background.
//
// If onThisMachine is set, the transport uses no proxy. It then connects only to this machine, even if the name of the
// host resolves to another address.
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

// deskResponse is a response of the desk with a status 2xx, or with the status 404 and an error in the format of the
// desk.
type deskResponse struct {
	status      int
	contentType string
	body        []byte
}

// notFound reports whether the desk does not have the object of the request.
func (r deskResponse) notFound() bool { return r.status == http.StatusNotFound }

// send sends one request. It returns the response if the status is 2xx, or if the response is a 404 from the desk.
// Otherwise, it returns an error.
func (c call) send(ctx context.Context, method, path string, body []byte) (deskResponse, error) {
	ctx, cancel := context.WithTimeout(ctx, c.resolver.timeout)
	defer cancel()
	request := c.client.R().SetContext(ctx)
	if body != nil {
		request.SetHeader("Content-Type", "application/json").SetBody(body)
	}
	response, err := request.Execute(method, c.resolver.baseURL+path)
	if err != nil {
		return deskResponse{}, noResponse(ctx, method, err)
	}
	stream := response.RawBody()
	defer func() { _ = stream.Close() }()

	status := response.StatusCode()
	if !response.IsSuccess() && status != http.StatusNotFound {
		return deskResponse{}, refused(method, status, response.Header(), c.resolver.now())
	}
	content, err := io.ReadAll(io.LimitReader(stream, maxBody+1))
	switch {
	case err != nil:
		return deskResponse{}, incomplete(ctx, method, err)
	case len(content) > maxBody:
		return deskResponse{}, unusable(method, errTooLarge)
	}
	received := deskResponse{status, response.Header().Get("Content-Type"), bytes.TrimSpace(content)}
	if received.notFound() && !received.saysNotFound() {
		return deskResponse{}, notFromDesk(method)
	}
	return received, nil
}

// silence is a logger for resty that drops all messages, because a message may contain a URL.
type silence struct{}

func (silence) Errorf(string, ...any) {}
func (silence) Warnf(string, ...any)  {}
func (silence) Debugf(string, ...any) {}
