package domain_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/habeas-data/habeas/domain"
)

func TestAContextCarriesItsOperator(t *testing.T) {
	if got := domain.OperatorOf(t.Context()); got != "" {
		t.Errorf("without an operator: %q", got)
	}
	for _, id := range []string{"a", "dpo@example.org", strings.Repeat("ä", 255)} {
		ctx, err := domain.WithOperator(t.Context(), id)
		if err != nil || domain.OperatorOf(ctx) != id {
			t.Errorf("%q: %v", id, err)
		}
	}
}

func TestAnOperatorsIDIsChecked(t *testing.T) {
	for name, id := range map[string]string{
		"empty": "", "too long": strings.Repeat("ä", 256), "line break": "a\nb", "escape": "a\x1b[31m", "C1": "a\u009b",
		"NUL": "a\x00", "not UTF-8": "a\xff",
	} {
		ctx, err := domain.WithOperator(context.Background(), id)
		var coded *domain.Error
		if ctx != nil || !errors.As(err, &coded) || coded.Code != domain.ErrInvalid || coded.Fields[0].Field != "operator" {
			t.Errorf("%s: %v", name, err)
		}
		if id != "" && strings.Contains(err.Error(), id) {
			t.Errorf("%s: the error repeats the id", name)
		}
	}
}
