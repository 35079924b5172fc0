package fiberhttp

import (
	"io"
	"net"
	"net/http"

	"github.com/gofiber/fiber/v2"
	"github.com/valyala/fasthttp"
)

// halfCloser is a connection that can close its sending side separately, such as a TCP or Unix socket.
type halfCloser interface{ CloseWrite() error }

// breaker returns the connection of the request, which the handler can close in the middle of a response. It returns
// nil in these cases, in which an export is sent with its length:
//
//   - The request uses HTTP/1.0. The end of the connection then also means the end of the body, so that a client
//     could not detect an incomplete response.
//   - The connection is neither a TCP nor a Unix socket, with or without TLS. fasthttp wraps some connections and
//     reuses the wrapper for another connection.
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

// breakingStream is the stream of a response. It closes the sending side of the connection as soon as a read of the
// stream fails. fasthttp closes the connection after such a failure only if fasthttp itself has read the stream. If a
// middleware has read the stream, the middleware may replace the rest of the body by the text of the error. It may also
// finish a compressed body as if the body were complete.
type breakingStream struct {
	io.ReadCloser
	connection halfCloser // nil if breaker returns nil
	response   *fasthttp.Response
}

func (b breakingStream) breakOff() {
	if b.connection != nil {
		_ = b.connection.CloseWrite() // fails if the client has disconnected
	}
}

// Read implements io.Reader.
func (b breakingStream) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err != nil && err != io.EOF {
		b.breakOff()
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
		b.breakOff()
		return n, err
	}
	// Here a middleware has called Response.Body, which replaces the buffered body by the text of the error. The response
	// was not sent yet. A middleware may store the response for later requests, so the response must have the status of a
	// failure.
	b.response.SetStatusCode(http.StatusInternalServerError)
	b.response.Header.SetContentType(fiber.MIMETextPlain)
	b.response.SetConnectionClose()
	return n, err
}
