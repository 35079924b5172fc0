package check_test

import (
	"slices"
	"testing"
)

// beforeUsers creates a trigger that runs the code before an UPDATE of users.
func beforeUsers(code string) []string {
	return []string{
		`CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN ` + code + ` RETURN NEW; END $$`, keep("UPDATE"),
	}
}

// TestATriggerThatRestoresErasedValuesIsFound has triggers that undo an erasure of email (a surrogate with digits) or
// of nick (NULL), and similar ones that do not.
func TestATriggerThatRestoresErasedValuesIsFound(t *testing.T) {
	undoes := []string{"trigger-replaces users keep"}
	for code, want := range map[string][]string{
		"NEW.email := OLD.email;":                                                     undoes,
		"NEW.nick := COALESCE(NEW.nick, OLD.nick);":                                   undoes,
		"IF NEW.email IS DISTINCT FROM OLD.email THEN NEW.email = OLD.email; END IF;": undoes,

		"NEW.created_at := OLD.created_at;":                                            nil, // no erasure changes it
		"NEW.email := COALESCE(NEW.email, OLD.email);":                                 nil, // the surrogate is not NULL
		"IF session_user <> 'eraser' THEN NEW.email := OLD.email; END IF;":             nil,
		"IF OLD.created_at > now() THEN NEW.email := OLD.email; END IF;":               nil,
		"IF NEW.email IS DISTINCT FROM OLD.email THEN NEW.created_at = now(); END IF;": nil,
	} {
		t.Run(code, func(t *testing.T) {
			t.Parallel()
			if got, _ := liveFindings(t, liveCase{statements: beforeUsers(code)}); !slices.Equal(got, want) {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
}
