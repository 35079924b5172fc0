package supportdesk

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports"
)

// Name is the resolver's name and the kind of its refs.
const Name = "supportdesk"

var _ ports.Resolver = (*Resolver)(nil)

// Resolver answers for one support desk. It is safe for concurrent use and keeps no connection between calls. It does
// not rectify.
type Resolver struct {
	token      func() string // behind a function, where nothing that prints or encodes a Resolver finds it
	baseURL    string
	transport  http.RoundTripper // nil: each call has its own
	timeout    time.Duration
	apiVersion string
	now        func() time.Time
}

// New returns the resolver for the desk that the access token belongs to. It asks the desk nothing. What cannot work
// is domain.ErrConfiguration.
func New(accessToken string, options Options) (*Resolver, error) {
	options = options.withDefaults()
	if err := options.check(accessToken); err != nil {
		return nil, err
	}
	return &Resolver{
		token:      func() string { return accessToken },
		baseURL:    strings.TrimRight(options.BaseURL, "/"),
		transport:  options.Transport,
		timeout:    options.Timeout,
		apiVersion: options.APIVersion,
		now:        time.Now,
	}, nil
}

// Name returns Name.
func (r *Resolver) Name() string { return Name }

// String names the desk, without the token.
func (r *Resolver) String() string { return Name + " at " + r.baseURL }

// Format prints String, whatever the verb.
func (r *Resolver) Format(state fmt.State, _ rune) { _, _ = io.WriteString(state, r.String()) }

// ExportSubject returns the contact's and its conversations' fields, those of the covered surface that are present and
// not null. A contact that the desk does not know has none. Where the desk fails half-way, there are none either:
// a part would pass for the whole.
func (r *Resolver) ExportSubject(ctx context.Context, ref domain.SubjectRef) ([]domain.ExportRecord, error) {
	path, err := contactPath(ref.Value)
	if err != nil {
		return nil, err
	}
	call := r.open()
	defer call.close()

	contact, known, err := call.contact(ctx, path)
	if err != nil || !known {
		return nil, err
	}
	records, err := contactFields.records("contact/"+ref.Value, "", contact)
	if err != nil {
		return nil, unusable(http.MethodGet, err)
	}
	err = call.eachConversation(ctx, ref.Value, func(id string, conversation object) error {
		more, err := conversationFields.records("conversation/"+id, id, conversation)
		records = append(records, more...)
		return err
	})
	if err != nil {
		return nil, err
	}
	return records, nil
}

// EraseSubject deletes the contact. Deleting is idempotent by itself: the desk is not told entryID.
func (r *Resolver) EraseSubject(ctx context.Context, ref domain.SubjectRef, _ string) (alreadyAbsent bool, err error) {
	path, err := contactPath(ref.Value)
	if err != nil {
		return false, err
	}
	call := r.open()
	defer call.close()

	answer, err := call.send(ctx, http.MethodDelete, path, nil)
	switch {
	case err != nil:
		return false, err
	case answer.status == http.StatusNotFound:
		return true, nil
	case len(answer.body) == 0:
		return false, nil
	}
	fields, err := answer.object()
	if err != nil {
		return false, unusable(http.MethodDelete, err)
	}
	if string(fields["deleted"]) != "true" {
		return false, unusable(http.MethodDelete, errNotDeleted)
	}
	return false, nil
}

// contactPath is the path of a contact: its id is one segment, whatever is in it. What would not stay one, or would be
// another id once it is part of a URL or of JSON, is refused: "." and ".." are resolved away by clients and servers
// even where they are escaped.
func contactPath(id string) (string, error) {
	if id == "" || id == "." || id == ".." || !utf8.ValidString(id) || strings.ContainsFunc(id, unicode.IsControl) {
		return "", &domain.ResolverError{Resolver: Name, Message: "the ref is no id that a contact can have"}
	}
	return "/contacts/" + url.PathEscape(id), nil
}
