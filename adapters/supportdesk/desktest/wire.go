package desktest

import (
	"encoding/json"
	"maps"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// VendorText is part of every refusal's message, as a real desk's messages may quote what they are about. It must
// never be seen in an error of a resolver.
const VendorText = "vendor.text@example.org"

func answer(w http.ResponseWriter, status int, body any) {
	encoded, err := json.Marshal(body)
	if err != nil { // a seed that is no JSON
		status, encoded = http.StatusInternalServerError, nil
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.Header().Set("Content-Length", strconv.Itoa(len(encoded)))
	w.WriteHeader(status)
	_, _ = w.Write(encoded) // a client that left is not the desk's concern
}

func refuse(w http.ResponseWriter, status int, code string) {
	answer(w, status, map[string]any{
		"type":       "error.list",
		"request_id": "00000000-0000-4000-8000-000000000000",
		"errors":     []any{map[string]any{"code": code, "message": http.StatusText(status) + " for " + VendorText}},
	})
}

func refuseMerged(w http.ResponseWriter, into string) {
	w.Header().Set("Link", "</contacts/"+url.PathEscape(into)+`>; rel="canonical"`)
	refuse(w, http.StatusGone, "contact_merged")
}

// wire is the contact as JSON has it, with some of what a real desk sends besides.
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

// wire is the conversation as JSON has it in a search, with some of what a real desk sends besides.
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
