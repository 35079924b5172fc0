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

// Name is the name of the resolver. It is also the kind of its refs, which are the ids of subjects at the desk.
const Name = "supportdesk"

var _ ports.Resolver = (*Resolver)(nil)

// Resolver exports and erases contacts of one support desk. It is safe for concurrent use. At the end of each call, it
// closes the connections of the call, except those of Options.Transport. It does not implement
// ports.RectifyingResolver.
type Resolver struct {
	token   func() string // a function, so that printing or encoding a Resolver does not reveal the token
	baseURL string
	// onThisMachine is true if baseURL has the scheme http. Requests are then sent only to this machine.
	onThisMachine bool
	transport     http.RoundTripper // nil means a new transport for each call
	timeout       time.Duration
	apiVersion    string
	now           func() time.Time
}

// New returns a resolver for the workspace of the access token. It sends no request. It returns domain.ErrConfiguration
// if the access token or an option is not valid.
func New(accessToken string, options Options) (*Resolver, error) {
	options = options.withDefaults()
	if err := options.check(accessToken); err != nil {
		return nil, err
	}
	return &Resolver{
		token:         func() string { return accessToken },
		baseURL:       strings.TrimRight(options.BaseURL, "/"),
		onThisMachine: !isHTTPS(options.BaseURL),
		transport:     options.Transport,
		timeout:       options.Timeout,
		apiVersion:    options.APIVersion,
		now:           time.Now,
	}, nil
}

// Name returns the constant Name.
func (r *Resolver) Name() string { return Name }

// String returns Name and the base URL, without the token.
func (r *Resolver) String() string { return Name + " at " + r.baseURL }

// Format prints String for every verb.
func (r *Resolver) Format(state fmt.State, _ rune) { _, _ = io.WriteString(state, r.String()) }

// ExportSubject returns the data of a contact and its conversations: one record for each field of CoveredSurface that
// is present and not null. If the desk does not have the contact, ExportSubject returns no records and no error. With
// an error, it returns no records, because the caller could take an incomplete export for a complete one.
func (r *Resolver) ExportSubject(ctx context.Context, ref domain.SubjectRef) ([]domain.ExportRecord, error) {
	path, err := contactPath(ref.Value)
	if err != nil {
		return nil, err
	}
	call := r.newCall()
	defer call.close()

	contact, id, known, err := call.contact(ctx, path)
	if err != nil || !known {
		return nil, err
	}
	if id != ref.Value {
		return nil, unusable(http.MethodGet, errAnother)
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

// EraseSubject deletes a contact. It ignores the id of the outbox entry, because deletions are idempotent. It also
// ignores the instant of the erasure: the desk never gives the id of a contact to another contact, so a late call
// cannot delete a new person's contact.
//
// EraseSubject reports that the contact was already absent only after the desk has responded with 404 to the deletion
// and then to a request for the contact. If the desk reports that the contact was merged into another contact,
// EraseSubject returns a *domain.ResolverError.
func (r *Resolver) EraseSubject(
	ctx context.Context, ref domain.SubjectRef, _ domain.ErasureCall,
) (alreadyAbsent bool, err error) {
	path, err := contactPath(ref.Value)
	if err != nil {
		return false, err
	}
	call := r.newCall()
	defer call.close()

	response, err := call.send(ctx, http.MethodDelete, path, nil)
	switch {
	case err != nil:
		return false, err
	case response.notFound():
		return call.absent(ctx, path, ref.Value)
	case response.status == http.StatusNoContent && len(response.body) == 0:
		return false, nil
	}
	if err := response.confirms(ref.Value); err != nil {
		return false, unusable(http.MethodDelete, err)
	}
	return false, nil
}

// absent sends a GET after a DELETE of the contact got a 404. The 404 does not prove that the contact is absent: the
// vendor does not document the response to a DELETE of a merged contact. The data of a merged contact still exists
// under another id.
func (c call) absent(ctx context.Context, path, contactID string) (absent bool, err error) {
	_, id, known, err := c.contact(ctx, path)
	switch {
	case err != nil:
		return false, err
	case !known:
		return true, nil
	case id != contactID:
		return false, &domain.ResolverError{
			Resolver: Name, Message: "DELETE got status 404, but GET returned another contact: the contact was merged",
		}
	default:
		return false, &domain.RetryLaterError{Resolver: Name, Message: "DELETE got status 404, but GET returned the contact"}
	}
}

// confirms returns nil if the body confirms that the contact with this id was deleted. Otherwise it returns an error.
func (r deskResponse) confirms(contactID string) error {
	fields, err := r.object()
	if err != nil {
		return err
	}
	id, err := readContact(fields)
	switch {
	case err != nil:
		return err
	case string(fields["deleted"]) != "true":
		return errNotDeleted
	case id != contactID:
		return errAnother
	default:
		return nil
	}
}

// contactPath returns the path of a contact. The last segment is the escaped id. contactPath refuses an id that a URL
// or JSON cannot represent exactly. It also refuses "." and "..", because clients and servers remove such segments from
// a path, even if they are escaped.
func contactPath(id string) (string, error) {
	if id == "" || id == "." || id == ".." || !utf8.ValidString(id) || strings.ContainsFunc(id, unicode.IsControl) {
		return "", &domain.ResolverError{Resolver: Name, Message: "the value of the ref is not a valid contact id"}
	}
	return "/contacts/" + url.PathEscape(id), nil
}
