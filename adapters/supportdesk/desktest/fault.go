package desktest

import (
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"strconv"
)

// Fault is how the desk misbehaves for one request. It answers in place of regular, or makes regular answer and spoils
// that. The desk has carried out the request exactly if regular was called.
type Fault func(w http.ResponseWriter, r *http.Request, regular http.HandlerFunc)

// With adds a header to the answer of the fault.
func (f Fault) With(name, value string) Fault {
	return func(w http.ResponseWriter, r *http.Request, regular http.HandlerFunc) {
		w.Header().Set(name, value)
		f(w, r, regular)
	}
}

// OK is no fault.
func OK(w http.ResponseWriter, r *http.Request, regular http.HandlerFunc) { regular(w, r) }

// Status refuses the request in the format of the desk, with a message that quotes VendorText. The code is "not_found"
// for 404, "contact_merged" for 410, and otherwise a code that the vendor does not have.
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

// Redirect sends the client elsewhere.
func Redirect(status int, location string) Fault { return Status(status).With("Location", location) }

// Body answers 200 with the body and does not carry out the request.
func Body(contentType, body string) Fault { return Answer(http.StatusOK, contentType, body) }

// Answer sends the status and the body and does not carry out the request. It stands for a proxy in the desk's place.
func Answer(status int, contentType, body string) Fault {
	return func(w http.ResponseWriter, _ *http.Request, _ http.HandlerFunc) {
		w.Header().Set("Content-Type", contentType)
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

// JSON answers 200 with the body as JSON and does not carry out the request.
func JSON(body string) Fault { return Body("application/json", body) }

// HTML answers 200 with a page, such as a proxy shows, and does not carry out the request.
func HTML() Fault { return Body(pageType, page) }

// NotFoundPage answers 404 with a page, such as a proxy shows that has no desk behind it, and does not carry out the
// request.
func NotFoundPage() Fault { return Answer(http.StatusNotFound, pageType, page) }

const (
	pageType = "text/html; charset=utf-8"
	page     = "<html><body>" + VendorText + "</body></html>"
)

// NotDeleted answers a deletion with deleted: false.
func NotDeleted() Fault { return JSON(`{"type":"contact","id":"` + VendorText + `","deleted":false}`) }

// HangUp ends the connection without an answer, and does not carry out the request.
func HangUp(http.ResponseWriter, *http.Request, http.HandlerFunc) { panic(http.ErrAbortHandler) }

// LoseAnswer carries out the request and ends the connection without an answer.
func LoseAnswer(_ http.ResponseWriter, r *http.Request, regular http.HandlerFunc) {
	regular(&kept{header: http.Header{}}, r)
	panic(http.ErrAbortHandler)
}

// CutBody carries out the request, announces the whole answer and ends the connection in the middle of it.
func CutBody(w http.ResponseWriter, r *http.Request, regular http.HandlerFunc) {
	answer := keep(regular, r)
	answer.header.Set("Content-Length", strconv.Itoa(answer.body.Len()))
	answer.send(w, answer.body.Bytes()[:answer.body.Len()/2])
	_ = http.NewResponseController(w).Flush()
	panic(http.ErrAbortHandler)
}

// TruncateJSON carries out the request and answers with the first half of the JSON, as if it were whole.
func TruncateJSON(w http.ResponseWriter, r *http.Request, regular http.HandlerFunc) {
	answer := keep(regular, r)
	answer.header.Del("Content-Length")
	answer.send(w, answer.body.Bytes()[:answer.body.Len()/2])
}

// WrongContentType carries out the request and says of the answer that it is plain text.
func WrongContentType(w http.ResponseWriter, r *http.Request, regular http.HandlerFunc) {
	answer := keep(regular, r)
	answer.header.Set("Content-Type", "text/plain")
	answer.send(w, answer.body.Bytes())
}

// RepeatCursor answers every search with its first page and the same cursor for the next one.
func RepeatCursor(w http.ResponseWriter, r *http.Request, regular http.HandlerFunc) {
	if r.Method == http.MethodPost {
		var search map[string]any
		if json.NewDecoder(r.Body).Decode(&search) == nil {
			delete(search, "pagination")
			first, _ := json.Marshal(search)
			r.Body = io.NopCloser(bytes.NewReader(first))
		}
	}
	answer := keep(regular, r)
	var page map[string]any
	if json.Unmarshal(answer.body.Bytes(), &page) == nil && page["pages"] != nil {
		page["pages"] = map[string]any{"type": "pages", "next": map[string]any{"starting_after": position{}.cursor()}}
		answer.body.Reset()
		_ = json.NewEncoder(&answer.body).Encode(page)
		answer.header.Del("Content-Length")
	}
	answer.send(w, answer.body.Bytes())
}

// kept is an answer that is not sent yet.
type kept struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func keep(regular http.HandlerFunc, r *http.Request) *kept {
	answer := &kept{header: http.Header{}, status: http.StatusOK}
	regular(answer, r)
	return answer
}

func (k *kept) Header() http.Header            { return k.header }
func (k *kept) WriteHeader(status int)         { k.status = status }
func (k *kept) Write(body []byte) (int, error) { return k.body.Write(body) }
func (k *kept) send(w http.ResponseWriter, body []byte) {
	maps.Copy(w.Header(), k.header)
	w.WriteHeader(k.status)
	_, _ = w.Write(body)
}
