package httpapi

import (
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

// MaxBodySize is the maximum size of the body of a request, in bytes.
const MaxBodySize = 64 << 10

// readObject reads the body of a request, which must be one JSON object.
func readObject(r Request) (*object, error) {
	if mediaType, _, err := mime.ParseMediaType(r.ContentType); err != nil || mediaType != "application/json" {
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

// unreadable returns the failure for an error that occurred while the body was read.
func unreadable(err error) error {
	var limit *http.MaxBytesError // a limit of the application, such as http.MaxBytesHandler
	if errors.As(err, &limit) {
		return problem(http.StatusRequestEntityTooLarge, "The body is larger than the server accepts.")
	}
	var timeout interface{ Timeout() bool }
	if errors.As(err, &timeout) && timeout.Timeout() {
		// The response is 504 and not 408, because some clients automatically repeat a request after 408.
		return &domain.Error{Op: "read body", Message: "took too long", Err: context.DeadlineExceeded}
	}
	return problem(http.StatusBadRequest, "The body could not be read.")
}
