package domain_test

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/habeas-data/habeas/domain"
)

func TestASubjectIDIsTakenUnchanged(t *testing.T) {
	for _, element := range []string{
		"42", " padded ", `back\slash`, `\u`, "Zoë", "😀", strings.Repeat("é", 255),
	} {
		id := mustID(t, element)
		if id.String() != element || !slices.Equal(id.Elements(), []string{element}) {
			t.Errorf("got %q of %q, want both to be %q", id.String(), id.Elements(), element)
		}
	}
}

func TestACompositeSubjectIDIsEscapedAndJoined(t *testing.T) {
	for _, c := range []struct {
		elements  []string
		canonical string
	}{
		{[]string{"tenant", "42"}, "tenant\x1f42"},
		{[]string{"a", "b", "c"}, "a\x1fb\x1fc"},
		{[]string{`a\b`, "c"}, `a\\b` + "\x1fc"},
		{[]string{"a\x1fb", "c"}, `a\ub` + "\x1fc"},
		{[]string{`a\u`, "\x1f"}, `a\\u` + "\x1f" + `\u`},
	} {
		id := mustID(t, c.elements...)
		if id.String() != c.canonical || !slices.Equal(id.Elements(), c.elements) {
			t.Errorf("%q: got %q of %q, want %q", c.elements, id.String(), id.Elements(), c.canonical)
		}
	}
}

func TestABadSubjectIDIsRefused(t *testing.T) {
	for name, elements := range map[string][]string{
		"no element":                        {},
		"empty":                             {""},
		"empty element":                     {"secret", ""},
		"invalid UTF-8":                     {"secret\xff"},
		"NUL":                               {"secret\x00"},
		"NUL in an element":                 {"secret", "\x00"},
		"the separator in a single id":      {"secret\x1f42"},
		"256 characters":                    {"secret" + strings.Repeat("x", 250)},
		"256 characters in its elements":    {"secret", strings.Repeat("x", 249)},
		"256 characters once it is escaped": {"secret", strings.Repeat(`\`, 125)},
	} {
		id, err := domain.NewSubjectID(elements...)
		wantCode(t, err, domain.ErrSubject)
		if strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: the error holds the id: %v", name, err)
		}
		if !id.IsZero() {
			t.Errorf("%s: got an id along with the error", name)
		}
	}
}

func TestTheLongestSubjectIDsAreTaken(t *testing.T) {
	mustID(t, strings.Repeat("é", domain.MaxTextLength))
	mustID(t, "tenant", strings.Repeat("x", domain.MaxTextLength-len("tenant\x1f")))
	mustID(t, "a", strings.Repeat(`\`, 126)) // 1 + 1 + 252
}

func TestTextThatIsNoCanonicalFormIsNotParsed(t *testing.T) {
	for _, text := range []string{
		"", "\x1f", "a\x1f", "\x1fb", "a\x1f\x1fb",
		"a\x1fb\\", "a\\x\x1fb", "a\x1f\\U", "a\x1fb\x00", "a\x1f" + strings.Repeat("b", 254),
	} {
		id, err := domain.ParseSubjectID(text)
		wantCode(t, err, domain.ErrSubject)
		if !id.IsZero() {
			t.Errorf("%q: got an id along with the error", text)
		}
	}
}

func TestTheZeroSubjectIDHasNoElements(t *testing.T) {
	var id domain.SubjectID
	if !id.IsZero() || id.String() != "" || id.Elements() != nil {
		t.Errorf("got %q of %q", id.String(), id.Elements())
	}
	if mustID(t, "42").IsZero() {
		t.Error("an id with an element is not zero")
	}
}

func TestSubjectIDsOfEqualElementsAreEqual(t *testing.T) {
	if one, other := mustID(t, "a", "b"), mustID(t, "a", "b"); one != other {
		t.Error("two composite ids of the same elements differ")
	}
	if mustID(t, `a\\b`) == mustID(t, `a\b`) {
		t.Error("two single ids are equal though their text differs")
	}
}

func TestASubjectIDThatCannotBeDecodedLeavesTheTargetAlone(t *testing.T) {
	id := mustID(t, "42")
	err := json.Unmarshal([]byte(`""`), &id)
	wantCode(t, err, domain.ErrSubject)
	if id != mustID(t, "42") {
		t.Errorf("the target became %q", id)
	}
}

func TestNewSubjectTakesAnIDAndRefs(t *testing.T) {
	ref := domain.SubjectRef{Kind: "desk", Value: "c-1"}
	subject, err := domain.NewSubject("42", ref)
	if err != nil {
		t.Fatal(err)
	}
	if subject.ID != mustID(t, "42") || len(subject.Refs) != 1 || subject.Refs[0].Value != "c-1" {
		t.Errorf("got %+v", subject)
	}
	if err := subject.Validate(); err != nil {
		t.Errorf("Validate: %v", err)
	}
	_, err = domain.NewSubject("")
	wantCode(t, err, domain.ErrSubject)
}

func TestASubjectNeedsAnIDAndCompleteRefs(t *testing.T) {
	id := mustID(t, "42")
	long := strings.Repeat("x", domain.MaxTextLength+1)
	for name, subject := range map[string]domain.Subject{
		"no id":          {Refs: []domain.SubjectRef{{Kind: "desk", Value: "secret"}}},
		"no kind":        {ID: id, Refs: []domain.SubjectRef{{Value: "secret"}}},
		"no value":       {ID: id, Refs: []domain.SubjectRef{{Kind: "desk"}}},
		"a long kind":    {ID: id, Refs: []domain.SubjectRef{{Kind: long, Value: "secret"}}},
		"a long value":   {ID: id, Refs: []domain.SubjectRef{{Kind: "desk", Value: "secret" + long}}},
		"NUL in a value": {ID: id, Refs: []domain.SubjectRef{{Kind: "desk", Value: "secret\x00"}}},
		"the second ref": {ID: id, Refs: []domain.SubjectRef{{Kind: "desk", Value: "c-1"}, {Kind: "desk"}}},
	} {
		err := subject.Validate()
		wantCode(t, err, domain.ErrSubject)
		if strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: the error holds the ref: %v", name, err)
		}
	}
}

func TestACloneSharesNothingWithItsSubject(t *testing.T) {
	extra := map[string]string{"region": "eu", "shard": "7"}
	subject := domain.Subject{
		ID:   mustID(t, "a", "b"),
		Refs: []domain.SubjectRef{{Kind: "desk", Value: "c-1", Extra: extra}, {Kind: "mail", Value: "m-1"}},
	}
	clone := subject.Clone()
	if clone.ID != subject.ID || !slices.EqualFunc(clone.Refs, subject.Refs, func(a, b domain.SubjectRef) bool {
		return a.Kind == b.Kind && a.Value == b.Value && maps.Equal(a.Extra, b.Extra)
	}) {
		t.Fatalf("got %+v, want %+v", clone, subject)
	}
	subject.Refs[0].Kind = "changed"
	extra["region"] = "changed"
	if clone.Refs[0].Kind != "desk" || clone.Refs[0].Extra["region"] != "eu" {
		t.Errorf("the clone changed along: %+v", clone.Refs[0])
	}
}
