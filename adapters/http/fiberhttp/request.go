package fiberhttp

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/valyala/fasthttp"

	"github.com/habeas-data/habeas/adapters/http/httpapi"
	"github.com/habeas-data/habeas/adapters/internal/arriving"
	"github.com/habeas-data/habeas/domain"
)

func (r router) newRequest(c *fiber.Ctx) httpapi.Request {
	request := c.Request()
	body, setReadDeadline := body(c)
	var setWriteDeadline func(time.Time) error
	if connection := c.Context().Conn(); connection != nil {
		setWriteDeadline = connection.SetWriteDeadline
	}
	return httpapi.Request{
		Subject:          func(ctx context.Context) (domain.Subject, error) { return r.find(ctx, c) },
		Query:            string(request.URI().QueryString()),
		ContentType:      contentType(&request.Header),
		ContentEncoding:  string(bytes.Join(request.Header.PeekAll(fiber.HeaderContentEncoding), []byte(","))),
		Body:             body,
		SetReadDeadline:  setReadDeadline,
		NeedsLength:      breaker(c) == nil,
		Shutdown:         c.Context().Done(),
		SetWriteDeadline: setWriteDeadline,
	}
}

// contentType returns the header Content-Type, or "" if the client has sent it more than once. fasthttp itself keeps
// only the last one.
func contentType(header *fasthttp.RequestHeader) string {
	sent := 0
	for line := range bytes.Lines(header.RawHeaders()) {
		name, _, isHeader := bytes.Cut(line, []byte(":"))
		if isHeader && bytes.EqualFold(bytes.TrimRight(name, " \t"), []byte(fiber.HeaderContentType)) {
			sent++
		}
	}
	if sent > 1 {
		return ""
	}
	return string(header.ContentType())
}

// isOfRequest reports whether the user context is derived from c.Context(). fasthttp reuses c.Context() for another
// request after the handler has returned, so a derived context must not be used later.
func isOfRequest(c *fiber.Ctx) bool {
	type probe struct{}
	if c.UserContext() == context.Background() {
		return false
	}
	c.Context().SetUserValue(probe{}, true)
	defer c.Context().RemoveUserValue(probe{})
	return c.UserContext().Value(probe{}) != nil
}

// body returns the request body as the client sent it. It does not call c.Body(), which would decompress the body
// without a limit on its size. If the body is still arriving, the second result is a function that sets the read
// deadline of the body.
func body(c *fiber.Ctx) (io.Reader, func(time.Time)) {
	request := c.Request()
	if request.IsBodyStream() {
		set := c.Context().Conn().SetReadDeadline
		body := &arriving.Body{Reader: stream{request}, Own: c.App().Config().ReadTimeout, Set: set}
		return body, body.SetDeadline
	}
	if sent := request.Body(); len(sent) > 0 {
		return bytes.NewReader(sent), nil
	}
	return nil, nil
}

// stream reads a request body that is still arriving. This is possible only in an application with StreamRequestBody.
// At the end of the body, Read closes the body.
type stream struct{ request *fasthttp.Request }

func (s stream) Read(p []byte) (int, error) {
	body := s.request.BodyStream()
	if body == nil {
		return 0, io.EOF
	}
	n, err := body.Read(p)
	if errors.Is(err, io.EOF) {
		_ = s.request.CloseBodyStream() // the body was read completely
	}
	return n, err
}

// wildcard returns the part of the path that the last wildcard of the route has matched. The last segment of this part
// has the percent-encoding that the client sent.
//
// With the option UnescapePath, Fiber has already decoded the path. For example, the one segment "a%2Fb" has become two
// segments, and "+" has become a space. In that case, wildcard takes the last segment from the original path.
func wildcard(c *fiber.Ctx) string {
	config, names := c.App().Config(), c.Route().Params
	matched := trim(config, c.Params(names[len(names)-1]))
	before, isEnd := strings.CutSuffix(trim(config, c.Path()), matched)
	below := c.Path()[len(before):]
	switch {
	case matched == "" && !endsInSlashes(c):
		return ""
	case matched == "":
		below = strings.TrimPrefix(below, "/")
	case !isEnd || !strings.HasSuffix(before, "/"):
		// The parameters of Fiber are wrong, because the application is mounted under a prefix with parameters. wildcard
		// returns the complete path instead. It contains a slash, so it is not a parameter, and the response is a 404.
		return strings.Clone(trim(config, c.Path()))
	}
	if !config.UnescapePath {
		return strings.Clone(matched)
	}
	segment, decoded := lastSegment(c)
	before, isEnd = strings.CutSuffix(below, decoded)
	if !isEnd {
		return decoded // it contains a slash, so it is not a parameter
	}
	return strings.Clone(before) + segment
}

// endsInSlashes reports whether the last segment of the path is one or more encoded slashes that Fiber has decoded and
// then, without StrictRouting, cut off. The route that it found is then that of a shorter path.
func endsInSlashes(c *fiber.Ctx) bool {
	if config := c.App().Config(); !config.UnescapePath || config.StrictRouting {
		return false
	}
	segment, decoded := lastSegment(c)
	return segment != "" && strings.Trim(decoded, "/") == ""
}

// lastSegment returns the last segment of the path as the client sent it, and decoded as Fiber does it, followed by the
// slashes that the configuration ignores.
func lastSegment(c *fiber.Ctx) (segment, decoded string) {
	sent := string(c.Request().URI().PathOriginal())
	kept := trim(c.App().Config(), sent)
	segment = kept[strings.LastIndexByte(kept, '/')+1:]
	return segment, string(fasthttp.AppendUnquotedArg(nil, []byte(segment))) + sent[len(kept):]
}

// trim removes the slashes at the end of a path that the configuration ignores.
func trim(config fiber.Config, path string) string {
	if config.StrictRouting {
		return path
	}
	return strings.TrimRight(path, "/")
}

func send(c *fiber.Ctx, response httpapi.Response) error {
	if c.Request().IsBodyStream() {
		c.Context().SetConnectionClose() // otherwise fasthttp would parse the rest of the body as the next request
	}
	for name, values := range response.Header {
		c.Set(name, strings.Join(values, ", "))
	}
	c.Status(response.Status)
	switch {
	case response.Stream == nil:
		return c.Send(response.Body)
	case c.Method() == http.MethodHead:
		defer response.Stream.Close()
		if _, err := io.Copy(io.Discard, response.Stream); err != nil {
			c.Status(http.StatusInternalServerError)
		}
		return nil
	default: // fasthttp closes the stream, and breaks the connection off if the stream fails
		// The body must not be compressed. If a stream fails, a middleware that compresses would finish its output as if the
		// document were complete, and a cache would store the output.
		c.Request().Header.Del(fiber.HeaderAcceptEncoding)
		length := int(response.Length)
		if length == 0 {
			length = -1 // not known
		}
		c.Context().SetBodyStream(breakingStream{response.Stream, breaker(c), c.Response()}, length)
		return nil
	}
}
