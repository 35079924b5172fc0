package desktest

import (
	"encoding/json"
	"maps"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// VendorText is a part of the message in every error response of the desk. The messages of a real desk may quote
// personal data. A test can therefore check that no error of a resolver contains VendorText.
const VendorText = "vendor.text@example.org"

// respond writes a response whose body is the JSON of the given value.
func respond(w http.ResponseWriter, status int, body any) {
	encoded, err := json.Marshal(body)
	if err != nil { // a value in Fields or CustomAttributes cannot be encoded
		status, encoded = http.StatusInternalServerError, nil
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.Header().Set("Content-Length", strconv.Itoa(len(encoded)))
	w.WriteHeader(status)
	_, _ = w.Write(encoded) // fails if the client has disconnected
}

func refuse(w http.ResponseWriter, status int, code string) {
	respond(w, status, map[string]any{
		"type":       "error.list",
		"request_id": "00000000-0000-4000-8000-000000000000",
		"errors":     []any{map[string]any{"code": code, "message": http.StatusText(status) + " for " + VendorText}},
	})
}

func refuseMerged(w http.ResponseWriter, into string) {
	w.Header().Set("Link", "</contacts/"+url.PathEscape(into)+`>; rel="canonical"`)
	refuse(w, http.StatusGone, "contact_merged")
}

// wire returns the JSON fields of the contact, including some fields of a real desk that package supportdesk does not
// use.
func (c Contact) wire() map[string]any {
	attributes := c.CustomAttributes
	if attributes == nil {
		attributes = map[string]any{}
	}
	fields := map[string]any{
		"type":              "contact",
		"id":                c.ID,
		"external_id":       nil,
		"role":              "user",
		"email":             orNull(c.Email),
		"name":              orNull(c.Name),
		"phone":             orNull(c.Phone),
		"avatar":            nil,
		"created_at":        1734537424,
		"location":          map[string]any{"type": "location", "country": nil, "city": nil},
		"tags":              map[string]any{"type": "list", "data": []any{}, "total_count": 0, "has_more": false},
		"custom_attributes": attributes,
	}
	maps.Copy(fields, c.Fields)
	return fields
}

// wire returns the JSON fields of the conversation in the result of a search, including some fields of a real desk that
// package supportdesk does not use.
func (c contactConversation) wire() map[string]any {
	fields := map[string]any{
		"type":              "conversation",
		"id":                c.ID,
		"created_at":        orUnix(c.CreatedAt),
		"updated_at":        orUnix(c.UpdatedAt),
		"state":             orNull(c.State),
		"open":              c.State == "open",
		"waiting_since":     nil,
		"priority":          "not_priority",
		"custom_attributes": map[string]any{},
		"source": map[string]any{
			"type": "conversation", "delivered_as": "customer_initiated", "subject": "", "body": c.Body,
			"author": map[string]any{"type": "user", "id": c.contactID},
		},
		"contacts": map[string]any{
			"type": "contact.list", "contacts": []any{map[string]any{"type": "contact", "id": c.contactID}},
		},
	}
	maps.Copy(fields, c.Fields)
	return fields
}

func orNull(text string) any {
	if text == "" {
		return nil
	}
	return text
}

func orUnix(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t.Unix()
}
