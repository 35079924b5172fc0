package domain_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/habeas-data/habeas/domain"
)

var allCodes = []domain.Code{
	domain.ErrInvalid, domain.ErrSubject, domain.ErrManifest, domain.ErrRetention,
	domain.ErrConfiguration, domain.ErrSession, domain.ErrUnavailable, domain.ErrConflict,
}

func TestAnErrorIsItsCodeAndNoOther(t *testing.T) {
	for _, code := range allCodes {
		err := fmt.Errorf("record consent: %w", &domain.Error{Code: code, Op: "op"})
		for _, other := range allCodes {
			if got := errors.Is(err, other); got != (code == other) {
				t.Errorf("errors.Is(an error of %q, %q) = %v", code, other, got)
			}
		}
	}
}

func TestAnErrorUnwrapsToItsCause(t *testing.T) {
	err := error(&domain.Error{Code: domain.ErrUnavailable, Op: "op", Err: context.DeadlineExceeded})
	if !errors.Is(err, context.DeadlineExceeded) || !errors.Is(err, domain.ErrUnavailable) {
		t.Errorf("errors.Is(%v) is false for its code or its cause", err)
	}
	if errors.Is(err, context.Canceled) {
		t.Errorf("%v is context.Canceled", err)
	}
}

func TestTheCodeOfTheCauseIsSeenThroughAnErrorWithoutOne(t *testing.T) {
	err := error(&domain.Error{Op: "outer", Err: &domain.Error{Code: domain.ErrConflict}})
	if !errors.Is(err, domain.ErrConflict) {
		t.Errorf("%v is not ErrConflict", err)
	}
}

func TestErrorTextNeverHoldsTheCause(t *testing.T) {
	cause := errors.New(`duplicate key value (email)=(zoe@example.org)`)
	for want, err := range map[string]*domain.Error{
		"habeas: conflict":                {Code: domain.ErrConflict, Err: cause},
		"habeas: export: conflict":        {Code: domain.ErrConflict, Op: "export", Err: cause},
		"habeas: export: already there":   {Code: domain.ErrConflict, Op: "export", Message: "already there", Err: cause},
		"habeas: already there":           {Message: "already there", Err: cause},
		"habeas: op: invalid: a b; c d":   {Code: domain.ErrInvalid, Op: "op", Fields: fields("a", "b", "c", "d")},
		"habeas: op: said: a b":           {Code: domain.ErrInvalid, Op: "op", Message: "said", Fields: fields("a", "b")},
		"habeas: op: invalid: reason bad": {Code: domain.ErrInvalid, Op: "op", Fields: fields("reason", "bad"), Err: cause},
	} {
		if got := err.Error(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// fields returns a FieldError for each pair of a field and a message.
func fields(pairs ...string) []domain.FieldError {
	var made []domain.FieldError
	for i := 0; i < len(pairs); i += 2 {
		made = append(made, domain.FieldError{Field: pairs[i], Code: domain.FieldRequired, Message: pairs[i+1]})
	}
	return made
}

func TestACodeReadsAsASentinel(t *testing.T) {
	if got := domain.ErrRetention.Error(); got != "habeas: retention_violation" {
		t.Errorf("got %q", got)
	}
}

func TestInvalidIsNilWithoutFields(t *testing.T) {
	if err := domain.Invalid("op", nil); err != nil {
		t.Errorf("got %v", err)
	}
	err := domain.Invalid("record consent", fields("purpose", "must not be empty"))
	wantCode(t, err, domain.ErrInvalid)
	var coded *domain.Error
	errors.As(err, &coded)
	if len(coded.Fields) != 1 || coded.Fields[0].Field != "purpose" {
		t.Errorf("got the fields %v", coded.Fields)
	}
	if got := err.Error(); got != "habeas: record consent: invalid input: purpose must not be empty" {
		t.Errorf("got %q", got)
	}
}

func TestAMisconfigurationNamesItsOperation(t *testing.T) {
	err := domain.Misconfigured("worker", "a runner is required")
	wantCode(t, err, domain.ErrConfiguration)
	if got := err.Error(); got != "habeas: worker: a runner is required" {
		t.Errorf("got %q", got)
	}
}

func TestAnErrorClassIsOneWord(t *testing.T) {
	secret := errors.New("pq: zoe@example.org already exists")
	for name, c := range map[string]struct {
		err  error
		want string
	}{
		"a foreign error":              {secret, "internal"},
		"a code":                       {&domain.Error{Code: domain.ErrUnavailable, Err: secret}, "unavailable"},
		"a wrapped code":               {fmt.Errorf("x: %w", &domain.Error{Code: domain.ErrConflict}), "conflict"},
		"a cancellation":               {fmt.Errorf("x: %w", context.Canceled), "canceled"},
		"a deadline":                   {context.DeadlineExceeded, "timeout"},
		"a cancellation behind a code": {&domain.Error{Code: domain.ErrUnavailable, Err: context.Canceled}, "canceled"},
		"a deadline behind a code": {
			&domain.Error{Code: domain.ErrUnavailable, Err: context.DeadlineExceeded}, "timeout",
		},
		"an error without a code": {&domain.Error{Op: "export", Err: secret}, "internal"},
		"several errors":          {errors.Join(secret, &domain.Error{Code: domain.ErrSession}), "session"},
	} {
		got := domain.ErrorClass(c.err)
		if got != c.want {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
		if strings.ContainsAny(got, " @:") {
			t.Errorf("%s: %q is more than a class", name, got)
		}
	}
}

func TestTheClassOfAnErrorIsThatOfItsCode(t *testing.T) {
	for _, err := range []error{
		domain.ErrUnavailable,
		fmt.Errorf("x: %w", domain.ErrUnavailable),
		&domain.Error{Op: "outer", Err: &domain.Error{Code: domain.ErrUnavailable}},
	} {
		if got := domain.ErrorClass(err); got != "unavailable" {
			t.Errorf("%v: got %q", err, got)
		}
	}
}
