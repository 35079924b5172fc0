package domain_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/habeas-data/habeas/domain"
)

// element draws an element of a subject id. Most of its characters are those that the canonical form escapes.
func element() *rapid.Generator[string] {
	return rapid.OneOf(
		rapid.StringOfN(rapid.SampledFrom([]rune{'\\', '\x1f', 'u', 'a'}), 1, 5, -1),
		rapid.StringOfN(rapid.SampledFrom([]rune("\\\x1fué😀\u0301\u202e\n ")), 1, 8, -1),
		rapid.StringN(1, 10, -1).Filter(func(s string) bool { return !strings.ContainsRune(s, 0) }),
	)
}

// elements draws valid elements for an id of one element or for a composite id.
func elements() *rapid.Generator[[]string] {
	return rapid.SliceOfN(element(), 1, 4).Filter(func(drawn []string) bool {
		return len(drawn) > 1 || !strings.ContainsRune(drawn[0], '\x1f')
	})
}

func drawID(t *rapid.T, from []string) domain.SubjectID {
	id, err := domain.NewSubjectID(from...)
	if err != nil {
		t.Fatalf("NewSubjectID(%q): %v", from, err)
	}
	return id
}

func TestCanonicalFormsAreReversible(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		drawn := elements().Draw(t, "elements")
		id := drawID(t, drawn)
		if !slices.Equal(id.Elements(), drawn) {
			t.Fatalf("Elements: got %q, want %q", id.Elements(), drawn)
		}
		parsed, err := domain.ParseSubjectID(id.String())
		if err != nil || parsed != id {
			t.Fatalf("ParseSubjectID(%q): got %q, %v", id.String(), parsed.Elements(), err)
		}
		encoded, err := json.Marshal(id)
		if err != nil {
			t.Fatal(err)
		}
		var decoded domain.SubjectID
		if err := json.Unmarshal(encoded, &decoded); err != nil || decoded != id {
			t.Fatalf("through JSON: got %q, %v", decoded.Elements(), err)
		}
	})
}

func TestDifferentElementsHaveDifferentCanonicalForms(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		one, other := elements().Draw(t, "one"), elements().Draw(t, "other")
		a, b := drawID(t, one), drawID(t, other)
		same := slices.Equal(one, other)
		if (a.String() == b.String()) != same || (a == b) != same {
			t.Fatalf("%q and %q have the canonical forms %q and %q", one, other, a.String(), b.String())
		}
	})
}

func TestDifferentTuplesOfOneArityHaveDifferentCanonicalForms(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		arity := rapid.IntRange(1, 3).Draw(t, "arity")
		cell := rapid.StringOfN(rapid.SampledFrom([]rune{'\\', '\x1f', 'u'}), 0, 2, -1) // a key column may hold an empty text
		one := rapid.SliceOfN(cell, arity, arity).Draw(t, "one")
		other := rapid.SliceOfN(cell, arity, arity).Draw(t, "other")
		if (domain.CanonicalTuple(one) == domain.CanonicalTuple(other)) != slices.Equal(one, other) {
			t.Fatalf("%q and %q have the canonical form %q", one, other, domain.CanonicalTuple(one))
		}
	})
}

// The test splits the same characters into elements at different positions. The two ids must have different canonical
// forms.
func TestRegroupedElementsHaveDifferentCanonicalForms(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := []rune(rapid.StringOfN(rapid.SampledFrom([]rune{'\\', '\x1f', 'u'}), 3, 8, -1).Draw(t, "text"))
		first := rapid.IntRange(1, len(text)-1).Draw(t, "first cut")
		second := rapid.IntRange(1, len(text)-1).Draw(t, "second cut")
		a := drawID(t, []string{string(text[:first]), string(text[first:])})
		b := drawID(t, []string{string(text[:second]), string(text[second:])})
		if (a.String() == b.String()) != (first == second) {
			t.Fatalf("%q cut at %d and %d: %q and %q", string(text), first, second, a.String(), b.String())
		}
	})
}

func TestOnlyTheCanonicalFormIsParsed(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := element().Draw(t, "text")
		if id, err := domain.ParseSubjectID(text); err == nil && id.String() != text {
			t.Fatalf("%q was read as %q, whose canonical form is %q", text, id.Elements(), id.String())
		}
	})
}
