package scaffold_test

import (
	"slices"
	"testing"

	"github.com/habeas-data/habeas/domain/datamap"
)

func TestRowsAboutPaymentsAreAskedForADuty(t *testing.T) {
	for columns, want := range map[string]int{
		"payment_provider": 1, "receipt_number": 1, "transaction_id": 1, "price:number, color": 0, "color": 0,
		"price:number, currency": 1,
	} {
		p := propose(t, schema(users+"badges: id*, user_id>users=cascade, "+columns))
		if len(p.questionsAbout("badges", "Its rows seem to record payments.")) != want {
			t.Errorf("%s: asked %v", columns, p.Decisions)
		}
	}
	p := propose(t, schema(users+"subscription_logs: id*, user_id>users=cascade, amount:number"))
	if len(p.questionsAbout("subscription_logs", "Its rows seem to record payments.")) != 1 {
		t.Errorf("asked %v", p.Decisions)
	}
}

func TestThePlacesOfFilesAreAsked(t *testing.T) {
	p := propose(t, schema(users+`
		user_attachments: attachment_id:text*, user_id>users=cascade, size:bigint, latest_bucket
		profiles: id*, user_id>users=cascade, avatar_bkey, bio`))
	for _, column := range []string{"user_attachments.latest_bucket", "profiles.avatar_bkey"} {
		if !slices.Contains(p.asked(), column) {
			t.Errorf("not asked about %s, but %v", column, p.Decisions)
		}
	}
	if a := p.column(t, "profiles.avatar_bkey").Personal; a == nil || a.Export != datamap.ExportYes {
		t.Errorf("avatar_bkey is annotated with %+v", a)
	}
}
