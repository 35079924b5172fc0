package scaffold_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
)

// An application reads a value that is not NULL, even an empty one, as a state, such as a pending change.
func TestAValueThatMeansAStateBecomesNULL(t *testing.T) {
	for column, want := range map[string]domain.Strategy{
		"blocked_email?": domain.StrategyNull, "unconfirmed_email?": domain.StrategyNull,
		"pending_email?": domain.StrategyNull, "newEmail?": domain.StrategyNull, "email_change?": domain.StrategyNull,
		"previous_phone_number?": domain.StrategyNull, "new_phone:bigint?": domain.StrategyNull,
		"last_sign_in_at:time?": domain.StrategyNull, "birthday:time?": domain.StrategyAnonymize,
		"last_login_at?": domain.StrategyNull, "last_login_at:bigint?": domain.StrategyNull,
		"account_lock_reason?": domain.StrategyNull, "webauthn_id:text?": domain.StrategyNull,
		"blocked_email": domain.StrategyAnonymize, "last_sign_in_at:time": domain.StrategyAnonymize,
		"work_email?": domain.StrategyAnonymize, "newsletter_email?": domain.StrategyAnonymize,
		"account_lock_reason": domain.StrategyAnonymize, "sign_in_count:integer?": domain.StrategyAnonymize,
	} {
		p := propose(t, schema("users: id*, email, "+column))
		name, _, _ := strings.Cut(strings.TrimSuffix(column, "?"), ":")
		c := p.column(t, "users."+name)
		if c.Personal == nil || c.Personal.Strategy != want {
			t.Errorf("%s: the annotation is %+v", column, c.Personal)
		}
		if asked := slices.Contains(p.asked(), "users."+name); asked != (want == domain.StrategyNull) {
			t.Errorf("%s: asked %v", column, p.Decisions)
		}
	}
}

func TestAStateThatMustNotBeNULLGetsASurrogate(t *testing.T) {
	catalog := schema("users: id*, email, pending_email?")
	catalog.Tables[0].Checks = []datamap.CatalogCheck{{
		Name: "one", Columns: []string{"pending_email"}, Text: "CHECK ((pending_email IS NOT NULL))",
	}}
	p := propose(t, catalog)
	if c := p.column(t, "users.pending_email"); c.Personal == nil || c.Personal.Strategy != domain.StrategyAnonymize {
		t.Errorf("the annotation is %+v", c.Personal)
	}
}

// The questions about secrets and about states are one.
func TestNULLIsAskedOnceForATable(t *testing.T) {
	p := propose(t, schema("users: id*, email, password_hash?, blocked_email?, last_sign_in_at:time?"))
	if asked := p.questionsAbout("users", "NULL"); len(asked) != 1 || len(asked[0].Further) != 2 {
		t.Errorf("asked %v", p.Decisions)
	}
}

func TestAnEncryptedValueBecomesNull(t *testing.T) {
	p := propose(t, schema("users: id*, name, encrypted_email?, encrypted_email_iv?, email_bidx?"))
	for _, column := range []string{"encrypted_email", "encrypted_email_iv", "email_bidx"} {
		if c := p.column(t, "users."+column); c.Personal == nil || c.Personal.Strategy != domain.StrategyNull {
			t.Errorf("%s: %+v", column, c)
		}
	}
	if asked := p.questionsAbout("users", "encrypted value"); len(asked) != 1 {
		t.Errorf("asked %v", p.Decisions)
	}
}
