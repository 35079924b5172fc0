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
)

func newRequest(c *fiber.Ctx) httpapi.Request {
	request := c.Request()
	body, setReadDeadline := body(c)
	return httpapi.Request{
		Query:           string(request.URI().QueryString()),
		ContentType:     string(request.Header.ContentType()),
		ContentEncoding: string(bytes.Join(request.Header.PeekAll(fiber.HeaderContentEncoding), []byte(","))),
		Body:            body,
		SetReadDeadline: setReadDeadline,
		NoStream:        breaker(c) == nil,
	}
}

// isOfRequest reports whether the user context is derived from the context of the request, which fasthttp reuses after
// the handler has returned.
func isOfRequest(c *fiber.Ctx) bool {
	type probe struct{}
	if c.UserContext() == context.Background() {
		return false
	}
	c.Context().SetUserValue(probe{}, true)
	defer c.Context().RemoveUserValue(probe{})
	return c.UserContext().Value(probe{}) != nil
}

// body returns the body as it was sent. If the body is still arriving, body also returns the function that sets the
// deadline of its reads. It does not call c.Body(), which would decompress the body without a limit on the size.
func body(c *fiber.Ctx) (io.Reader, func(time.Time)) {
	request := c.Request()
	if request.IsBodyStream() {
		set, lift := readDeadline(c)
		return stream{request, lift}, set
	}
	if sent := request.Body(); len(sent) > 0 {
		return bytes.NewReader(sent), nil
	}
	return nil, nil
}

// stream is a request body that is still arriving, in an application with StreamRequestBody. At its end, Read closes it
// and calls arrived.
type stream struct {
	request *fasthttp.Request
	arrived func()
}

func (s stream) Read(p []byte) (int, error) {
	arriving := s.request.BodyStream()
	if arriving == nil {
		return 0, io.EOF
	}
	n, err := arriving.Read(p)
	if errors.Is(err, io.EOF) {
		s.arrived()
		_ = s.request.CloseBodyStream() // the body was read completely
	}
	return n, err
}

// wildcard returns the text that the last wildcard of the route has matched. The last segment of the text is escaped as
// the client sent it. With UnescapePath, Fiber has unescaped the path: "a%2Fb" has become two segments, and "+" a
// space. In that case, wildcard takes the last segment from the original path.
func wildcard(c *fiber.Ctx) string {
	config, names := c.App().Config(), c.Route().Params
	trim := func(path string) string {
		if config.StrictRouting {
			return path
		}
		return strings.TrimRight(path, "/")
	}
	path, matched := trim(c.Path()), trim(c.Params(names[len(names)-1]))
	before, isEnd := strings.CutSuffix(path, matched)
	switch {
	case matched == "":
		return ""
	case !isEnd || !strings.HasSuffix(before, "/"):
		// If an application is mounted under a prefix with parameters, Fiber confuses the parameters. The path contains a
		// slash, so that it matches no endpoint.
		return strings.Clone(path)
	case !config.UnescapePath:
		return strings.Clone(matched)
	}
	sent := trim(string(c.Request().URI().PathOriginal()))
	segment := sent[strings.LastIndexByte(sent, '/')+1:]
	unescaped := trim(string(fasthttp.AppendUnquotedArg(nil, []byte(segment))))
	before, isEnd = strings.CutSuffix(matched, unescaped)
	if !isEnd {
		return unescaped // the segment begins before the wildcard, so it contains a slash
	}
	return strings.Clone(before) + segment
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
		// If a stream fails, compressing middlewares finish their output as if it were complete, and caches store it.
		c.Request().Header.Del(fiber.HeaderAcceptEncoding)
		c.Context().SetBodyStream(breakingStream{response.Stream, breaker(c), c.Response()}, -1)
		return nil
	}
}
