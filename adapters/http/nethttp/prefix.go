package nethttp

import (
	"net/url"
	"strings"
)

// segment is a segment of a prefix.
type segment struct {
	text string // without percent-encoding
	any  bool   // a parameter, which matches any segment that is not empty
}

func splitPrefix(prefix string) (segments []segment) {
	prefix = strings.Trim(prefix, "/")
	if prefix == "" {
		return nil
	}
	for text := range strings.SplitSeq(prefix, "/") {
		isParameter := strings.HasPrefix(text, "{") && strings.HasSuffix(text, "}")
		if plain, err := url.PathUnescape(text); err == nil {
			text = plain
		}
		segments = append(segments, segment{text, isParameter})
	}
	return segments
}

// relative removes the prefix from a path. The path is still percent-encoded. relative returns "/" if the path is the
// prefix itself, and "" if the path is not under the prefix.
func relative(prefix []segment, path string) string {
	for _, want := range prefix {
		below := strings.TrimPrefix(path, "/")
		sent, _, _ := strings.Cut(below, "/")
		if !want.matches(sent) {
			return ""
		}
		path = below[len(sent):]
	}
	if path == "" {
		return "/"
	}
	return path
}

func (s segment) matches(sent string) bool {
	if s.any {
		return sent != ""
	}
	plain, err := url.PathUnescape(sent)
	return err == nil && plain == s.text
}
