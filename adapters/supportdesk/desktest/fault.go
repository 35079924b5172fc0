package desktest

import (
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"strconv"
)

// Fault is a failure of the desk for one request. A Fault writes the response itself, or calls regular and changes or
// drops its response. The desk carries out the request if and only if the Fault calls regular.
type Fault func(w http.ResponseWriter, r *http.Request, regular http.HandlerFunc)

// With returns a Fault that also sets a header of the response.
func (f Fault) With(name, value string) Fault {
	return func(w http.ResponseWriter, r *http.Request, regular http.HandlerFunc) {
		w.Header().Set(name, value)
		f(w, r, regular)
	}
}

// OK responds without a failure.
func OK(w http.ResponseWriter, r *http.Request, regular http.HandlerFunc) { regular(w, r) }

// Status responds with the status and an error in the format of the desk. The message of the error contains VendorText.
// The code is "not_found" for 404, "contact_merged" for 410, and otherwise a code that the vendor does not use.
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

// Redirect responds with the status and the header Location.
func Redirect(status int, location string) Fault { return Status(status).With("Location", location) }

// Body responds with 200 and the body. It does not carry out the request.
func Body(contentType, body string) Fault { return Respond(http.StatusOK, contentType, body) }

// Respond responds with the status and the body, like a proxy before the desk. It does not carry out the request.
func Respond(status int, contentType, body string) Fault {
	return func(w http.ResponseWriter, _ *http.Request, _ http.HandlerFunc) {
		w.Header().Set("Content-Type", contentType)
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

// JSON responds with 200 and the body as application/json. It does not carry out the request.
func JSON(body string) Fault { return Body("application/json", body) }

// HTML responds with 200 and an HTML page, like a proxy. It does not carry out the request.
func HTML() Fault { return Body(pageType, page) }

// NotFoundPage responds with 404 and an HTML page, like a proxy that cannot reach the desk. It does not carry out the
// request.
func NotFoundPage() Fault { return Respond(http.StatusNotFound, pageType, page) }

const (
	pageType = "text/html; charset=utf-8"
	page     = "<html><body>" + VendorText + "</body></html>"
)

// NotDeleted responds with 200 and the JSON of a deletion in which deleted is false. It does not carry out the request.
func NotDeleted() Fault { return JSON(`{"type":"contact","id":"` + VendorText + `","deleted":false}`) }

// HangUp closes the connection without a response. It does not carry out the request.
func HangUp(http.ResponseWriter, *http.Request, http.HandlerFunc) { panic(http.ErrAbortHandler) }

// LoseResponse carries out the request, and closes the connection without a response.
func LoseResponse(_ http.ResponseWriter, r *http.Request, regular http.HandlerFunc) {
	regular(&buffered{header: http.Header{}}, r)
	panic(http.ErrAbortHandler)
}

// CutBody carries out the request, and closes the connection after half of the announced body.
func CutBody(w http.ResponseWriter, r *http.Request, regular http.HandlerFunc) {
	response := buffer(regular, r)
	response.header.Set("Content-Length", strconv.Itoa(response.body.Len()))
	response.send(w, response.body.Bytes()[:response.body.Len()/2])
	_ = http.NewResponseController(w).Flush()
	panic(http.ErrAbortHandler)
}

// TruncateJSON carries out the request, and sends the first half of the JSON as a complete body.
func TruncateJSON(w http.ResponseWriter, r *http.Request, regular http.HandlerFunc) {
	response := buffer(regular, r)
	response.header.Del("Content-Length")
	response.send(w, response.body.Bytes()[:response.body.Len()/2])
}

// WrongContentType carries out the request, and sends the response as text/plain.
func WrongContentType(w http.ResponseWriter, r *http.Request, regular http.HandlerFunc) {
	response := buffer(regular, r)
	response.header.Set("Content-Type", "text/plain")
	response.send(w, response.body.Bytes())
}

// RepeatCursor responds to every search with the first page and the same next cursor.
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

// buffered is a ResponseWriter that buffers a response.
type buffered struct {
	header http.Header
	status int
	body   bytes.Buffer
}

// buffer carries out the request and returns its response.
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
