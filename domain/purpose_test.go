package domain_test

import (
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/habeas-data/habeas/domain"
)

func declared(t *testing.T, names ...string) domain.Purposes {
	t.Helper()
	purposes := make([]domain.Purpose, len(names))
	for i, name := range names {
		purposes[i].Name = name
	}
	all, err := domain.NewPurposes(purposes...)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestPurposesThatCannotBeDeclaredAreRefused(t *testing.T) {
	for name, purposes := range map[string][]domain.Purpose{
		"without a name": {{Name: "news"}, {}},
		"too long":       {{Name: strings.Repeat("x", 256)}},
		"no UTF-8":       {{Name: "\xff"}},
		"NUL":            {{Name: "a\x00"}},
		"twice":          {{Name: "news"}, {Name: "ads"}, {Name: "news"}},
	} {
		if all, err := domain.NewPurposes(purposes...); !errors.Is(err, domain.ErrConfiguration) || all.Declared() {
			t.Errorf("%s: got %v, %v", name, all, err)
		}
	}
}

func TestOnlyDeclaredPurposesAreKnown(t *testing.T) {
	all := declared(t, "news", "Ads", strings.Repeat("é", 255))
	if !all.Declared() || !slices.Equal(all.Names()[:2], []string{"news", "Ads"}) {
		t.Errorf("got %q", all.Names())
	}
	all.Names()[0] = "changed"
	for purpose, want := range map[string]string{
		"news": "", "Ads": "", "ads": "purpose:unknown", "news ": "purpose:unknown", "changed": "purpose:unknown",
		"": "purpose:required", "\xff": "purpose:character", strings.Repeat("x", 256): "purpose:too_long",
	} {
		if got := faultCodes(all.Check(purpose)); got != want {
			t.Errorf("%q: got %q, want %q", purpose, got, want)
		}
	}
}

func TestWithoutDeclaredPurposesAnyWillDo(t *testing.T) {
	for name, none := range map[string]domain.Purposes{"zero": {}, "none": declared(t)} {
		if none.Declared() || len(none.Names()) > 0 || faultCodes(none.Check("x")) != "" ||
			faultCodes(none.Check("")) != "purpose:required" {
			t.Errorf("%s: %+v", name, none)
		}
	}
}

func TestDecisionsAreCheckedAmongThePurposes(t *testing.T) {
	all, other := declared(t, "news"), "other"
	consent := domain.ConsentDecision{Purpose: other, Granted: true, Source: "api"}
	if got := faultCodes(consent.CheckAmong(all)); got != "purpose:unknown policy_version:required" {
		t.Errorf("got %q", got)
	}
	restriction := domain.RestrictionDecision{Purpose: &other, Restricted: true}
	if got := faultCodes(restriction.CheckAmong(all)); got != "purpose:unknown source:required" {
		t.Errorf("got %q", got)
	}
	if got := faultCodes(domain.RestrictionDecision{Source: "api"}.CheckAmong(all)); got != "" {
		t.Errorf("all processing: got %q", got)
	}
	// The ledger decides whether there is something to withdraw or to lift.
	consent.Granted, restriction.Restricted = false, false
	if got := faultCodes(consent.CheckAmong(all)); got != "policy_version:required" {
		t.Errorf("withdrawal: got %q", got)
	}
	if got := faultCodes(restriction.CheckAmong(all)); got != "source:required" {
		t.Errorf("lift: got %q", got)
	}
	consent.Purpose, other = "", ""
	if got := faultCodes(consent.CheckAmong(all)); got != "purpose:required policy_version:required" {
		t.Errorf("withdrawal without a purpose: got %q", got)
	}
	if got := faultCodes(restriction.CheckAmong(all)); got != "purpose:required source:required" {
		t.Errorf("lift for the empty purpose: got %q", got)
	}
}

// An event must not contain an undeclared purpose, because the text comes from a client and may be personal data.
func TestAnEventNamesOnlyADeclaredPurpose(t *testing.T) {
	decision := domain.ConsentDecision{Purpose: "news", PolicyVersion: "v1", Granted: true, Source: "api"}
	for want, all := range map[string]domain.Purposes{"": {}, "v1": declared(t, "news")} {
		payload := domain.Payload{"source": "api"}
		if want != "" {
			payload["purpose"], payload["policy_version"] = "news", want
		}
		if got := all.ConsentPayload(decision); !reflect.DeepEqual(got, payload) {
			t.Errorf("got %v, want %v", got, payload)
		}
	}
	decision.Purpose = "zoe@example.org"
	if got := declared(t, "news").ConsentPayload(decision); len(got) != 1 {
		t.Errorf("got %v", got)
	}
}
