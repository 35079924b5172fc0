package supportdesk

import (
	"context"
	"encoding/json"
	"mime"
	"net/http"
	"strings"
)

// object reads the body, which has to be a JSON object and to say that it is JSON: what a proxy puts in the desk's
// place can look like anything.
func (a answer) object() (object, error) {
	media, _, err := mime.ParseMediaType(a.contentType)
	if err != nil || media != "application/json" && !strings.HasSuffix(media, "+json") {
		return nil, errNotJSON
	}
	return parseObject(a.body)
}

// saysNotFound reports whether the body is the desk's own error for something that it does not have. A proxy, an
// ingress without a backend and a wrong path have a 404 too, which says nothing about the contact.
func (a answer) saysNotFound() bool {
	fields, err := a.object()
	if err != nil || !says(fields["type"], "error.list") {
		return false
	}
	var errors []object
	if json.Unmarshal(fields["errors"], &errors) != nil {
		return false
	}
	for _, one := range errors {
		if !says(one["code"], "not_found") {
			return false
		}
	}
	return len(errors) > 0
}

// contact gets the contact, if the desk knows it. The desk can return another one than was asked for: the caller
// compares the id.
func (c call) contact(ctx context.Context, path string) (contact object, id string, known bool, err error) {
	answer, err := c.send(ctx, http.MethodGet, path, nil)
	if err != nil || answer.notFound() {
		return nil, "", false, err
	}
	contact, err = answer.object()
	if err == nil {
		id, err = readContact(contact)
	}
	if err != nil {
		return nil, "", false, unusable(http.MethodGet, err)
	}
	return contact, id, true, nil
}

// readContact tells a contact from other JSON, such as that of an error, and returns its id.
func readContact(fields object) (id string, err error) {
	if kind := fields["type"]; !isNull(kind) && !says(kind, "contact") {
		return "", errShape
	}
	return readID(fields["id"])
}

// says reports whether raw is that text.
func says(raw json.RawMessage, text string) bool {
	if len(raw) == 0 || raw[0] != '"' {
		return false
	}
	unquoted, err := unquote(raw)
	return err == nil && unquoted == text
}
