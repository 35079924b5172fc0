package supportdesk

import (
	"context"
	"encoding/json"
	"mime"
	"net/http"
	"strings"
)

// object parses the body of the response. It returns an error if the body is not a JSON object with a JSON
// Content-Type, because the response may be from a proxy and not from the desk.
func (r deskResponse) object() (object, error) {
	media, _, err := mime.ParseMediaType(r.contentType)
	if err != nil || media != "application/json" && !strings.HasSuffix(media, "+json") {
		return nil, errNotJSON
	}
	return parseObject(r.body)
}

// saysNotFound reports whether the body is the desk's error for an object that the desk does not have. A 404 with
// another body does not prove that the contact is absent. For example, the 404 may be from a proxy, or the path may be
// wrong.
func (r deskResponse) saysNotFound() bool {
	fields, err := r.object()
	if err != nil || !isText(fields["type"], "error.list") {
		return false
	}
	var errors []object
	if json.Unmarshal(fields["errors"], &errors) != nil {
		return false
	}
	for _, one := range errors {
		if !isText(one["code"], "not_found") {
			return false
		}
	}
	return len(errors) > 0
}

// contact requests a contact. The result known is false if the desk does not have the contact. The desk can return
// another contact, so the caller must compare the id.
func (c call) contact(ctx context.Context, path string) (contact object, id string, known bool, err error) {
	response, err := c.send(ctx, http.MethodGet, path, nil)
	if err != nil || response.notFound() {
		return nil, "", false, err
	}
	contact, err = response.object()
	if err == nil {
		id, err = readContact(contact)
	}
	if err != nil {
		return nil, "", false, unusable(http.MethodGet, err)
	}
	return contact, id, true, nil
}

// readContact returns the id of a contact. It returns an error if the JSON is not a contact, for example an error of
// the desk.
func readContact(fields object) (id string, err error) {
	if kind := fields["type"]; !isNull(kind) && !isText(kind, "contact") {
		return "", errShape
	}
	return readID(fields["id"])
}

// isText reports whether raw is a JSON string whose value is text.
func isText(raw json.RawMessage, text string) bool {
	if len(raw) == 0 || raw[0] != '"' {
		return false
	}
	unquoted, err := unquote(raw)
	return err == nil && unquoted == text
}
