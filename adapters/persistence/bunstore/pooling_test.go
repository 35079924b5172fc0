package bunstore

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/habeas-data/habeas/domain"
)

func TestErrorsOfAProxyThatPoolsByTransactionSayWhatToSet(t *testing.T) {
	for state, code := range map[string]domain.Code{
		"42P05": domain.ErrConfiguration, "26000": domain.ErrConfiguration, "08P01": domain.ErrUnavailable,
	} {
		err := wrap(t.Context(), "consents", fmt.Errorf("wrapped: %w", stateError(state)))
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
