package scaffold_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
)

// A cell that is NULL stays NULL, so that a surrogate never makes up a password, a pending address or a login.
func TestAValueThatMeansAStateGetsASurrogateWithoutAQuestion(t *testing.T) {
	for _, column := range []string{
		"password_hash?", "blocked_email?", "pending_email?", "email_change?", "new_phone:bigint?", "last_sign_in_at:time?",
		"last_login_at?", "account_lock_reason?", "webauthn_id:text?", "birthday:time?", "sign_in_count:integer?",
	} {
		p := propose(t, schema("users: id*, email, theme, "+column))
		name, _, _ := strings.Cut(strings.TrimSuffix(column, "?"), ":")
		c := p.column(t, "users."+name)
		if c.Personal == nil || c.Personal.Strategy != domain.StrategyErase {
			t.Errorf("%s: the annotation is %+v", column, c.Personal)
		}
		if slices.Contains(p.asked(), "users."+name) || len(p.questionsAbout("users", "NULL")) > 0 {
			t.Errorf("%s: asked %v", column, p.Decisions)
		}
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

func TestTheWordOwnedSuffices(t *testing.T) {
	for lines, want := range map[string]domain.Strategy{
		"users: id*, email, theme": domain.StrategyErase,
		"users: id*, email, phone": domain.StrategyAnonymize, // an erasure would otherwise delete the row
	} {
		p := propose(t, schema(lines+"\nposts: id*, title"))
		if email := p.column(t, "users.email").Personal; email.Strategy != want {
			t.Errorf("%s: the strategy is %s", lines, email.Strategy)
		}
		wantLines(t, p.steps()[:1], "anonymize users email"+map[bool]string{true: " phone"}[want != domain.StrategyErase])
		table := p.dataMap.SubjectTable()
		table.Owned = true
		if m, err := datamap.NewDataMap(table); err != nil ||
			m.SubjectTable().RowsDeleted() != (want == domain.StrategyErase) {
			t.Errorf("%s, owned: the rows stay: %v", lines, err)
		}
	}
}
