package domain

import (
	"regexp"
	"strings"
)

// Controller is the organization that decides about the processing (Art. 4(7) GDPR), as answers to subjects name it.
type Controller struct {
	Authority Authority
}

// Authority is the supervisory authority with which a subject may lodge a complaint (Art. 77 GDPR).
type Authority struct {
	Name string // such as the name of the data protection authority of the country
	URL  string // where it takes complaints, with http or https; may be empty
}

var webAddress = regexp.MustCompile(`^https?://[^\s/?#]+([/?#]\S*)?$`)

// Check returns ErrConfiguration if the authority has a URL but no name, or a URL that is no address of the web.
func (c Controller) Check() error {
	switch {
	case c.Authority == Authority{}:
		return nil
	case strings.TrimSpace(c.Authority.Name) == "":
		return Misconfigured("controller", "Authority.Name is missing")
	case c.Authority.URL != "" && !webAddress.MatchString(c.Authority.URL):
		return Misconfigured("controller", "Authority.URL is not an address with http or https")
	}
	return nil
}

// Remedies are what a subject can do against a refusal, which an answer has to name (Art. 12(4) GDPR).
type Remedies struct {
	Authority string `json:"authority,omitempty"`
	URL       string `json:"url,omitempty"`
	Judicial  bool   `json:"judicial"` // the subject may also go to court (Art. 79 GDPR)
}

// Remedies returns the remedies against a refusal of this controller.
func (c Controller) Remedies() Remedies { return Remedies{c.Authority.Name, c.Authority.URL, true} }
