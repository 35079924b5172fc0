package domain

import (
	"maps"
	"slices"
	"strings"
	"unicode/utf8"
)

// separator joins the elements of a composite subject id in its canonical form.
const separator = '\x1f'

// SubjectID says which person a request is about, in the application's own terms: usually the primary key of its
// users table as text. A composite id is an ordered tuple, aligned with the key columns that the data map declares,
// and is always matched whole. The zero value is no subject at all and is refused everywhere.
//
// It is comparable, and is stored and sent in its canonical form.
type SubjectID struct {
	canonical string
	composite bool
}

// NewSubjectID makes an id of one element, or a composite id of several. Every element must be non-empty, valid UTF-8
// without NUL, and the canonical form at most MaxTextLength characters. A single id is taken unchanged; it must
// not hold U+001F, which joins the elements of composite ids. The error is ErrSubject.
func NewSubjectID(elements ...string) (SubjectID, error) {
	if len(elements) == 0 {
		return SubjectID{}, subjectError("an id needs at least one element")
	}
	for _, element := range elements {
		if element == "" {
			return SubjectID{}, subjectError("the id, or an element of it, is empty")
		}
		if !utf8.ValidString(element) || strings.ContainsRune(element, 0) {
			return SubjectID{}, subjectError("the id must be valid UTF-8 without NUL")
		}
	}
	if len(elements) == 1 && strings.ContainsRune(elements[0], separator) {
		return SubjectID{}, subjectError("a single id must not hold U+001F")
	}
	id := SubjectID{canonical: CanonicalTuple(elements), composite: len(elements) > 1}
	if utf8.RuneCountInString(id.canonical) > MaxTextLength {
		return SubjectID{}, subjectError("the id is longer than 255 characters")
	}
	return id, nil
}

// ParseSubjectID reads the canonical form back. It is the inverse of String for every valid id.
func ParseSubjectID(canonical string) (SubjectID, error) {
	if !strings.ContainsRune(canonical, separator) {
		return NewSubjectID(canonical)
	}
	elements := splitTuple(canonical)
	if elements == nil {
		return SubjectID{}, subjectError("not the canonical form of a composite id")
	}
	return NewSubjectID(elements...)
}

// String is the canonical form: a single id as it is; a composite id's elements, escaped and joined by U+001F.
// Two different ids never have the same canonical form. It is an identifier: do not log it.
func (id SubjectID) String() string { return id.canonical }

// IsZero reports whether id is the zero value, which names nobody.
func (id SubjectID) IsZero() bool { return id.canonical == "" }

// Elements returns the tuple: one element for a single id, several for a composite one, none for the zero value.
func (id SubjectID) Elements() []string {
	if id.composite {
		return splitTuple(id.canonical)
	}
	if id.canonical == "" {
		return nil
	}
	return []string{id.canonical}
}

// splitTuple reverses CanonicalTuple for a tuple of several elements. Returns nil if canonical is not of that form.
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

// MarshalText encodes the canonical form.
func (id SubjectID) MarshalText() ([]byte, error) { return []byte(id.canonical), nil }

// UnmarshalText decodes the canonical form.
func (id *SubjectID) UnmarshalText(text []byte) error {
	parsed, err := ParseSubjectID(string(text))
	if err != nil {
		return err
	}
	*id = parsed
	return nil
}

// In an element of a composite id, a backslash is written `\\` and U+001F `\u`.
var elementEscaper = strings.NewReplacer(`\`, `\\`, string(separator), `\u`)

// CanonicalTuple is the canonical form of a tuple: a single element as it is; several escaped and joined by U+001F.
// It is that of subject ids, and names the rows of an export by their primary keys.
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

// SubjectRef says under which identifier an external system knows the subject. It goes to the resolver whose name
// equals Kind. Extra carries what such a resolver needs besides, and may be nil.
type SubjectRef struct {
	Kind  string            `json:"kind"`
	Value string            `json:"value"`
	Extra map[string]string `json:"extra,omitempty"`

	// Keys are what an outbox entry has in place of a value: up to MaxKeys keys of the external system that rows of the
	// subject held, see Annotation.Ref. The ref of a Subject must not have any.
	Keys []string `json:"keys,omitempty"`
}

// Subject is who a request is about: the id in the application's own database and the refs in external systems.
type Subject struct {
	ID   SubjectID
	Refs []SubjectRef
}

// NewSubject is the one-line form for a SubjectProvider: a single id and the refs, if any.
func NewSubject(id string, refs ...SubjectRef) (Subject, error) {
	subjectID, err := NewSubjectID(id)
	if err != nil {
		return Subject{}, err
	}
	return Subject{ID: subjectID, Refs: refs}, nil
}

// Validate checks the subject itself: an id must be there, and every ref needs a kind and a value of at most
// MaxTextLength characters, and no keys; its extra is bound likewise. The error is ErrSubject.
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

// SubjectState says what a store knows of a subject.
type SubjectState struct {
	Erased  bool // an erasure of the subject was committed before
	Present bool // the subject's table has a row of the subject
}

// Clone returns a copy that shares no memory with s. HTTP adapters whose strings point into a request buffer
// (Fiber's do) call it before they hand the subject on.
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
