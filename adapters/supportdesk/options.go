package supportdesk

import (
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/habeas-data/habeas/domain"
)

// The default values of Options.
const (
	defaultBaseURL    = "https://api.intercom.io"
	defaultTimeout    = 10 * time.Second
	defaultAPIVersion = "2.16"
)

// Options are the settings of a Resolver. The zero value is valid for a workspace in the US.
type Options struct {
	// BaseURL is the URL of the API. The default is https://api.intercom.io. It is https://api.eu.intercom.io for
	// workspaces in the EU, and https://api.au.intercom.io for workspaces in Australia. The scheme must be https. It may
	// be http for a desk on this machine: localhost, an address in 127.0.0.0/8, or [::1].
	//
	// A wrong workspace or region is not detected: such a desk does not have the contact, and responds as if the contact
	// were absent.
	BaseURL string
	// Transport sends the requests of all calls. It must be safe for concurrent use and must not follow redirects. The
	// caller closes it. If it is nil, each call uses a new transport, which keeps no connection after the call. For plain
	// http, that transport uses no proxy and connects only to this machine.
	Transport http.RoundTripper
	// Timeout bounds each request, including its response. The default is 10 s. An export makes one request for the
	// contact and one for every 150 conversations. Only the deadline of the context bounds the complete export.
	Timeout time.Duration
	// APIVersion is sent as the header Intercom-Version. The default is 2.16.
	APIVersion string
}

// withDefaults returns the options with defaults for empty fields.
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

// op is the operation in configuration errors.
const op = "support desk"

// check returns an error for invalid settings, so that a mistake shows when the application starts. The error does not
// quote the token or the URL.
func (o Options) check(accessToken string) error {
	switch {
	case accessToken == "":
		return domain.Misconfigured(op, "the access token is empty")
	case !isVisibleASCII(accessToken):
		return domain.Misconfigured(op, "the access token must contain only visible ASCII characters, without spaces")
	case !isVisibleASCII(o.APIVersion):
		return domain.Misconfigured(op, "APIVersion must contain only visible ASCII characters, without spaces")
	case o.Timeout < 0:
		return domain.Misconfigured(op, "Timeout is negative")
	default:
		return checkBaseURL(o.BaseURL)
	}
}

func checkBaseURL(base string) error {
	parsed, err := url.Parse(base)
	switch {
	case err != nil: // err quotes the URL, which may contain a password
		return domain.Misconfigured(op, "BaseURL is not a valid URL")
	case parsed.Scheme != "https" && parsed.Scheme != "http":
		return domain.Misconfigured(op, "BaseURL must begin with https:// or http://")
	case parsed.Hostname() == "":
		return domain.Misconfigured(op, "BaseURL must contain a host")
	case parsed.User != nil:
		return domain.Misconfigured(op, "BaseURL must not contain a user name or a password")
	case parsed.Scheme == "http" && !isLoopback(parsed.Hostname()):
		return domain.Misconfigured(op,
			"BaseURL must begin with https://, because plain http would expose the token and the data")
	case strings.ContainsAny(base, "?#"):
		return domain.Misconfigured(op, "BaseURL must not contain a query or a fragment")
	default:
		return nil
	}
}

// isVisibleASCII reports whether text consists of visible ASCII characters without spaces, and is thus a safe header
// value.
func isVisibleASCII(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r > '~' })
}
