package domain_test

import (
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/habeas-data/habeas/domain"
)

func consentRecord(at time.Time, granted bool) domain.ConsentRecord {
	return domain.ConsentRecord{
		Purpose: "newsletter", PolicyVersion: "v1", Granted: granted, RecordedAt: at, Source: "api",
	}
}

// instants draws from only a few instants, so that two drawn instants are often equal.
func instants() *rapid.Generator[time.Time] {
	return rapid.Custom(func(t *rapid.T) time.Time {
		return noon.Add(time.Duration(rapid.IntRange(0, 2).Draw(t, "instant")) * time.Microsecond)
	})
}

func TestNoRecordMeansNotGranted(t *testing.T) {
	status := domain.ConsentStatusOf(mustID(t, "42"), "newsletter", nil)
	if status.Granted || status.PolicyVersion != nil || status.RecordedAt != nil || status.Source != nil {
		t.Errorf("got %+v", status)
	}
	if status.SubjectID != mustID(t, "42") || status.Purpose != "newsletter" {
		t.Errorf("got %+v", status)
	}
}

func TestTheStatusShowsTheRecordInForce(t *testing.T) {
	for _, granted := range []bool{true, false} {
		record := consentRecord(noon, granted)
		status := domain.ConsentStatusOf(mustID(t, "42"), "newsletter", &record)
		if status.Granted != granted || !equal(status.PolicyVersion, &record.PolicyVersion) ||
			!equal(status.RecordedAt, &noon) || !equal(status.Source, &record.Source) {
			t.Errorf("got %+v of %+v", status, record)
		}
	}
}

func TestAConsentDecisionIsCheckedFieldByField(t *testing.T) {
	long := strings.Repeat("é", domain.MaxTextLength)
	all := func(text string) domain.ConsentDecision {
		return domain.ConsentDecision{Purpose: text, PolicyVersion: text, Source: text}
	}
	for name, c := range map[string]struct {
		decision domain.ConsentDecision
		want     string
	}{
		"good":            {domain.ConsentDecision{Purpose: "p", PolicyVersion: "v", Source: "api"}, ""},
		"the longest":     {all(long), ""},
		"nothing":         {domain.ConsentDecision{}, "purpose:required policy_version:required source:required"},
		"too long":        {all(long + "x"), "purpose:too_long policy_version:too_long source:too_long"},
		"invalid UTF-8":   {domain.ConsentDecision{Purpose: "\xff", PolicyVersion: "v", Source: "api"}, "purpose:character"},
		"NUL":             {all("\x00"), "purpose:character policy_version:character source:character"},
		"one field only":  {domain.ConsentDecision{Purpose: "p", Source: "api"}, "policy_version:required"},
		"a blank purpose": {domain.ConsentDecision{Purpose: " ", PolicyVersion: "v", Source: "api"}, ""},
	} {
		if got := faultCodes(c.decision.Check()); got != c.want {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}

// faultCodes returns the names of the wrong fields with their codes, in order.
func faultCodes(fields []domain.FieldError) string {
	var list []string
	for _, field := range fields {
		list = append(list, field.Field+":"+field.Code)
	}
	return strings.Join(list, " ")
}

func TestAFieldErrorNeverRepeatsTheValue(t *testing.T) {
	decision := domain.ConsentDecision{
		Purpose: "secret\x00", PolicyVersion: "secret" + strings.Repeat("x", 255), Source: "secret\xff",
	}
	for _, field := range decision.Check() {
		if strings.Contains(field.Message+field.Code, "secret") {
			t.Errorf("%s: %s", field.Field, field.Message)
		}
	}
}

func TestInstantsAreUTCInMicroseconds(t *testing.T) {
	at := time.Date(2024, 3, 1, 13, 0, 0, 123456789, time.FixedZone("CET", 3600))
	if got := domain.Instant(at); got != time.Date(2024, 3, 1, 12, 0, 0, 123456000, time.UTC) {
		t.Errorf("got %v", got)
	}
	if got := domain.Instant(domain.Instant(at)); got != domain.Instant(at) {
		t.Errorf("Instant of its own result: got %v", got)
	}
}
