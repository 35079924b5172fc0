package desktest

import (
	"bytes"
	"io"
	"net/http"
	"net/url"
	"strings"
)

// maxBody is more than any request to the desk has.
const maxBody = 1 << 20

// ServeHTTP answers a request, as its fault has it.
func (d *Desk) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		refuse(w, http.StatusBadRequest, "parameter_invalid")
		return
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	fault := d.receive(Request{
		Method: r.Method,
		Path:   r.URL.EscapedPath(),
		Query:  r.URL.RawQuery,
		Header: r.Header.Clone(),
		Body:   string(body),
	})
	if fault == nil {
		d.regular(w, r)
		return
	}
	fault(w, r, d.regular)
}

// regular is how a desk answers that has no fault. The path is taken apart before it is unescaped: a multiplexer would
// clean it, and an id with a slash or dots in it would reach something else.
func (d *Desk) regular(w http.ResponseWriter, r *http.Request) {
	switch {
	case r.Header.Get("Authorization") != "Bearer "+d.token:
		refuse(w, http.StatusUnauthorized, "unauthorized")
	case r.Header.Get("Accept") != "application/json":
		refuse(w, http.StatusNotAcceptable, "media_type_not_acceptable")
	case r.Header.Get("Intercom-Version") == "":
		refuse(w, http.StatusBadRequest, "intercom_version_invalid")
	case r.URL.RawQuery != "":
		refuse(w, http.StatusBadRequest, "parameter_invalid")
	default:
		d.route(w, r)
	}
}

func (d *Desk) route(w http.ResponseWriter, r *http.Request) {
	path := r.URL.EscapedPath()
	if path == "/conversations/search" {
		if r.Method != http.MethodPost {
			refuse(w, http.StatusMethodNotAllowed, "action_forbidden")
			return
		}
		d.search(w, r)
		return
	}
	segment, isContact := strings.CutPrefix(path, "/contacts/")
	id, err := url.PathUnescape(segment)
	if !isContact || err != nil || id == "" || strings.Contains(segment, "/") {
		refuse(w, http.StatusNotFound, "not_found")
		return
	}
	switch r.Method {
	case http.MethodGet:
		d.show(w, id)
	case http.MethodDelete:
		d.remove(w, r, id)
	default:
		refuse(w, http.StatusMethodNotAllowed, "action_forbidden")
	}
}

func (d *Desk) show(w http.ResponseWriter, id string) {
	d.mu.Lock()
	contact, known := d.contacts[id]
	into, merged := d.merged[id]
	d.mu.Unlock()
	switch {
	case merged:
		refuseMerged(w, into)
	case !known:
		refuse(w, http.StatusNotFound, "not_found")
	default:
		answer(w, http.StatusOK, contact.wire())
	}
}

func (d *Desk) remove(w http.ResponseWriter, r *http.Request, id string) {
	d.mu.Lock()
	into, merged := d.merged[id]
	d.mu.Unlock()
	switch {
	case r.ContentLength != 0 || r.Header.Get("Content-Type") != "":
		refuse(w, http.StatusBadRequest, "parameter_invalid")
	case merged:
		refuseMerged(w, into)
	case !d.delete(id):
		refuse(w, http.StatusNotFound, "not_found")
	default:
		answer(w, http.StatusOK, map[string]any{"type": "contact", "id": id, "external_id": nil, "deleted": true})
	}
}
