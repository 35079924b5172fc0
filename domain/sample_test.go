package domain_test

import (
	"bytes"
	"encoding/gob"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
)

func TestAPrivateValueHidesItself(t *testing.T) {
	value := domain.NewPrivateValue("zoe@example.org")
	sample := datamap.StepSample{Before: []datamap.SampledRow{{Values: []domain.PrivateValue{value}}}}
	var out bytes.Buffer
	unexported := struct{ value domain.PrivateValue }{value}
	for _, thing := range []any{value, &value, sample, sample.Before[0], unexported, &unexported} {
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
			fmt.Fprintf(&out, verb, thing)
		}
		text, err := json.Marshal(thing)
		if err != nil {
			t.Error(err)
		}
		out.Write(text)
		slog.New(slog.NewTextHandler(&out, nil)).Info("text", "thing", thing)
		slog.New(slog.NewJSONHandler(&out, nil)).Info("json", "thing", thing)
	}
	_ = gob.NewEncoder(&out).Encode(sample)
	if !strings.Contains(out.String(), "(hidden)") || strings.Contains(out.String(), "zoe") ||
		strings.Contains(out.String(), fmt.Sprintf("%x", "zoe")) {
		t.Errorf("a value shows itself: %s", out.String())
	}
	if text, null := value.Reveal(); text != "zoe@example.org" || null {
		t.Errorf("revealed %q, %v", text, null)
	}
	if _, null := domain.NullValue().Reveal(); !null {
		t.Error("NULL is not NULL")
	}
	if text, null := (domain.PrivateValue{}).Reveal(); text != "" || null {
		t.Errorf("the zero value is %q, %v", text, null)
	}
}
