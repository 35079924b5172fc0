package bunmodels_test

import (
	"slices"
	"testing"

	"github.com/uptrace/bun"

	"github.com/habeas-data/habeas/adapters/persistence/bunmodels"
	"github.com/habeas-data/habeas/domain"
)

// One error lists the mistakes in the tags, in the data map and in the erasure plan.
func TestAllMistakesOfTheModelsAreReportedInOneError(t *testing.T) {
	type Account struct {
		bun.BaseModel `bun:"table:accounts" subject:"own"`
		ID            int64  `bun:"id,pk" subject:"id"`
		Mail          string `bun:"mail" pii:"contakt,erasure:hide,owner:me,purpose:a,purpose:b"`
	}
	type Session struct {
		bun.BaseModel `bun:"table:sessions" subject:"owned"`
		ID            int64    `bun:"id,pk"`
		AccountID     int64    `bun:"account_id"`
		Account       *Account `bun:"rel:belongs-to,join:account_id=id"`
	}
	type Login struct {
		bun.BaseModel `bun:"table:logins"`
		ID            int64    `bun:"id,pk"`
		SessionID     int64    `bun:"session_id"`
		Session       *Session `bun:"rel:belongs-to,join:session_id=id"`
		Address       string   `bun:"address" pii:"technical,erasure:retain,reason:'a law',retain:10,since:nothing"`
		Agent         string   `bun:"agent" pii:"technical,erasure:anonymize"`
	}
	type Event struct {
		bun.BaseModel `bun:"table:events"`
		ID            int64    `bun:"id,pk"`
		SessionID     int64    `bun:"session_id"`
		Session       *Session `bun:"rel:belongs-to,join:session_id=id"`
		Agent         string   `bun:"agent" pii:"technical,erasure:anonymize"`
	}
	_, err := bunmodels.Read(unconnected(), []any{(*Login)(nil), (*Account)(nil), (*Session)(nil), (*Event)(nil)}, nil)
	var got []string
	for _, problem := range domain.Problems(err) {
		got = append(got, problem.Where()+" "+problem.Found)
	}
	want := []string{
		"logins.address 10",
		"accounts own",
		"accounts.mail owner", "accounts.mail purpose:b", "accounts.mail contakt", "accounts.mail hide",
		"events agent",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q\n%v", got, want, err)
	}
}

func TestAnUnknownOptionIsReportedWithThePossibleOptions(t *testing.T) {
	type Account struct {
		bun.BaseModel `bun:"table:accounts"`
		ID            int64  `bun:"id,pk" subject:"id"`
		Mail          string `bun:"mail" pii:"contact,owner:me"`
	}
	_, err := bunmodels.Read(unconnected(), []any{(*Account)(nil)}, nil)
	problems := domain.Problems(err)
	if len(problems) != 1 || problems[0].Found != "owner" || !slices.Contains(problems[0].Possible, "surrogate") {
		t.Errorf("got %+v", problems)
	}
}
