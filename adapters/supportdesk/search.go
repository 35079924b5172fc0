package supportdesk

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/habeas-data/habeas/domain"
)

// perPage is the number of conversations on a page, which is the maximum of the vendor.
const perPage = 150

// maxPages is the maximum number of pages of a search. Without this limit, a search in which every page has a next page
// would never end. A real contact has far fewer conversations.
const maxPages = 1000

// search is the request for one page of a contact's conversations.
type search struct {
	Query      searchQuery      `json:"query"`
	Pagination searchPagination `json:"pagination"`
}

type searchQuery struct {
	Field    string `json:"field"`
	Operator string `json:"operator"`
	Value    string `json:"value"`
}

type searchPagination struct {
	PerPage       int    `json:"per_page"`
	StartingAfter string `json:"starting_after,omitempty"`
}

// eachConversation calls yield once for every conversation of the contact, even if the search returns a conversation on
// two pages. This occurs if the conversation moves to a later page during the search. A page without a cursor is the
// last page. A page with fewer conversations than requested need not be the last page.
func (c call) eachConversation(
	ctx context.Context, contactID string, yield func(id string, conversation object) error,
) error {
	request := search{
		Query:      searchQuery{Field: "contact_ids", Operator: "=", Value: contactID},
		Pagination: searchPagination{PerPage: perPage},
	}
	seen, cursors := map[string]bool{}, map[string]bool{}
	for range maxPages {
		conversations, next, err := c.page(ctx, request)
		if err != nil {
			return err
		}
		for _, conversation := range conversations {
			id, err := readID(conversation["id"])
			if err != nil {
				return unusable(http.MethodPost, err)
			}
			if seen[id] {
				continue
			}
			seen[id] = true
			if err := yield(id, conversation); err != nil {
				return unusable(http.MethodPost, err)
			}
		}
		switch {
		case next == "":
			return nil
		case cursors[next]:
			return unusable(http.MethodPost, errCursorRepeats)
		}
		cursors[next] = true
		request.Pagination.StartingAfter = next
	}
	return unusable(http.MethodPost, errTooManyPages)
}

// page requests one page of the search. It returns the cursor of the next page, or "" for the last page. The desk has
// just returned the contact. A 404 therefore means that the desk does not support the search, and page returns a
// domain.ResolverError, which is not retried.
func (c call) page(ctx context.Context, request search) (conversations []object, next string, err error) {
	body, err := json.Marshal(request)
	if err != nil {
		return nil, "", &domain.ResolverError{Resolver: Name, Message: "the search request could not be encoded"}
	}
	response, err := c.send(ctx, http.MethodPost, "/conversations/search", body)
	if err != nil {
		return nil, "", err
	}
	if response.notFound() {
		return nil, "", refused(http.MethodPost, response.status, nil, c.resolver.now())
	}
	fields, err := response.object()
	if err == nil {
		conversations, next, err = readPage(fields)
	}
	if err != nil {
		return nil, "", unusable(http.MethodPost, err)
	}
	return conversations, next, nil
}

// readPage returns the conversations of a page and the cursor of the next page. It returns an error if a part of the
// JSON has an unexpected type. Otherwise a cursor could be overlooked, and an incomplete export would look complete.
func readPage(page object) (conversations []object, next string, err error) {
	if kind := page["type"]; !isNull(kind) && !isText(kind, "conversation.list") {
		return nil, "", errShape
	}
	list, present := page["conversations"]
	if !present || json.Unmarshal(list, &conversations) != nil {
		return nil, "", errShape
	}
	for _, conversation := range conversations {
		if kind := conversation["type"]; !isNull(kind) && !isText(kind, "conversation") {
			return nil, "", errShape
		}
	}
	next, err = readNext(page["pages"])
	return conversations, next, err
}

// readNext returns the cursor of the next page, or "" if there is no next page.
func readNext(raw json.RawMessage) (cursor string, err error) {
	for _, key := range []string{"next", "starting_after"} {
		if isNull(raw) {
			return "", nil
		}
		var fields object
		if json.Unmarshal(raw, &fields) != nil {
			return "", errShape
		}
		raw = fields[key]
	}
	if isNull(raw) {
		return "", nil
	}
	if raw[0] != '"' {
		return "", errShape
	}
	return unquote(raw)
}
