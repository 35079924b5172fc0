package httpapi

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/habeas-data/habeas/domain"
)

// MaxBodySize is how many bytes the body of a request may have.
const MaxBodySize = 64 << 10

// readObject reads a body that must be one JSON object.
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
	case !utf8.Valid(text) || !json.Valid(text) || hasLoneSurrogate(text):
		return nil, problem(http.StatusBadRequest, "The body is not valid JSON.")
	}
	return parseObject(text)
}

// unreadable returns the failure for an error of reading the body.
func unreadable(err error) error {
	var limit *http.MaxBytesError // the host's own, of http.MaxBytesHandler
	if errors.As(err, &limit) {
		return problem(http.StatusRequestEntityTooLarge, "The body is larger than the server accepts.")
	}
	var timeout interface{ Timeout() bool }
	if errors.As(err, &timeout) && timeout.Timeout() {
		// The client may be at fault, but 408 lets clients repeat the request by themselves.
		return &domain.Error{Op: "read body", Message: "took too long", Err: context.DeadlineExceeded}
	}
	return problem(http.StatusBadRequest, "The body could not be read.")
}

// hasLoneSurrogate reports whether a string in valid JSON escapes one half of a surrogate pair without the other.
// Such a half stands for no character, and encoding/json would silently replace it by another one.
func hasLoneSurrogate(text []byte) bool {
	for i := 0; i < len(text); i++ {
		if text[i] != '\\' {
			continue
		}
		i++ // to the escaped character
		if text[i] != 'u' {
			continue
		}
		first := codeUnit(text[i-1:])
		i += 4
		if !utf16.IsSurrogate(first) {
			continue
		}
		if utf16.DecodeRune(first, codeUnit(text[i+1:])) == unicode.ReplacementChar {
			return true
		}
		i += 6
	}
	return false
}

// codeUnit returns the UTF-16 code unit that the text starts with in the form \uXXXX, or 0 if it does not.
func codeUnit(text []byte) rune {
	if len(text) < 6 || text[0] != '\\' || text[1] != 'u' {
		return 0
	}
	unit, _ := strconv.ParseUint(string(text[2:6]), 16, 16)
	return rune(unit)
}
