package scaffold_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/habeas-data/habeas/domain/datamap"
)

// The database does not miss the login state, because no foreign key refers to it.
func TestTheNameOfAColumnKeepsNoLogin(t *testing.T) {
	for _, lines := range []string{
		"sessions: id*, user_id>users, token\npage_hits: id*, user_id>users, session_id, size:integer, title",
		"user_sessions: id*, user_id>users, ip\npage_hits: id*, user_session_id, title",
		"magic_links: id*, user_id>users, expires_at:time\npage_hits: id*, user_id>users, magic_link_id, title",
		"login_challenges: id*, user_id>users, challenge, expires:time\ndoors: id*, login_challenge_id?, title",
		"authentications: id*, user_id>users, provider, uid, token",
		"sessions: id*, user_id>users, ip, last_transaction_filter:json",
		"login_states: id*, user_id>users, secret\ndoors: id*, login_state_id?, owner_id>users, title",
	} {
		p := propose(t, schema(users+lines))
		table := schema(lines).Tables[0].Name
		if mapped, ok := p.dataMap.Table(table); !ok || !mapped.Owned {
			t.Errorf("%s stays: %v, %v", table, p.steps(), p.LeftOut)
		}
		for _, other := range p.dataMap.Tables() {
			if slices.ContainsFunc(other.Relations, func(r datamap.Relation) bool {
				return r.References == table && !other.Owned
			}) {
				t.Errorf("%s refers to %s", other.Name, table)
			}
		}
	}
}

func TestRowsThatAreNoLoginStayWithThoseThatReferToThem(t *testing.T) {
	for _, lines := range []string{
		"sessions: id*, user_id>users, token\npage_hits: id*, user_id>users, session_id>sessions, title",
		"game_sessions: id*, user_id>users, color\nscores: id*, user_id>users, game_session_id, title",
		"searches: id*, user_id>users, token, query\npage_hits: id*, user_id>users, search_id, title",
	} {
		p := propose(t, schema(users+lines))
		if mapped, ok := p.dataMap.Table(schema(lines).Tables[0].Name); ok && mapped.Owned {
			t.Errorf("%s: the steps are %v", lines, p.steps())
		}
	}
}

func TestASecretOfOnePersonNeedsNoQuestion(t *testing.T) {
	for line, want := range map[string]int{
		"phone_checks: id*, user_id>users=cascade, otp":                     0,
		"phone_checks: id*, user_id>users=cascade, otp, place_id>places":    1,
		"phone_checks: id*, user_id>users=cascade, phone, checked_at:time?": 1,
	} {
		p := propose(t, schema(users+"places: id*, size\n"+line))
		if asked := p.questionsAbout("phone_checks", "belong only to the person"); len(asked) != want {
			t.Errorf("%s: asked %v", line, p.Decisions)
		}
	}
}

func TestThePartsOfAThingAreNoReferenceToAPerson(t *testing.T) {
	p := propose(t, schema(users+"films: id*, filmable_type, filmable_id\nclips: id*, holder_type, holder_id"))
	if asked := p.asked(); len(asked) != 1 || asked[0] != "clips.holder_id" {
		t.Errorf("asked %v", p.Decisions)
	}
}

func TestADeviceIsALoginOnlyIfItsColumnsSaySo(t *testing.T) {
	for line, want := range map[string]bool{
		"devices: id*, user_id>users, name, serial_number, firmware":          false,
		"devices: id*, owner_id>users, name, created:time":                    false,
		"user_devices: id*, user_id>users, serial":                            false,
		"sensor_devices: id*, user_id>users, mac, token, ip":                  false,
		"devices: id*, user_id>users, name, model":                            false,
		"devices: id*, user_id>users, token, platform, user_agent":            true,
		"push_devices: id*, user_id>users, name, fcm_token":                   true,
		"devices: id*, user_id>users, manufacturer, push_token":               true,
		"devices: id*, user_id>users, manufacturer, color":                    false,
		"login_devices: id*, user_id>users, name, last_used_at:time, ip":      true,
		"devices: id*, user_id>users, name, last_used_at:time":                true,
		"devices: id*, user_id>users, name, expires_at:time":                  true,
		"devices: id*, user_id>users, device_id:text, name, os_version":       true,
		"devices: id*, user_id>users, created:time":                           true,
		"devices: id*, user_id>users=cascade, name, serial_number, firmware":  true,
		"user_devices: id*, user_id>users, machine_id>machines, created:time": true,
	} {
		p := propose(t, schema(users+"machines: id*, name\n"+line))
		name, _, _ := strings.Cut(line, ":")
		table, mapped := p.dataMap.Table(name)
		if table.Owned != want || mapped != want || !want && len(p.questionsAbout(name, "the person's own rows?")) != 1 {
			t.Errorf("%s: deleted %t, asked %v", line, table.Owned, p.Decisions)
		}
	}
	p := propose(t, schema(users+"devices: id*, user_id>users, name, serial\n"+
		"values: id*, device_id>devices, size:integer"))
	if _, mapped := p.dataMap.Table("values"); mapped {
		t.Errorf("the steps are %v", p.steps())
	}
}

// A reference without a foreign key keeps a device, because it is no login.
func TestTheValuesOfADeviceKeepIt(t *testing.T) {
	p := propose(t, schema(users+"devices: id*, user_id>users=cascade, serial, token\n"+
		"hits: id*, user_id>users, device_id, title"))
	if table, _ := p.dataMap.Table("devices"); table.Owned {
		t.Errorf("the steps are %v", p.steps())
	}
}
