package register

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/request"
	"github.com/habeas-data/habeas/ports"
)

// Opening is what is known of a request when it comes in. Kind and Channel are required.
type Opening struct {
	SubjectID  domain.SubjectID // may be zero if the channel is not request.SelfService: see Register.Assign
	Kind       request.Kind
	Channel    request.Channel
	Purpose    string        // a declared purpose, for an objection and a restriction
	Language   string        // the tag of the language of the subject, such as de; at most 35 characters
	Reference  string        // the file number of the operator; at most 64 characters, without control characters
	ReceivedAt time.Time     // when a letter arrived; the default is now, and it must not be later
	VerifiedBy request.Proof // how the identity was proven; the default of SelfService is request.Session
}

const (
	maxLanguage  = 35
	maxReference = 64
)

// The kinds that a subject can ask for herself, and those that may name a purpose. The others need words, which the
// register does not store.
var (
	selfService = []request.Kind{request.Access, request.Portability, request.Erasure, request.Restriction}
	ofPurpose   = []request.Kind{request.Restriction, request.Objection}
)

// Open opens a request, and records request_received. If the subject has an open request of this kind already, Open
// returns this request and false, and changes nothing.
//
// Open returns domain.ErrInvalid, with one error per invalid field, and domain.ErrLimited if a subject has made
// DailyLimit requests today.
func (r *Register) Open(ctx context.Context, s ports.Session, o Opening) (request.Request, bool, error) {
	if err := domain.Invalid("open request", r.faults(o)); err != nil {
		return request.Request{}, false, err
	}
	now := r.now()
	opened := request.Request{
		Number: r.number(), SubjectID: o.SubjectID, Kind: o.Kind, Purpose: o.Purpose, Channel: o.Channel,
		Language: o.Language, Reference: o.Reference, VerifiedBy: o.VerifiedBy,
		ReceivedAt: domain.Instant(o.ReceivedAt), EnteredAt: now,
	}
	if o.ReceivedAt.IsZero() {
		opened.ReceivedAt = now
	}
	if o.Channel == request.SelfService && opened.VerifiedBy == "" {
		opened.VerifiedBy = request.Session
	}
	if !o.SubjectID.IsZero() {
		standing, err := r.standing(ctx, s, o.SubjectID, r.today(now))
		known := standing.OpenOf(o.Kind)
		switch {
		case err != nil:
			return request.Request{}, false, err
		case known != nil:
			return *known, false, nil
		case o.Channel == request.SelfService && standing.Entered >= DailyLimit:
			return request.Request{}, false, limited()
		}
	}
	opened, err := r.rules.Receive(opened)
	if err != nil {
		return request.Request{}, false, err
	}
	standing, added, err := s.Register().Requests.Add(ctx, opened)
	if err != nil || !added {
		return standing, false, err
	}
	return opened, true, r.record(ctx, s, domain.EventRequestReceived, opened, request.Event{})
}

func limited() error {
	return &domain.Error{Code: domain.ErrLimited, Op: "request", Message: "the subject has made too many requests today"}
}

// faults returns the errors of the fields, except those that request.Rules.Receive finds.
func (r *Register) faults(o Opening) (faults []domain.FieldError) {
	check := func(failed bool, field, code, message string) {
		if failed {
			faults = append(faults, fault(field, code, message))
		}
	}
	isSelf := o.Channel == request.SelfService
	channels := []request.Channel{request.SelfService, request.Operator, request.Agent}
	check(!slices.Contains(channels, o.Channel), "channel", domain.FieldUnknown, "must be one of "+joined(channels))
	kinds := request.Kinds()
	if isSelf {
		kinds = selfService
	}
	check(!slices.Contains(kinds, o.Kind), "kind", domain.FieldUnknown, "must be one of "+joined(kinds))
	check(isSelf && o.SubjectID.IsZero(), "subject_id", domain.FieldRequired, "must not be empty")
	check(o.Purpose != "" && !slices.Contains(ofPurpose, o.Kind), "purpose", domain.FieldUnknown,
		"is only for "+joined(ofPurpose))
	check(o.Purpose != "" && (!r.purposes.Declared() ||
		r.purposes.Check(o.Purpose) != nil), "purpose", domain.FieldUnknown,
		"must be a declared purpose")
	check(o.VerifiedBy != "" && !slices.Contains(request.Proofs(), o.VerifiedBy), "verified_by", domain.FieldUnknown,
		"must be one of "+joined(request.Proofs()))
	return slices.Concat(faults, text("language", o.Language, maxLanguage), text("reference", o.Reference, maxReference))
}

// text returns the errors of a text with at most the given number of characters.
func text(field, value string, most int) (faults []domain.FieldError) {
	if utf8.RuneCountInString(value) > most {
		faults = append(faults, fault(field, domain.FieldTooLong, "must have at most "+strconv.Itoa(most)+" characters"))
	}
	if !utf8.ValidString(value) || strings.ContainsFunc(value, unicode.IsControl) {
		faults = append(faults, fault(field, domain.FieldCharacter, "must be valid UTF-8 without control characters"))
	}
	return faults
}

func fault(field, code, message string) domain.FieldError {
	return domain.FieldError{Field: field, Code: code, Message: message}
}

func joined[T ~string](all []T) string {
	texts := make([]string, len(all))
	for i, one := range all {
		texts[i] = string(one)
	}
	return strings.Join(texts, ", ")
}

// Assign names the person of a request that has none yet, once, and records request_assigned. It returns
// domain.ErrConflict if the request has a person, and domain.ErrNotFound if there is no such request.
func (r *Register) Assign(
	ctx context.Context, s ports.Session, number request.Number, id domain.SubjectID, proof request.Proof,
) (request.Request, error) {
	if err := domain.CheckCall("assign request", id, nil); err != nil {
		return request.Request{}, err
	}
	of, err := r.Find(ctx, s, number)
	switch {
	case err != nil:
		return of, err
	case of.SubjectID == id:
		return of, nil
	case !of.SubjectID.IsZero() || of.State.IsClosed():
		return of, &domain.Error{
			Code: domain.ErrConflict, Op: "assign request",
			Message: "the request has a person or is closed",
		}
	case proof != "" && !slices.Contains(request.Proofs(), proof):
		return of, domain.Invalid("assign request", []domain.FieldError{
			fault("verified_by", domain.FieldUnknown, "must be one of "+joined(request.Proofs())),
		})
	}
	of.SubjectID, of.VerifiedBy = id, proof
	of.Version++
	if err := s.Register().Requests.Update(ctx, of); err != nil {
		return of, err
	}
	return of, r.record(ctx, s, domain.EventRequestAssigned, of, request.Event{})
}
