package desktest

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"slices"
)

// The page sizes of the vendor.
const (
	defaultPerPage = 20
	maxPerPage     = 150
)

type searchRequest struct {
	Query struct {
		Field    string `json:"field"`
		Operator string `json:"operator"`
		Value    string `json:"value"`
	} `json:"query"`
	Pagination struct {
		PerPage       *int    `json:"per_page"`
		StartingAfter *string `json:"starting_after"`
	} `json:"pagination"`
}

// position is the content of a cursor: the offset of the first conversation on the next page, and the number of the
// page, counted from 0.
type position struct{ Offset, Page int }

func (d *Desk) search(w http.ResponseWriter, r *http.Request) {
	request, from, err := readSearch(r)
	if err != nil {
		refuse(w, http.StatusBadRequest, "parameter_invalid")
		return
	}
	perPage := defaultPerPage
	if request.Pagination.PerPage != nil {
		perPage = *request.Pagination.PerPage
	}

	d.mu.Lock()
	found := slices.Clone(d.conversations[request.Query.Value])
	size := perPage
	if len(d.pageSizes) > 0 {
		size = min(size, d.pageSizes[from.Page%len(d.pageSizes)])
	}
	d.mu.Unlock()

	start := min(from.Offset, len(found))
	end := min(start+size, len(found))
	pages := map[string]any{"type": "pages", "page": from.Page + 1, "per_page": perPage}
	if end < len(found) {
		pages["next"] = map[string]any{"per_page": perPage, "starting_after": position{end, from.Page + 1}.cursor()}
	}
	page := []any{}
	for _, conversation := range found[start:end] {
		page = append(page, conversation.wire())
	}
	respond(w, http.StatusOK, map[string]any{
		"type": "conversation.list", "pages": pages, "total_count": len(found), "conversations": page,
	})
}

var errSearch = errors.New("the desk does not support this search")

// readSearch parses the request body of a search for the conversations of a contact. The fake desk supports no other
// search.
func readSearch(r *http.Request) (request searchRequest, from position, err error) {
	media, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || media != "application/json" {
		return request, from, errSearch
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return request, from, err
	}
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&request); err != nil {
		return request, from, err
	}
	perPage := request.Pagination.PerPage
	if request.Query.Field != "contact_ids" || request.Query.Operator != "=" || request.Query.Value == "" ||
		perPage != nil && (*perPage < 1 || *perPage > maxPerPage) {
		return request, from, errSearch
	}
	if cursor := request.Pagination.StartingAfter; cursor != nil {
		from, err = parseCursor(*cursor)
	}
	return request, from, err
}

func (p position) cursor() string {
	encoded, err := json.Marshal(p)
	if err != nil {
		return ""
	}
	return base64.StdEncoding.EncodeToString(encoded)
}

func parseCursor(cursor string) (p position, err error) {
	decoded, err := base64.StdEncoding.DecodeString(cursor)
	if err != nil {
		return position{}, err
	}
	if err := json.Unmarshal(decoded, &p); err != nil {
		return position{}, err
	}
	if p.Offset < 0 || p.Page < 0 {
		return position{}, errSearch
	}
	return p, nil
}
