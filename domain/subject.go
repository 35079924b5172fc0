package domain

import (
	"maps"
	"slices"
	"strings"
	"unicode/utf8"
)

// separator joins the elements of a composite subject id in its canonical form.
const separator = '\x1f'

// SubjectID identifies the person of a request by the key that the application uses. It is usually the primary key of
// the users table as text. A composite id has one element for each key column that the data map declares, in the order
// of these columns. Two ids are equal only if all elements are equal. The services and datamap.DataMap.Key refuse the
// zero value, because it identifies no subject.
//
// SubjectID is comparable. It is stored and sent in its canonical form, a single text. See String.
type SubjectID struct {
	canonical string
	composite bool
}

// NewSubjectID creates an id of one element, or a composite id of several elements. Every element must be valid UTF-8
// without NUL, and not empty. The canonical form (see String) has at most MaxTextLength characters. A single element
// must not contain U+001F, which separates the elements of composite ids. NewSubjectID returns ErrSubject if an element
// breaks a rule.
func NewSubjectID(elements ...string) (SubjectID, error) {
	if len(elements) == 0 {
		return SubjectID{}, subjectError("an id needs at least one element")
	}
	for _, element := range elements {
		if element == "" {
			return SubjectID{}, subjectError("the id or one of its elements is empty")
		}
		if !utf8.ValidString(element) || strings.ContainsRune(element, 0) {
			return SubjectID{}, subjectError("the id must be valid UTF-8 without NUL")
		}
	}
	if len(elements) == 1 && strings.ContainsRune(elements[0], separator) {
		return SubjectID{}, subjectError("a single id must not contain U+001F")
	}
	id := SubjectID{canonical: CanonicalTuple(elements), composite: len(elements) > 1}
	if utf8.RuneCountInString(id.canonical) > MaxTextLength {
		return SubjectID{}, subjectError("the id is longer than 255 characters")
	}
	return id, nil
}

// ParseSubjectID returns the id whose canonical form (the text that String returns) is the given text. It returns
// ErrSubject if the text is not a canonical form.
func ParseSubjectID(canonical string) (SubjectID, error) {
	if !strings.ContainsRune(canonical, separator) {
		return NewSubjectID(canonical)
	}
	elements := splitTuple(canonical)
	if elements == nil {
		return SubjectID{}, subjectError("the id is not in the canonical form of a composite id")
	}
	return NewSubjectID(elements...)
}

// String returns the canonical form of the id. For an id of one element, this is the element itself. For a composite
// id, it consists of the escaped elements, joined by U+001F. Different ids have different canonical forms. The
// canonical form identifies a person and must not be logged.
func (id SubjectID) String() string { return id.canonical }

// IsZero reports whether id is the zero value, which identifies no subject.
func (id SubjectID) IsZero() bool { return id.canonical == "" }

// Elements returns the elements of the id, or nil for the zero value.
func (id SubjectID) Elements() []string {
	if id.composite {
		return splitTuple(id.canonical)
	}
	if id.canonical == "" {
		return nil
	}
	return []string{id.canonical}
}

// splitTuple reverses CanonicalTuple for a tuple of several elements. It returns nil if no tuple has this canonical
// form.
func splitTuple(canonical string) []string {
	elements := strings.Split(canonical, string(separator))
	for i, element := range elements {
		plain, ok := unescapeElement(element)
		if !ok {
			return nil
		}
		elements[i] = plain
	}
	return elements
}

// MarshalText returns the canonical form, as String does.
func (id SubjectID) MarshalText() ([]byte, error) { return []byte(id.canonical), nil }

// UnmarshalText reads the canonical form, as ParseSubjectID does.
func (id *SubjectID) UnmarshalText(text []byte) error {
	parsed, err := ParseSubjectID(string(text))
	if err != nil {
		return err
	}
	*id = parsed
	return nil
}

