package cli_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/tool/cli"
)

// broken is an application that cannot be opened, or that cannot read an audit trail.
type broken struct {
	cli.Application
	err error
}

func (b broken) Trail(context.Context, domain.SubjectID) ([]domain.AuditEvent, error) {
	return nil, b.err
}

func TestAnErrorIsALineThatSaysWhatToDo(t *testing.T) {
	secret := errors.New("ERROR: c1@example.org at postgres://root:s3cret@db")
	coded := func(code domain.Code, message string) error {
		return &domain.Error{Code: code, Op: "trail", Message: message, Err: secret}
	}
	lost := &domain.Error{Op: "evidence", Message: "could not be written: unavailable"}
	for name, test := range map[string]struct {
		err  error
		says []string
	}{
		"unreachable": {
			coded(domain.ErrUnavailable, "the password is wrong"), []string{"the password is wrong", "then try again"},
		},
		"no privilege": {
			coded(domain.ErrConfiguration, "lacks a privilege (table users)"),
			[]string{"table users", "the privileges of its database role"},
		},
		"a constraint": {
			coded(domain.ErrConflict, "refused (table users)"), []string{"table users", "nothing was changed"},
		},
		"left over": {coded(domain.ErrLeftOver, "rows are left"), []string{"rows are left", "triggers"}},
		"a subject": {
			fmt.Errorf("for %w: %w", secret, coded(domain.ErrSubject, "the id is too long")),
			[]string{"the id is too long", `help topic "subjects"`},
		},
		"a deadline": {
			fmt.Errorf("%w: %w", secret, context.DeadlineExceeded), []string{"timed out", "rolled back"},
		},
		"an interrupt": {errors.Join(secret, context.Canceled), []string{"interrupted", "rolled back"}},
		"unknown":      {secret, []string{"may hold personal data", "internal"}},
		"no evidence": {
			errors.Join(coded(domain.ErrConflict, "refused"), lost), []string{"refused", "no event of the attempt"},
		},
		"two lines": {coded(domain.ErrConfiguration, "one\n\ttwo"), []string{"trail: one two;"}},
		"an input": {
			domain.Invalid("trail", []domain.FieldError{{Field: "purpose", Message: "must not be empty"}}),
			[]string{"purpose must not be empty"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			opening := cli.Open(func(context.Context) (cli.Application, error) { return nil, test.err })
			for _, root := range []*cobra.Command{opening, cli.New(broken{err: test.err})} {
				var out, complaint bytes.Buffer
				root.SetOut(&out)
				root.SetErr(&complaint)
				root.SetArgs([]string{"trail", "4711"})
				if code := cli.Execute(t.Context(), root); code != 2 || out.Len() > 0 {
					t.Errorf("ends with %d, printed %q", code, out.String())
				}
				complains(t, complaint.String(), test.says...)
				for _, hidden := range []string{"example.org", "s3cret", "4711", "ERROR"} {
					if strings.Contains(complaint.String(), hidden) {
						t.Errorf("the error contains %q: %s", hidden, complaint.String())
					}
				}
			}
		})
	}
}

func TestMistakesOfADataMapAreListed(t *testing.T) {
	err := domain.ManifestError("data map", []domain.Problem{
		{
			Table: "users", Column: "email", Message: "the category is unknown", Found: "mail",
			Possible: []string{"contact", "identity"},
		},
		{Table: "orders", Message: "no path leads to the subject", Remedy: "add a relation"},
	})
	var complaint bytes.Buffer
	root := cli.Open(func(context.Context) (cli.Application, error) { return nil, err })
	root.SetErr(&complaint)
	root.SetArgs([]string{"status"})
	if code := cli.Execute(t.Context(), root); code != 2 {
		t.Errorf("ends with %d", code)
	}
	want := `habeas: the data map is not valid: 2 mistakes
users.email
  the category is unknown; found "mail"; possible: contact, identity
orders
  no path leads to the subject; add a relation
`
	if complaint.String() != want {
		t.Errorf("printed\n%s", complaint.String())
	}
}

func TestAnUnknownCommandIsNotRepeated(t *testing.T) {
	for _, test := range []struct {
		args []string
		says string
	}{
		{[]string{"c1@example.org"}, "unknown command; see habeas --help"},
		{[]string{"erse"}, "did you mean erase"},
		{[]string{"outbox", "c1@example.org"}, "outbox: unknown command; see habeas outbox --help"},
		{[]string{"outbox", "re"}, "did you mean requeue"},
		{nil, "needs a command: completion, consents"},
		{[]string{"migrate"}, "migrate: needs a command: sql, status, up"},
		{[]string{"--data=c1@example.org"}, "unknown flag --data;"},
		{[]string{"--Data"}, "unknown flag;"},
	} {
		code, stdout, stderr := newWorld(t).run(append([]string{}, test.args...)...)
		if code != 2 || stdout != "" || strings.Contains(stderr, "example") {
			t.Errorf("%q ends with %d: %s%s", test.args, code, stdout, stderr)
		}
		complains(t, stderr, test.says)
	}
}
