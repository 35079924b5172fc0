package httpapi

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"strings"
	"unicode/utf8"

	"github.com/habeas-data/habeas/domain"
)

// MaxBodySize is how many bytes the body of a request may have.
const MaxBodySize = 64 << 10

// readObject reads a body that must be one JSON object.
func readObject(r Request) (*object, error) {
	mediaType, _, err := mime.ParseMediaType(r.ContentType)
	if err != nil || mediaType != "application/json" {
		return nil, problem(http.StatusUnsupportedMediaType, "The body must be sent as application/json.")
	}
	for coding := range strings.SplitSeq(r.ContentEncoding, ",") {
		if coding = strings.TrimSpace(coding); coding != "" && !strings.EqualFold(coding, "identity") {
			return nil, problem(http.StatusUnsupportedMediaType, "The body must be sent without a content coding.")
		}
	}
	body := r.Body
	if body == nil {
		body = http.NoBody
	}
	text, err := io.ReadAll(io.LimitReader(body, MaxBodySize+1))
	switch {
	case err != nil:
		return nil, unreadable(err)
	case len(text) > MaxBodySize:
		return nil, problem(http.StatusRequestEntityTooLarge, "The body is larger than 64 KiB.")
	case !utf8.Valid(text) || !json.Valid(text) || domain.HasLoneSurrogate(text):
		return nil, problem(http.StatusBadRequest, "The body is not valid JSON.")
	}
	return parseObject(text)
}

// unreadable decides how an error of reading the body is answered.
func unreadable(err error) error {
	var limit *http.MaxBytesError // the host's own, of http.MaxBytesHandler
	if errors.As(err, &limit) {
		return problem(http.StatusRequestEntityTooLarge, "The body is larger than the server accepts.")
	}
	var timeout interface{ Timeout() bool }
	if errors.As(err, &timeout) && timeout.Timeout() {
		// The client's fault as much as anyone's, but 408 lets clients repeat the request by themselves.
		return &domain.Error{Op: "read body", Message: "took too long", Err: context.DeadlineExceeded}
	}
	return problem(http.StatusBadRequest, "The body could not be read.")
}

// parseObject takes valid JSON apart. It looks at the member names itself, because encoding/json takes "Granted" for
// "granted" and the last of two equal names for the only one.
func parseObject(text []byte) (*object, error) {
	decoder := json.NewDecoder(bytes.NewReader(text))
	if start, err := decoder.Token(); err != nil || start != json.Delim('{') {
		return nil, problem(http.StatusUnprocessableEntity, "The body must be a JSON object.")
	}
	o := newObject()
	for decoder.More() {
		name, err := decoder.Token()
		if err != nil {
			return nil, err
		}
		var value json.RawMessage
		if err := decoder.Decode(&value); err != nil {
			return nil, err
		}
		text, _ := name.(string) // what stands before a value in an object is nothing else
		o.add(text, value)
	}
	return o, nil
}
