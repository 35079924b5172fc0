package supportdesk

import (
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/habeas-data/habeas/domain"
)

// The values of options that are left out.
const (
	defaultBaseURL    = "https://api.intercom.io"
	defaultTimeout    = 10 * time.Second
	defaultAPIVersion = "2.16"
)

// Options are what may differ from desk to desk. The zero value is the desk of a workspace in the US.
type Options struct {
	// BaseURL is where the API is: https://api.intercom.io when empty, https://api.eu.intercom.io for workspaces in the
	// EU, https://api.au.intercom.io for those in Australia. The scheme is https. It can be http for a desk on this
	// machine: localhost, an address in 127.0.0.0/8, or [::1]. The URL must be right: the desk of another workspace, or in
	// another region, does not have the contact and says so in the same words.
	BaseURL string
	// Transport carries the requests. It stays the caller's, who closes it; the same one serves all calls, so it must
	// be safe for concurrent use. It must not follow redirects. When nil, each call makes one of its own, which keeps
	// nothing after the call and, for plain http, uses no proxy and reaches this machine alone.
	Transport http.RoundTripper
	// Timeout bounds each request, with its answer; 0 means 10 s. An export makes one request for the contact
	// and one for every 150 conversations: the deadline of the context bounds them all together.
	Timeout time.Duration
	// APIVersion is sent as Intercom-Version; 2.16 when empty.
	APIVersion string
}

// withDefaults fills in what is left out.
func (o Options) withDefaults() Options {
	if o.BaseURL == "" {
		o.BaseURL = defaultBaseURL
	}
	if o.Timeout == 0 {
		o.Timeout = defaultTimeout
	}
	if o.APIVersion == "" {
		o.APIVersion = defaultAPIVersion
	}
	return o
}

// op is the operation that an error of the configuration names.
const op = "support desk"

// check refuses what could not work, so that it shows when the application starts. The token is quoted nowhere.
func (o Options) check(accessToken string) error {
	switch {
	case accessToken == "":
		return domain.Misconfigured(op, "the access token is empty")
	case !isVisibleASCII(accessToken):
		return domain.Misconfigured(op, "the access token holds a space, a line break or another character that no token has")
	case !isVisibleASCII(o.APIVersion):
		return domain.Misconfigured(op, "APIVersion holds a character that no version has")
	case o.Timeout < 0:
		return domain.Misconfigured(op, "Timeout is negative")
	default:
		return checkBaseURL(o.BaseURL)
	}
}

func checkBaseURL(base string) error {
	parsed, err := url.Parse(base)
	switch {
	case err != nil: // it would quote the URL, which may hold a password
		return domain.Misconfigured(op, "BaseURL is no URL")
	case parsed.Scheme != "https" && parsed.Scheme != "http":
		return domain.Misconfigured(op, "BaseURL must begin with https:// or http://")
	case parsed.Hostname() == "":
		return domain.Misconfigured(op, "BaseURL names no host")
	case parsed.User != nil:
		return domain.Misconfigured(op, "BaseURL must hold no user name and no password")
	case parsed.Scheme == "http" && !isLoopback(parsed.Hostname()):
		return domain.Misconfigured(op,
			"BaseURL must begin with https://, because plain http would show the token and the data")
	case strings.ContainsAny(base, "?#"):
		return domain.Misconfigured(op, "BaseURL must have no query and no fragment")
	default:
		return nil
	}
}

// isVisibleASCII reports whether text can stand in a header as it is, without spaces.
func isVisibleASCII(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r > '~' })
}
