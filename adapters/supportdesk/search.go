package supportdesk

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/habeas-data/habeas/domain"
)

// perPage is the most that the vendor allows.
const perPage = 150

// maxPages ends a search that does not end by itself. It leaves room for more conversations than a person can have.
const maxPages = 1000

// search asks for a page of a contact's conversations.
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

// eachConversation calls yield for every conversation of the contact, once, whatever the pages: conversations that
// move while the search goes on are on two of them. A search ends when there is no next cursor; a short page says
// nothing.
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

// page makes a search for one page and returns the cursor of the next, empty after the last. A 404 of the desk is
// final: the contact was there a moment ago, so it is the search itself that the desk does not have.
func (c call) page(ctx context.Context, request search) (conversations []object, next string, err error) {
	body, err := json.Marshal(request)
	if err != nil {
		return nil, "", &domain.ResolverError{Resolver: Name, Message: "the search cannot be written"}
	}
	answer, err := c.send(ctx, http.MethodPost, "/conversations/search", body)
	if err != nil {
		return nil, "", err
	}
	if answer.notFound() {
		return nil, "", refused(http.MethodPost, answer.status, nil, c.resolver.now())
	}
	fields, err := answer.object()
	if err == nil {
		conversations, next, err = readPage(fields)
	}
	if err != nil {
		return nil, "", unusable(http.MethodPost, err)
	}
	return conversations, next, nil
}

// readPage takes a page apart. The parts that say where the next page begins must be understood: else the search would
// end here and a part would pass for the whole.
func readPage(page object) (conversations []object, next string, err error) {
	if kind := page["type"]; !isNull(kind) && !says(kind, "conversation.list") {
		return nil, "", errShape
	}
	list, present := page["conversations"]
	if !present || json.Unmarshal(list, &conversations) != nil {
		return nil, "", errShape
	}
	for _, conversation := range conversations {
		if kind := conversation["type"]; !isNull(kind) && !says(kind, "conversation") {
			return nil, "", errShape
		}
	}
	next, err = readNext(page["pages"])
	return conversations, next, err
}

// readNext reads the cursor of the next page; it is empty if there is none.
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
