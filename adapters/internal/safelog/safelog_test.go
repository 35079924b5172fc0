package safelog_test

import (
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/habeas-data/habeas/adapters/internal/safelog"
	"github.com/habeas-data/habeas/domain"
)

const secret = "zoe@example.org"

func text(attributes []slog.Attr) string { return fmt.Sprint(attributes) }

func TestOfAnErrorOnlyWhatIsSafeIsSaid(t *testing.T) {
	for want, err := range map[string]error{
		"class=internal": errors.New(secret),
		"class=unavailable error=habeas: export: unavailable": &domain.Error{
			Code: domain.ErrUnavailable, Op: "export", Err: errors.New(secret),
		},
		"class=refused error=habeas: resolver desk: GET got status 403": fmt.Errorf("%s: %w", secret,
			&domain.ResolverError{Resolver: "desk", Message: "GET got status 403", Err: errors.New(secret)}),
		"class=retry_later error=habeas: resolver desk: GET got status 429": &domain.RetryLaterError{
			Resolver: "desk", Message: "GET got status 429", Err: errors.New(secret),
		},
		"class=refused": (*domain.ResolverError)(nil),
	} {
		if got := text(safelog.Error(err)); got != "["+want+"]" {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

func TestOfJoinedErrorsEachSafeTextIsSaid(t *testing.T) {
	err := errors.Join(errors.New(secret), fmt.Errorf("%s: %w", secret, &domain.Error{Op: "a", Message: "went wrong"}),
		&domain.Error{Op: "b", Message: "could not be written"})
	want := "[class=internal error=habeas: a: went wrong; habeas: b: could not be written]"
	if got := text(safelog.Error(err)); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func panics(value any) (said string) {
	defer func() { said = text(safelog.Panic(recover())) }()
	panic(value)
}

func TestOfAPanicItsTypeAndPlaceAreSaid(t *testing.T) {
	said := panics(secret)
	if strings.Contains(said, secret) || !strings.Contains(said, "panic=string") ||
		!strings.Contains(said, "safelog_test.panics") {
		t.Error(said)
	}
}

func TestATextIsOneLineOfBoundedLength(t *testing.T) {
	for message, want := range map[string]string{
		"a\nlevel=ERROR msg=\"fake\"\r\n": `a level=ERROR msg="fake"  `,
		"\x1b[31mred\x00\x7f\u0085":       " [31mred   ",
		"\u2028line\u202eright":           " line right",
		"\xff\xfe":                        "\uFFFD\uFFFD",
		"größer – 日本語":                    "größer – 日本語",
	} {
		for _, err := range []error{
			&domain.ResolverError{Resolver: "desk", Message: message},
			&domain.RetryLaterError{Resolver: "desk", Message: message},
		} {
			if got := text(safelog.Error(err)); !strings.HasSuffix(got, "error=habeas: resolver desk: "+want+"]") {
				t.Errorf("got %q, want %q", got, want)
			}
		}
	}
	endless := strings.Repeat("ü", 1<<20)
	for err, most := range map[error]int{
		&domain.ResolverError{Resolver: "desk", Message: endless}:   300,
		&domain.RetryLaterError{Resolver: "desk", Message: endless}: 300,
		&domain.Error{Op: "before", Message: endless}:               4000,
	} {
		if got := text(safelog.Error(err)); strings.Count(got, "ü") > most || !strings.HasSuffix(got, "ü…]") {
			t.Errorf("%d bytes are logged", len(got))
		}
	}
}