// elementEscaper escapes an element of a composite id: a backslash becomes `\\`, and U+001F becomes `\u`.
var elementEscaper = strings.NewReplacer(`\`, `\\`, string(separator), `\u`)

// CanonicalTuple returns the canonical form of a tuple. A single element is not changed. Several elements are escaped
// and joined by U+001F. Subject ids have this form, and so do the primary keys that name the rows of an export.
func CanonicalTuple(elements []string) string {
	if len(elements) == 1 {
		return elements[0]
	}
	escaped := make([]string, len(elements))
	for i, element := range elements {
		escaped[i] = elementEscaper.Replace(element)
	}
	return strings.Join(escaped, string(separator))
}

// SplitTuple reverses CanonicalTuple for tuples of n elements. ok is false if canonical is not the canonical form of
// such a tuple.
func SplitTuple(canonical string, n int) (elements []string, ok bool) {
	switch {
	case n == 1:
		return []string{canonical}, true
	case n < 1:
		return nil, false
	}
	elements = splitTuple(canonical)
	return elements, len(elements) == n && CanonicalTuple(elements) == canonical
}

func unescapeElement(escaped string) (string, bool) {
	var b strings.Builder
	for i := 0; i < len(escaped); i++ {
		if escaped[i] != '\\' {
			b.WriteByte(escaped[i])
			continue
		}
		i++
		if i == len(escaped) {
			return "", false
		}
		switch escaped[i] {
		case '\\':
			b.WriteByte('\\')
		case 'u':
			b.WriteByte(separator)
		default:
			return "", false
		}
	}
	return b.String(), true
}

// SubjectRef is the identifier of the subject in an external system. Kind is the name of the resolver that receives it.
// Extra holds additional data for the resolver, and may be nil.
type SubjectRef struct {
	Kind  string            `json:"kind"`
	Value string            `json:"value"`
	Extra map[string]string `json:"extra,omitempty"`

	// Keys replace Value in some outbox entries. They are up to datamap.MaxKeys keys of the external system, such as the
	// names of files, which the subject's rows hold. See datamap.Annotation.Ref. The refs of a Subject must not have Keys.
	Keys []string `json:"keys,omitempty"`
}

// Subject is the person of a request. It has the id in the application's own database, and the refs (the ids of the
// person in external systems).
type Subject struct {
	ID   SubjectID
	Refs []SubjectRef
}

// NewSubject returns a Subject with an id of one element, and with the refs. Its main use is a SubjectProvider, the
// function of an application that returns the subject of a request. NewSubject returns the errors of NewSubjectID.
func NewSubject(id string, refs ...SubjectRef) (Subject, error) {
	subjectID, err := NewSubjectID(id)
	if err != nil {
		return Subject{}, err
	}
	return Subject{ID: subjectID, Refs: refs}, nil
}

// Validate returns ErrSubject if the subject breaks one of these rules:
//
//   - The subject has an id.
//   - Every ref has a Kind and a Value of 1 to MaxTextLength characters, and no Keys.
//   - Every name in Extra has 1 to MaxTextLength characters, and every value at most MaxTextLength characters.
func (s Subject) Validate() error {
	if s.ID.IsZero() {
		return subjectError("the subject has no id")
	}
	for _, ref := range s.Refs {
		if len(CheckText("kind", ref.Kind, 1)) > 0 || len(CheckText("value", ref.Value, 1)) > 0 {
			return subjectError("a ref needs a kind and a value of 1 to 255 characters")
		}
		if len(ref.Keys) > 0 {
			return subjectError("a ref must not have keys: they come from the subject's rows")
		}
		for key, value := range ref.Extra {
			if len(CheckText("key", key, 1)) > 0 || len(CheckText("value", value, 0)) > 0 {
				return subjectError("a ref's extra needs keys of 1 to 255 characters and values of at most 255")
			}
		}
	}
	return nil
}

// SubjectState is the state of a subject in a store.
type SubjectState struct {
	Present bool // true if the subject's table has a row of the subject
	Life    Life // the life of the id; "" if no erasure of the subject was committed
	// Mark and Evidence are the values on which Life was judged. Mark is the row that records the erasures of the
	// subject, without ErasureMark.After. It is the zero value if there is none. It may have 0 erasures, see
	// ports.SubjectStore.Register.
	Mark     ErasureMark
	Evidence LifeEvidence
}

// CheckGrant returns ErrErased if the life of the id has ended, and the subject's row is still there with the values of
// the erasure. A store calls it for each consent that is given.
func (s SubjectState) CheckGrant() error {
	if s.Life != LifeEnded || !s.Evidence.Present || s.Evidence.Deletes {
		return nil
	}
	return &Error{Code: ErrErased, Op: "record consent", Message: "the subject was erased, and can give no consent"}
}

// Clone returns a copy that shares no memory with s. The strings of s may refer to a buffer of the request that the
// HTTP framework reuses, as in Fiber. The HTTP adapter then calls Clone before it passes the subject to a service.
func (s Subject) Clone() Subject {
	clone := Subject{ID: SubjectID{strings.Clone(s.ID.canonical), s.ID.composite}}
	for _, ref := range s.Refs {
		copied := SubjectRef{
			Kind: strings.Clone(ref.Kind), Value: strings.Clone(ref.Value), Extra: maps.Clone(ref.Extra),
			Keys: slices.Clone(ref.Keys),
		}
		for key, value := range ref.Extra {
			delete(copied.Extra, key)
			copied.Extra[strings.Clone(key)] = strings.Clone(value)
		}
		for i, key := range copied.Keys {
			copied.Keys[i] = strings.Clone(key)
		}
		clone.Refs = append(clone.Refs, copied)
	}
	return clone
}

func subjectError(message string) error {
	return &Error{Code: ErrSubject, Op: "subject", Message: message}
}
