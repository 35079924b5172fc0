package fiberhttp

import (
	"io"
	"net"
	"net/http"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/valyala/fasthttp"
)

// halfCloser is a connection whose sending side can be closed separately, such as a TCP or Unix socket.
type halfCloser interface{ CloseWrite() error }

// breaker returns the connection of the request if the client can detect that a response was broken off, and otherwise
// nil. Over HTTP/1.0, the end of the connection looks like the end of the body. breaker returns nil for connections
// other than sockets of the operating system, because fasthttp reuses some of its wrappers, and tests use fakes.
func breaker(c *fiber.Ctx) halfCloser {
	if !c.Request().Header.IsHTTP11() {
		return nil
	}
	connection := c.Context().Conn()
	if encrypted, ok := connection.(interface{ NetConn() net.Conn }); ok {
		connection = encrypted.NetConn()
	}
	switch socket := connection.(type) {
	case *net.TCPConn:
		return socket
	case *net.UnixConn:
		return socket
	default:
		return nil
	}
}

// breakingStream is a stream that breaks the connection off if it fails. It cannot leave that to the server, because
// middlewares read streams, too. Some middlewares replace the rest by the text of the error. Others finish the
// compressed body as if it were complete.
type breakingStream struct {
	io.ReadCloser
	connection halfCloser
	response   *fasthttp.Response
}

// Read implements io.Reader.
func (b breakingStream) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err != nil && err != io.EOF {
		_ = b.connection.CloseWrite() // fails if the client has gone
	}
	return n, err
}

// WriteTo implements io.WriterTo. Response.Body of fasthttp calls WriteTo, and not Read, to buffer the stream.
func (b breakingStream) WriteTo(w io.Writer) (int64, error) {
	n, err := io.Copy(w, b.ReadCloser)
	if err == nil {
		return n, nil
	}
	if _, isBuffer := w.(interface{ SetString(text string) }); !isBuffer {
		_ = b.connection.CloseWrite()
		return n, err
	}
	// Response.Body buffers the stream for a middleware before the response is sent, and replaces the buffer by the text
	// of the error. A middleware may store that response for later requests, so it must have the status of a failure.
	b.response.SetStatusCode(http.StatusInternalServerError)
	b.response.Header.SetContentType(fiber.MIMETextPlain)
	b.response.SetConnectionClose()
	return n, err
}

// readDeadline returns two functions for a body that is still arriving. The function set sets the read deadline of the
// connection. The function lift removes the deadline when the body has arrived. Without lift, the deadline would apply
// to later requests on the connection, because fasthttp sets deadlines only if the application configures timeouts.
func readDeadline(c *fiber.Ctx) (set func(time.Time), lift func()) {
	own := max(c.App().Config().ReadTimeout, 0)
	connection := c.Context().Conn()
	isSet := false
	set = func(deadline time.Time) {
		if own == 0 || time.Until(deadline) < own {
			isSet = connection.SetReadDeadline(deadline) == nil
		}
	}
	lift = func() {
		if !isSet {
			return
		}
		var none time.Time
		if own > 0 {
			none = time.Now().Add(own)
		}
		isSet = connection.SetReadDeadline(none) != nil
	}
	return set, lift
}
