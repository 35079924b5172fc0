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
	token   func() string // behind a function, where nothing that prints or encodes a Resolver finds it
	baseURL string
	// onThisMachine is set if baseURL has plain http, which must not leave the machine.
	onThisMachine bool
	transport     http.RoundTripper // nil: each call has its own
	timeout       time.Duration
	apiVersion    string
	now           func() time.Time
}

// New returns the resolver for the desk that the access token belongs to. It asks the desk nothing. What cannot work
// is domain.ErrConfiguration.
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

// Name returns Name.
func (r *Resolver) Name() string { return Name }

// String names the desk, without the token.
func (r *Resolver) String() string { return Name + " at " + r.baseURL }

// Format prints String, whatever the verb.
func (r *Resolver) Format(state fmt.State, _ rune) { _, _ = io.WriteString(state, r.String()) }

// ExportSubject returns the fields of the contact and of its conversations: the fields of the covered surface that are
// present and not null. It returns no fields for a contact that the desk does not have. It returns none either if the
// desk fails half-way, because a part could be mistaken for the whole.
func (r *Resolver) ExportSubject(ctx context.Context, ref domain.SubjectRef) ([]domain.ExportRecord, error) {
	path, err := contactPath(ref.Value)
	if err != nil {
		return nil, err
	}
	call := r.open()
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

// EraseSubject deletes the contact. Deleting is idempotent by itself: the desk does not get entryID.
//
// It returns alreadyAbsent only if the desk says twice, to the deletion and to a request for the contact, that it does
// not have the contact. A contact that was merged is a *domain.ResolverError, as far as the desk reports the merge.
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
	case answer.notFound():
		return call.absent(ctx, path, ref.Value)
	case answer.status == http.StatusNoContent && len(answer.body) == 0:
		return false, nil
	}
	if err := answer.confirms(ref.Value); err != nil {
		return false, unusable(http.MethodDelete, err)
	}
	return false, nil
}

// absent asks for a contact that the desk does not find for a deletion. The vendor's description does not say whether
// that happens to a merged contact as well, whose data lives on under another id.
func (c call) absent(ctx context.Context, path, contactID string) (absent bool, err error) {
	_, id, known, err := c.contact(ctx, path)
	switch {
	case err != nil:
		return false, err
	case !known:
		return true, nil
	case id != contactID:
		return false, &domain.ResolverError{
			Resolver: Name, Message: "DELETE was answered 404, and GET with another contact: this one was merged",
		}
	default:
		return false, &domain.RetryLater{Resolver: Name, Message: "DELETE was answered 404, and GET with the contact"}
	}
}

// confirms returns an error unless the body says that this contact was deleted.
func (a answer) confirms(contactID string) error {
	fields, err := a.object()
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

// contactPath is the path of a contact: its id is one segment, whatever is in it. What would not stay one, or would be
// another id once it is part of a URL or of JSON, is refused: "." and ".." are resolved away by clients and servers
// even where they are escaped.
func contactPath(id string) (string, error) {
	if id == "" || id == "." || id == ".." || !utf8.ValidString(id) || strings.ContainsFunc(id, unicode.IsControl) {
		return "", &domain.ResolverError{Resolver: Name, Message: "the ref is no id that a contact can have"}
	}
	return "/contacts/" + url.PathEscape(id), nil
}
