package domain_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/habeas-data/habeas/domain"
)

func TestErrorsOfASystemMatchByTypeAndHideTheirCause(t *testing.T) {
	cause := errors.New("DELETE https://desk.example/contacts/zoe@example.org: 403")
	err := fmt.Errorf("saga: %w", &domain.ResolverError{Resolver: "desk", Message: "DELETE returned 403", Err: cause})
	var refused *domain.ResolverError
	if !errors.As(err, &refused) || refused.Resolver != "desk" || !errors.Is(err, cause) {
		t.Errorf("got %v", err)
	}
	if got := refused.Error(); got != "habeas: resolver desk: DELETE returned 403" {
		t.Errorf("got %q", got)
	}

	err = fmt.Errorf("saga: %w", &domain.RetryLaterError{
		Resolver: "desk", Message: "POST returned 429", After: time.Minute, Err: cause,
	})
	var later *domain.RetryLaterError
	if !errors.As(err, &later) || later.After != time.Minute || !errors.Is(err, cause) || errors.As(err, &refused) {
		t.Errorf("got %v", err)
	}
	if got := later.Error(); got != "habeas: resolver desk: POST returned 429" {
		t.Errorf("got %q", got)
	}
}

func TestASurfaceCoversItsFieldsAndFamilies(t *testing.T) {
	surface := domain.CoveredSurface{Fields: []domain.CoveredField{
		{Field: "contact.email", Category: domain.CategoryContact},
		{Field: "conversation.{id}.state", Category: domain.CategoryBehavioral},
		{Field: "tag.{id}", Category: domain.CategoryTechnical},
	}}
	for _, c := range []struct {
		field    string
		category domain.Category
		want     bool
	}{
		{"contact.email", domain.CategoryContact, true},
		{"contact.email", domain.CategoryIdentity, false},
		{"contact.emails", domain.CategoryContact, false},
		{"contact.name", domain.CategoryContact, false},
		{"conversation.17.state", domain.CategoryBehavioral, true},
		{"conversation.{id}.state", domain.CategoryBehavioral, true},
		{"conversation.17.state", domain.CategoryContact, false},
		{"conversation.17.body", domain.CategoryBehavioral, false},
		{"conversation..state", domain.CategoryBehavioral, false},
		{"conversation.state", domain.CategoryBehavioral, false},
		{"my.conversation.17.state", domain.CategoryBehavioral, false},
		{"tag.vip", domain.CategoryTechnical, true},
		{"tag.", domain.CategoryTechnical, false},
	} {
		if got := surface.Covers(domain.ExportRecord{Field: c.field, Category: c.category}); got != c.want {
			t.Errorf("%s (%s): got %v", c.field, c.category, got)
		}
	}
}

func TestASurfaceInJSON(t *testing.T) {
	wantJSON(t, domain.CoveredSurface{
		Fields:     []domain.CoveredField{{Field: "contact.email", Category: domain.CategoryContact}},
		Exclusions: []string{"message bodies"}, Notes: []string{"7 days to recover"},
	}, `{
		"fields": [{"field": "contact.email", "category": "contact"}],
		"exclusions": ["message bodies"], "notes": ["7 days to recover"]
	}`)
}
