package conn

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/habeas-data/habeas/domain"
)

func TestErrorsOfATransactionPoolingProxyNameTheSettings(t *testing.T) {
	for state, code := range map[string]domain.Code{
		"42P05": domain.ErrConfiguration, "26000": domain.ErrConfiguration, "08P01": domain.ErrUnavailable,
	} {
		err := Wrap(t.Context(), "consents", fmt.Errorf("wrapped: %w", stateError(state)))
		if !errors.Is(err, code) {
			t.Errorf("%s: %v, want the code %s", state, err, code)
		}
		for _, part := range []string{"default_query_exec_mode=exec", "(SQLSTATE " + state + ")"} {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("%s: %v does not say %q", state, err, part)
			}
		}
		if strings.Contains(err.Error(), stateError("").Error()) {
			t.Errorf("%s: %v quotes the driver", state, err)
		}
	}
}

func TestRefusedStatementsAreRecognized(t *testing.T) {
	for state, want := range map[string]bool{
		"23505": true, "22P05": true, "40001": true, "40P01": true, "53200": true,
		"40003": false, "08006": false, "08P01": false, "57P01": false, "57P02": false, "": false,
	} {
		if got := Refused(fmt.Errorf("wrapped: %w", stateError(state))); got != want {
			t.Errorf("%q: %v", state, got)
		}
	}
}

func TestAValueThatDoesNotFitItsColumnIsAConflict(t *testing.T) {
	for _, state := range []string{"22001", "22003"} {
		err := Wrap(t.Context(), "rectify", stateError(state))
		if !errors.Is(err, domain.ErrConflict) || !strings.Contains(err.Error(), "(SQLSTATE "+state+")") {
			t.Errorf("%s: %v", state, err)
		}
	}
}

// stateError is a driver's error with an SQLSTATE.
type stateError string

func (e stateError) Error() string    { return "an error of the database" }
func (e stateError) SQLState() string { return string(e) }

func TestARefusedLoginReportsItsCauseWithoutThePassword(t *testing.T) {
	for state, words := range map[string]string{
		"28P01": "the password is wrong", "28000": "may not log in", "3D000": "does not exist",
	} {
		err := Wrap(t.Context(), "migrate", stateError(state))
		if !errors.Is(err, domain.ErrUnavailable) || !strings.Contains(err.Error(), words) ||
			strings.Contains(err.Error(), stateError("").Error()) {
			t.Errorf("%s: %v", state, err)
		}
	}
}
