// Package router is the example of docs/writing-a-router.md: a router for net/http.
package router

import (
	"context"
	"io"
	"maps"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/habeas-data/habeas/adapters/http/httpapi"
	"github.com/habeas-data/habeas/domain"
)

// Handler serves the API under a prefix, such as "/me". The last parameter is the subject provider, the function that
// returns the person who sent a request.
func Handler(prefix string, api *httpapi.API, subject func(*http.Request) (domain.Subject, error)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		request := httpapi.Request{
			Subject: func(ctx context.Context) (domain.Subject, error) {
				return subject(r.WithContext(ctx)) // ctx has the deadline of the request
			},
			Query:                 r.URL.RawQuery,
			ContentType:           only(r.Header.Values("Content-Type")),
			ContentEncoding:       strings.Join(r.Header.Values("Content-Encoding"), ","),
			NeedsLength:           !r.ProtoAtLeast(1, 1), // over HTTP/1.0, a client cannot detect a broken stream
			ContextOutlivesHandle: true,                  // send reads the stream before the handler returns
		}
		if r.Body != http.NoBody && r.ContentLength != 0 {
			body := &requestBody{r.Body, http.NewResponseController(w)}
			request.Body, request.SetReadDeadline = body, body.setDeadline
		}
		path := strings.TrimPrefix(r.URL.EscapedPath(), prefix)
		if path == "" {
			path = "/" // the path of the prefix itself
		}
		send(w, r, api.Route(r.Context(), r.Method, path, request))
	})
}

// only returns the value of a header, or "" if the client has sent several.
func only(values []string) string {
	if len(values) != 1 {
		return ""
	}
	return values[0]
}

// requestBody removes the read deadline at the end of the body, because net/http continues to read from the connection.
// An expired deadline would then end the context of the request.
type requestBody struct {
	io.Reader
	control *http.ResponseController
}

func (b *requestBody) setDeadline(at time.Time) { _ = b.control.SetReadDeadline(at) }

func (b *requestBody) Read(p []byte) (int, error) {
	n, err := b.Reader.Read(p)
	if err == io.EOF {
		b.setDeadline(time.Time{})
	}
	return n, err
}

func send(w http.ResponseWriter, r *http.Request, response httpapi.Response) {
	maps.Copy(w.Header(), response.Header)
	switch {
	case response.Length > 0:
		w.Header().Set("Content-Length", strconv.FormatInt(response.Length, 10))
	case response.Stream == nil && response.Status != http.StatusNoContent:
		w.Header().Set("Content-Length", strconv.Itoa(len(response.Body)))
	}
	w.WriteHeader(response.Status)
	out := io.Writer(w)
	if r.Method == http.MethodHead {
		out = io.Discard
	}
	if response.Stream == nil {
		_, _ = out.Write(response.Body) // fails if the client has disconnected
		return
	}
	defer response.Stream.Close()
	if _, err := io.Copy(out, response.Stream); err != nil {
		panic(http.ErrAbortHandler) // breaks off the response, so that the client does not take the export for complete
	}
}
