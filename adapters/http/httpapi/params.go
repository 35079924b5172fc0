package httpapi

import (
	"net/url"
	"strings"

	"github.com/habeas-data/habeas/domain"
)

// pathPurpose decodes the purpose in a segment of a path. In a path, "+" is not an encoded space.
func pathPurpose(segment string) (string, []domain.FieldError) {
	purpose, err := url.PathUnescape(segment)
	if err != nil {
		return "", purposeFault(domain.FieldCharacter, "must be percent-encoded correctly")
	}
	return strings.Clone(purpose), domain.CheckPurpose(purpose)
}

// queryPurpose returns the purpose in a query string, or nil if the query has no purpose. It ignores other parameters.
func queryPurpose(query string) (*string, []domain.FieldError) {
	var found *string
	for parameter := range strings.SplitSeq(query, "&") {
		name, value, _ := strings.Cut(parameter, "=")
		if name, err := url.QueryUnescape(name); err != nil || name != "purpose" {
			continue
		}
		if found != nil {
			return nil, purposeFault(domain.FieldDuplicate, "must be given only once")
		}
		purpose, err := url.QueryUnescape(value)
		if err != nil {
			return nil, purposeFault(domain.FieldCharacter, "must be percent-encoded correctly")
		}
		purpose = strings.Clone(purpose)
		found = &purpose
	}
	if found == nil {
		return nil, nil
	}
	return found, domain.CheckPurpose(*found)
}

func purposeFault(code, message string) []domain.FieldError {
	return []domain.FieldError{{Field: "purpose", Code: code, Message: message}}
}
