package nethttp

import (
	"context"
	"io"
	"maps"
	"net/http"
	"strconv"
	"strings"

	"github.com/habeas-data/habeas/adapters/http/httpapi"
	"github.com/habeas-data/habeas/adapters/internal/arriving"
	"github.com/habeas-data/habeas/domain"
)

// SubjectProvider returns the subject of a request. It is the only access control of the API. It must authenticate the
// request, or run behind a middleware that does. The context of r has the deadline of the request. After the request
// has ended, the context returns no values.
//
// The response to a *httpapi.StatusError has the status and the header of this error, for example WWW-Authenticate.
// The response to any other error, and to a panic, has the status 500 and does not contain the text of the error.
type SubjectProvider func(r *http.Request) (domain.Subject, error)

// Handler returns an http.Handler that serves the API, with the options applied, under the prefix. The handler itself
// removes the prefix from the path of a request. It is safe for concurrent use.
//
// The prefix has the form that API.OpenAPI accepts, such as "/me". It may have parameters, each of which matches any
// one segment of a path, as in "/{tenant}/me". Slashes at the start and the end of the prefix make no difference. Use
// the prefix "" to serve the API at the root, or behind http.StripPrefix.
func Handler(
	prefix string, api *httpapi.API, subject SubjectProvider, options ...httpapi.Option,
) http.Handler {
	return &handler{prefix: splitPrefix(prefix), api: api.With(options...), subject: subject}
}

type handler struct {
	prefix    []segment
	api       *httpapi.API
	subject   SubjectProvider
	shutdowns shutdowns
}

// ServeHTTP implements http.Handler.
func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	path := relative(h.prefix, r.URL.EscapedPath())
	request := httpapi.Request{
		Subject: func(ctx context.Context) (domain.Subject, error) {
			return h.subject(r.WithContext(ctx))
		},
		Query:                 r.URL.RawQuery,
		ContentType:           contentType(r.Header),
		ContentEncoding:       strings.Join(r.Header.Values("Content-Encoding"), ","),
		NeedsLength:           !canBreakOff(w, r),
		Shutdown:              h.shutdowns.of(r),
		SetWriteDeadline:      http.NewResponseController(w).SetWriteDeadline,
		ContextOutlivesHandle: true, // the stream is read before the handler returns
	}
	if hasBody(r) {
		// Setting the deadline fails behind a writer without the method Unwrap.
		set := http.NewResponseController(w).SetReadDeadline
		body := &arriving.Body{Reader: r.Body, Own: readTimeout(r), Set: set}
		request.Body, request.SetReadDeadline = body, body.SetDeadline
	}
	send(w, r, h.api.Route(r.Context(), r.Method, path, request))
}

// contentType returns the header Content-Type, or "" if the client has sent it more than once.
func contentType(header http.Header) string {
	if values := header.Values("Content-Type"); len(values) == 1 {
		return values[0]
	}
	return ""
}

// send writes the response. It sets Content-Length, because net/http does not know the length of a response to HEAD.
func send(w http.ResponseWriter, r *http.Request, response httpapi.Response) {
	maps.Copy(w.Header(), response.Header)
	switch {
	case response.Length > 0:
		w.Header().Set("Content-Length", strconv.FormatInt(response.Length, 10))
	case response.Stream == nil && response.Status != http.StatusNoContent:
		w.Header().Set("Content-Length", strconv.Itoa(len(response.Body)))
	}
	w.WriteHeader(response.Status)
	body := io.Writer(w)
	if r.Method == http.MethodHead {
		body = io.Discard
	}
	if response.Stream == nil {
		_, _ = body.Write(response.Body) // fails if the client has disconnected
		return
	}
	defer response.Stream.Close()
	if _, err := io.Copy(body, response.Stream); err != nil {
		breakOff(w)
	}
}
