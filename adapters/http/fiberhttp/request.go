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
		Whole:           breaker(c) == nil,
	}
}

// isOfRequest reports whether the user context is made of the request's own, which changes after the handler.
func isOfRequest(c *fiber.Ctx) bool {
	type probe struct{}
	if c.UserContext() == context.Background() {
		return false
	}
	c.Context().SetUserValue(probe{}, true)
	defer c.Context().RemoveUserValue(probe{})
	return c.UserContext().Value(probe{}) != nil
}

// body returns the body as it was sent, and the function that bounds its reads if it is still arriving. c.Body() would
// decompress it, to any size.
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

// stream is the body of a host with StreamRequestBody: it is still arriving, and ends by being closed.
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
		_ = s.request.CloseBodyStream() // there is nothing left to lose
	}
	return n, err
}

// wildcard returns what the last wildcard of the route has matched, and of it the last segment as the client escaped
// it. A host with UnescapePath has unescaped the whole, where "a%2Fb" is no longer one segment, and a plus is a space.
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
		// Fiber mixes up the parameters of an application mounted under a prefix that has some itself.
		return strings.Clone(path)
	case !config.UnescapePath:
		return strings.Clone(matched)
	}
	sent := trim(string(c.Request().URI().PathOriginal()))
	segment := sent[strings.LastIndexByte(sent, '/')+1:]
	unescaped := trim(string(fasthttp.AppendUnquotedArg(nil, []byte(segment))))
	before, isEnd = strings.CutSuffix(matched, unescaped)
	if !isEnd {
		return unescaped // it begins before the wildcard, so it has a slash
	}
	return strings.Clone(before) + segment
}

func send(c *fiber.Ctx, response httpapi.Response) error {
	if c.Request().IsBodyStream() {
		c.Context().SetConnectionClose() // or what is left of the body would be taken for the next request
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
	default: // fasthttp closes it, and breaks the connection off when it fails
		// Compressors end what they have made of a stream that fails as if it were complete, for caches to keep.
		c.Request().Header.Del(fiber.HeaderAcceptEncoding)
		c.Context().SetBodyStream(brittle{response.Stream, breaker(c), c.Response()}, -1)
		return nil
	}
}
