package domain_test

import (
	"strings"
	"testing"

	"github.com/habeas-data/habeas/domain"
)

func TestCheckCallRefusesTheSubjectBeforeTheFields(t *testing.T) {
	fault := []domain.FieldError{{Field: "purpose", Code: domain.FieldRequired, Message: "must not be empty"}}
	wantCode(t, domain.CheckCall("op", domain.SubjectID{}, fault), domain.ErrSubject)
	wantCode(t, domain.CheckCall("op", mustID(t, "42"), fault), domain.ErrInvalid)
	if err := domain.CheckCall("op", mustID(t, "42"), nil); err != nil {
		t.Errorf("got %v for a call without fault", err)
	}
}

func TestCheckTextNamesTheFieldAndItsFault(t *testing.T) {
	longest := strings.Repeat("é", domain.MaxTextLength)
	for name, c := range map[string]struct {
		text    string
		minimum int
		code    string // "" if there is no fault
	}{
		"a text":                      {"x", 1, ""},
		"no text where one is needed": {"", 1, domain.FieldRequired},
		"no text where none is":       {"", 0, ""},
		"the longest text":            {longest, 1, ""},
		"a longer text":               {longest + "x", 1, domain.FieldTooLong},
		"text with NUL":               {"a\x00", 0, domain.FieldCharacter},
		"text that is not UTF-8":      {"a\xff", 0, domain.FieldCharacter},
	} {
		faults := domain.CheckText("name", c.text, c.minimum)
		switch {
		case c.code == "" && len(faults) > 0:
			t.Errorf("%s: got %v", name, faults)
		case c.code != "" && (len(faults) != 1 || faults[0].Field != "name" || faults[0].Code != c.code):
			t.Errorf("%s: got %v, want the fault %s of name", name, faults, c.code)
		}
	}
}
