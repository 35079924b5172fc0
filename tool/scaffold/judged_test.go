package scaffold_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/tool/scaffold"
)

// The structure of a table shows more than a word in its name.
func TestRowsWithTheirPersonInTheKeyAreHers(t *testing.T) {
	for table, want := range map[string]bool{
		"user_providers: user_id*>users, provider*, provider_uid":                         true,
		"stores: kind*, user_id*>users=cascade":                                           true,
		"stores: kind*, user_id*>users":                                                   false,
		"stores: kind*, created_by:bigint*>users=cascade":                                 false,
		"products: user_id*>users, sku*, color":                                           false,
		"user_stores: user_id*>users, kind*, color":                                       true,
		"stores: user_id*>users=cascade, kind*, reviewer_id?, color":                      false,
		"stores: user_id*>users=cascade, kind*, editor_id?>users, color":                  false,
		"stores: user_id*>users=cascade, kind*, price:number, color":                      false,
		"stores: user_id*>users=cascade, kind*, place_id>places, color":                   false,
		"stores: id*, user_id>users, kind":                                                false,
		"stores: user_id*>users=cascade, kind*, color\nsales: id*, user_id>stores, color": false,
	} {
		p := propose(t, schema(users+"places: id*, name\n"+table))
		name, _, _ := strings.Cut(table, ":")
		_, mapped := p.dataMap.Table(name)
		if mapped != want || want && len(p.questionsAbout(name, "Do its rows belong only to the person?")) != 1 {
			t.Errorf("%s: in the data map %t, asked %v", table, mapped, p.Decisions)
		}
	}
}

func TestAQuestionNamesThePersonWhomEachRowHas(t *testing.T) {
	p := propose(t, schema(users+"track_things: id*, tracked_user_id?>users, tracking_user_id>users, track_query"))
	if len(p.questionsAbout("track_things", "Its rows lead to a person by tracking_user_id")) != 1 {
		t.Errorf("asked %v", p.Decisions)
	}
}

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

func TestAMemberMayBeASecondPerson(t *testing.T) {
	families := users + "families: id*, admin_id>users=cascade, member_id, token"
	p := propose(t, schema(families))
	if len(p.questionsAbout("families", "Its rows lead to a person by admin_id, and perhaps by member_id")) != 1 {
		t.Errorf("asked %v", p.Decisions)
	}
	p = propose(t, schema(families+"\nfamily_members: id*, color"))
	if len(p.questionsAbout("families", "member_id")) != 0 {
		t.Errorf("with members, asked %v", p.Decisions)
	}
	p = propose(t, schema(families), scaffold.Options{Include: []string{"families"}})
	if !slices.Contains(p.asked(), "families.member_id") {
		t.Errorf("included, asked %v", p.Decisions)
	}
}

func TestAParticipantMayBeASecondPerson(t *testing.T) {
	stances := users + "stances: id*, inviter_id>users, participant_id, reason"
	for lines, want := range map[string]int{
		stances: 1, stances + "\nstance_participants: id*, color": 0,
		users + "stances: id*, inviter_id>users, participant_id:uuid, reason": 0,
	} {
		p := propose(t, schema(lines))
		if len(p.questionsAbout("stances", "by inviter_id, and perhaps by participant_id, which has no ")) != want {
			t.Errorf("%s: asked %v", lines, p.Decisions)
		}
	}
	p := propose(t, schema(stances), scaffold.Options{Include: []string{"stances"}})
	if !slices.Contains(p.asked(), "stances.participant_id") {
		t.Errorf("included, asked %v", p.Decisions)
	}
	p = propose(t, schema(users+"votes: id*, participant_id, choice"))
	if !slices.Contains(p.asked(), "votes.participant_id") {
		t.Errorf("alone, asked %v", p.Decisions)
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

func TestRowsThatNoErasureFindsAreAsked(t *testing.T) {
	const unfound = "No erasure finds the rows in which user_id is NULL, although their email may name a person"
	for columns, want := range map[string]int{
		"user_id?>users=cascade, email": 1, "user_id>users=cascade, email": 0, "user_id?>users=cascade, phone": 0,
	} {
		for name, options := range map[string]scaffold.Options{"left out": {}, "included": {Include: []string{"badges"}}} {
			p := propose(t, schema(users+"badges: id*, "+columns), options)
			if len(p.questionsAbout("badges", unfound)) != want {
				t.Errorf("%s, %s: asked %v", columns, name, p.Decisions)
			}
		}
	}
}
