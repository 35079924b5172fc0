package desktest

import (
	"bytes"
	"io"
	"net/http"
	"net/url"
	"strings"
)

// maxBody is the maximum size of the body of a request, in bytes.
const maxBody = 1 << 20

// ServeHTTP implements http.Handler. It records each request. If there is a Fault for the request, the Fault responds,
// and otherwise the regular handler.
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

// regular responds to a request without a Fault. It splits the path at the slashes first and unescapes the segments
// afterwards. An http.ServeMux would change an id that contains a slash or dots, and the id could match another route.
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
		respond(w, http.StatusOK, contact.wire())
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
		respond(w, http.StatusOK, map[string]any{"type": "contact", "id": id, "external_id": nil, "deleted": true})
	}
}
