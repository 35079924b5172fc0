package desktest

import (
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"strconv"
)

// Fault makes one request to the desk fail. The desk calls a Fault in place of the handler regular. The Fault writes
// a response itself, or calls regular() and then changes or drops the response. The desk executes the request only if
// the Fault calls regular().
type Fault func(w http.ResponseWriter, r *http.Request, regular http.HandlerFunc)

// With returns a Fault that does the same as f and also sets a header of the response.
func (f Fault) With(name, value string) Fault {
	return func(w http.ResponseWriter, r *http.Request, regular http.HandlerFunc) {
		w.Header().Set(name, value)
		f(w, r, regular)
	}
}

// OK responds without a failure.
func OK(w http.ResponseWriter, r *http.Request, regular http.HandlerFunc) { regular(w, r) }

// Status responds with the status and an error in the format of the desk. The message of the error contains VendorText.
// The code of the error is "not_found" for status 404 and "contact_merged" for 410. For any other status, the code is
// one that a real desk does not use.
func Status(status int) Fault {
	code := "scripted"
	switch status {
	case http.StatusNotFound:
		code = "not_found"
	case http.StatusGone:
		code = "contact_merged"
	}
	return func(w http.ResponseWriter, _ *http.Request, _ http.HandlerFunc) { refuse(w, status, code) }
}

// Redirect responds with the status, and with the location in the header Location.
func Redirect(status int, location string) Fault { return Status(status).With("Location", location) }

// Body responds with status 200 and the body. The desk does not execute the request.
func Body(contentType, body string) Fault { return Respond(http.StatusOK, contentType, body) }

// Respond responds with the status and the body, for example like a proxy in front of the desk. The desk does not
// execute the request.
func Respond(status int, contentType, body string) Fault {
	return func(w http.ResponseWriter, _ *http.Request, _ http.HandlerFunc) {
		w.Header().Set("Content-Type", contentType)
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

// JSON responds with status 200 and the body as application/json. The desk does not execute the request.
func JSON(body string) Fault { return Body("application/json", body) }

// HTML responds with status 200 and an HTML page, like a proxy in front of the desk. The desk does not execute the
// request.
func HTML() Fault { return Body(pageType, page) }

// NotFoundPage responds with status 404 and an HTML page, like a proxy that cannot reach the desk. The desk does not
// execute the request.
func NotFoundPage() Fault { return Respond(http.StatusNotFound, pageType, page) }

const (
	pageType = "text/html; charset=utf-8"
	page     = "<html><body>" + VendorText + "</body></html>"
)

// NotDeleted responds with status 200 and the JSON response to a deletion, in which the field "deleted" is false. The
// desk does not execute the request.
func NotDeleted() Fault { return JSON(`{"type":"contact","id":"` + VendorText + `","deleted":false}`) }

// HangUp closes the connection without a response. The desk does not execute the request.
func HangUp(http.ResponseWriter, *http.Request, http.HandlerFunc) { panic(http.ErrAbortHandler) }

// LoseResponse executes the request, and closes the connection without a response.
func LoseResponse(_ http.ResponseWriter, r *http.Request, regular http.HandlerFunc) {
	regular(&buffered{header: http.Header{}}, r)
	panic(http.ErrAbortHandler)
}

// CutBody executes the request, but sends only the first half of the response body, and closes the connection. The
// client can notice this, because the header Content-Length has the length of the complete body.
func CutBody(w http.ResponseWriter, r *http.Request, regular http.HandlerFunc) {
	response := buffer(regular, r)
	response.header.Set("Content-Length", strconv.Itoa(response.body.Len()))
	response.send(w, response.body.Bytes()[:response.body.Len()/2])
	_ = http.NewResponseController(w).Flush()
	panic(http.ErrAbortHandler)
}

// TruncateJSON executes the request, but sends only the first half of the JSON. The header Content-Length has the
// length of this half, so only the JSON shows that the response is incomplete.
func TruncateJSON(w http.ResponseWriter, r *http.Request, regular http.HandlerFunc) {
	response := buffer(regular, r)
	response.header.Del("Content-Length")
	response.send(w, response.body.Bytes()[:response.body.Len()/2])
}

// WrongContentType executes the request, and sends the JSON response with the content type text/plain.
func WrongContentType(w http.ResponseWriter, r *http.Request, regular http.HandlerFunc) {
	response := buffer(regular, r)
	response.header.Set("Content-Type", "text/plain")
	response.send(w, response.body.Bytes())
}

// RepeatCursor responds to every search with the first page. The page always has the same cursor of a next page, so a
// client that follows this cursor never reaches a last page.
func RepeatCursor(w http.ResponseWriter, r *http.Request, regular http.HandlerFunc) {
	if r.Method == http.MethodPost {
		var search map[string]any
		if json.NewDecoder(r.Body).Decode(&search) == nil {
			delete(search, "pagination")
			first, _ := json.Marshal(search)
			r.Body = io.NopCloser(bytes.NewReader(first))
		}
	}
	response := buffer(regular, r)
	var page map[string]any
	if json.Unmarshal(response.body.Bytes(), &page) == nil && page["pages"] != nil {
		page["pages"] = map[string]any{"type": "pages", "next": map[string]any{"starting_after": position{}.cursor()}}
		response.body.Reset()
		_ = json.NewEncoder(&response.body).Encode(page)
		response.header.Del("Content-Length")
	}
	response.send(w, response.body.Bytes())
}

// buffered is a ResponseWriter that buffers the response.
type buffered struct {
	header http.Header
	status int
	body   bytes.Buffer
}

// buffer executes the request with the regular handler, and returns the buffered response.
func buffer(regular http.HandlerFunc, r *http.Request) *buffered {
	response := &buffered{header: http.Header{}, status: http.StatusOK}
	regular(response, r)
	return response
}

func (b *buffered) Header() http.Header            { return b.header }
func (b *buffered) WriteHeader(status int)         { b.status = status }
func (b *buffered) Write(body []byte) (int, error) { return b.body.Write(body) }
func (b *buffered) send(w http.ResponseWriter, body []byte) {
	maps.Copy(w.Header(), b.header)
	w.WriteHeader(b.status)
	_, _ = w.Write(body)
}
