package fiberhttp

import (
	"io"
	"net"
	"net/http"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/valyala/fasthttp"
)

// halfClosing is a connection whose sending side can be closed alone, as those of TCP and Unix sockets.
type halfClosing interface{ CloseWrite() error }

// breaker returns the connection of the request if a response can be broken off there so that the client sees it, and
// nil otherwise. HTTP/1.0 has no frames: the end of the connection looks like the end of the body. Other connections
// than those of the system's sockets are not closed here: fasthttp reuses some of its wrappers, and tests have fakes.
func breaker(c *fiber.Ctx) halfClosing {
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

// brittle is a stream that breaks the response off itself if it fails. Middlewares read streams on their own: some
// replace the rest by the text of the error, others end in peace what they have compressed.
type brittle struct {
	io.ReadCloser
	connection halfClosing
	response   *fasthttp.Response
}

// Read implements io.Reader.
func (b brittle) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err != nil && err != io.EOF {
		_ = b.connection.CloseWrite() // fails if the client has gone
	}
	return n, err
}

// WriteTo implements io.WriterTo, which fasthttp prefers to Read where it gathers the stream.
func (b brittle) WriteTo(w io.Writer) (int64, error) {
	n, err := io.Copy(w, b.ReadCloser)
	if err == nil {
		return n, nil
	}
	if _, gathers := w.(interface{ SetString(text string) }); !gathers {
		_ = b.connection.CloseWrite()
		return n, err
	}
	// Response.Body gathers the stream for a middleware, before anything was sent, and puts the text of the error in the
	// place of what it has. A middleware may keep that for later requests, so the status has to say that it failed.
	b.response.SetStatusCode(http.StatusInternalServerError)
	b.response.Header.SetContentType(fiber.MIMETextPlain)
	b.response.SetConnectionClose()
	return n, err
}

// readDeadline returns the function that bounds reads of a body that is still arriving, and the one that lifts the
// bound when the body has arrived. A connection is used again for other requests, for which fasthttp sets deadlines
// only if the host has timeouts.
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
