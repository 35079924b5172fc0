package supportdesk

import (
	"cmp"
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

// Options holds the settings of a Resolver. The zero value is valid for a workspace in the US.
type Options struct {
	// BaseURL is the URL of the API. The default is https://api.intercom.io. Set https://api.eu.intercom.io for a
	// workspace in the EU, and https://api.au.intercom.io for a workspace in Australia. The scheme must be https. It may
	// be http for a desk on this machine: localhost, an address in 127.0.0.0/8, or [::1].
	//
	// The resolver cannot detect a wrong workspace or region. The desk of the wrong workspace does not have the contact,
	// so the resolver reports the contact as absent.
	BaseURL string
	// Transport sends the requests of all calls. It must be safe for concurrent use and must not follow redirects. The
	// caller must close it. If Transport is nil, each call uses a new transport and closes its connections at the end.
	// With plain http, this transport uses no proxy and connects only to this machine.
	Transport http.RoundTripper
	// Timeout is the maximum duration of each request, including its response. The default is 10 s. An export sends one
	// request for the contact and one request for every 150 conversations. The complete export is bounded only by its
	// context.
	Timeout time.Duration
	// APIVersion is the value of the header Intercom-Version. The default is 2.16.
	APIVersion string
}

// withDefaults returns a copy of the options with defaults in place of zero values.
func (o Options) withDefaults() Options {
	o.BaseURL = cmp.Or(o.BaseURL, defaultBaseURL)
	o.Timeout = cmp.Or(o.Timeout, defaultTimeout)
	o.APIVersion = cmp.Or(o.APIVersion, defaultAPIVersion)
	return o
}

// op is the operation in configuration errors.
const op = "support desk"

// check returns an error if a setting is not valid, so that New fails when the application starts. The error does not
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

// isVisibleASCII reports whether a text consists only of visible ASCII characters, without spaces. Such a text is valid
// as the value of a header.
func isVisibleASCII(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r > '~' })
}
