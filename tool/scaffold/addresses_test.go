package scaffold_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/tool/scaffold"
)

// A row that is identified by the address of a person is her own, whatever the name of the table suggests.
func TestRowsThatAnAddressIdentifiesAreThePersons(t *testing.T) {
	for table, want := range map[string]bool{
		"user_login_states: email:text*, user_id>users, failures:integer":    true,
		"user_login_states: email:text*, user_id?>users, failures:integer":   true,
		"signup_steps: email:text*, user_id?>users, name, step:integer":      true,
		"signup_steps: id*, user_email!, user_id>users, name, step:integer":  true,
		"signup_steps: id*, email, user_id?>users, name, step:integer":       false,
		"signup_steps: id*, support_email!, user_id?>users, name":            false,
		"contacts: id*, user_id>users, email!, name":                         false,
		"invitations: id*, user_id>users, email!":                            false,
		"teams: id*, owner_id>users, email!":                                 false,
		"banned_emails: email:text*, user_id>users, reason":                  false,
		"signup_steps: email:text*, user_id>users, editor_id>users, name":    false,
		"signup_steps: email:text*, user_id>users, place_id>places, note":    false,
		"clinics: id*, user_id>users, name, email!":                          false,
		"seats: id*, user_id?>users, customer_email!, row_no:integer":        false,
		"signup_steps: email:text*, user_id?>users=set_null, name":           false,
		"signup_steps: email:text*, created_by:bigint>users, name, q:number": false,
	} {
		p := propose(t, schema(users+"places: id*, name\n"+table), scaffold.Options{SubjectTable: "users"})
		name := schema(table).Tables[0].Name
		if mapped, ok := p.dataMap.Table(name); (ok && mapped.Owned) != want {
			t.Errorf("%s: the steps are %v, left out %v", table, p.steps(), p.LeftOut)
		}
		if !want && !slices.Contains(p.asked(), name) {
			t.Errorf("%s: asked about %v", table, p.asked())
		}
	}
}

func TestAnAddressThatNoRelationLeadsToIsAsked(t *testing.T) {
	for table, want := range map[string]int{
		"user_login_states: email:text*, failures:integer": 1,
		"login_locks: email:text*, until:time":             1,
		"reset_tickets: id*, user_email!, color":           1,
		"reset_tickets: id*, user_email, color":            0,
		"reset_tickets: id*, user_email!?, color":          0,
	} {
		p := propose(t, schema(users+table))
		if asked := p.questionsAbout(schema(table).Tables[0].Name, "It identifies a row"); len(asked) != want {
			t.Errorf("%s: asked %v", table, p.Decisions)
		}
	}
}

func TestAnAddressInAPartOfARowThatStaysIsAsked(t *testing.T) {
	p := propose(t, schema(users+`
		folders: id*, created_by:bigint>users, name
		readers: email:text*, folder_id>folders`), scaffold.Options{SubjectTable: "users"})
	asked := p.questionsAbout("readers", "email")
	if len(asked) != 1 || !strings.Contains(asked[0].Options[1], "BeforeErasure") {
		t.Errorf("asked %v", p.Decisions)
	}
}

// An erasure overwrites an address only in a column that is no key of the data map.
func TestAnotherKeyThanTheAddressIsChosen(t *testing.T) {
	p := propose(t, schema(users+`
		login_states: email:text*, number:bigint!, user_id>users, ip
		visits: id*, user_id>users, state_id:bigint>login_states, ip`))
	wantLines(t, p.steps(), `
		anonymize login_states email ip
		delete visits
		anonymize users email
	`)
}

// An export shows the key of a row.
func TestASecretIsNoOtherKey(t *testing.T) {
	p := propose(t, schema(users+"login_states: email:text*, token!, user_id>users, ip"))
	if mapped, ok := p.dataMap.Table("login_states"); !ok || !slices.Equal(mapped.PrimaryKey, []string{"email"}) {
		t.Errorf("the key is %v", mapped.PrimaryKey)
	}
}

// The row also belongs to the person whom the address names.
func TestAReferenceByTheAddressOfAnotherPersonDeletesNoRow(t *testing.T) {
	for _, follows := range []bool{false, true} {
		for column, want := range map[string]bool{"user_email": true, "recipient_email": false, "invited_by_email": false} {
			catalog := schema("users: id*, email!\ngreetings: id*, user_id>users=cascade, tint:integer, " + column)
			greetings := &catalog.Tables[1]
			greetings.ForeignKeys = append(greetings.ForeignKeys, datamap.CatalogForeignKey{
				Columns: []string{column}, References: "users", Referenced: []string{"email"}, Follows: follows,
			})
			p := propose(t, catalog)
			if mapped, ok := p.dataMap.Table("greetings"); (ok && mapped.Owned) != want {
				t.Errorf("%s, %t: the steps are %v", column, follows, p.steps())
			}
			if !slices.ContainsFunc(p.asked(), func(place string) bool { return strings.HasPrefix(place, "greetings") }) {
				t.Errorf("%s, %t: asked %v", column, follows, p.Decisions)
			}
		}
	}
}

// A relation by the address would keep the address of the person.
func TestAReferenceByTheAddressKeepsNoAddress(t *testing.T) {
	for name, test := range map[string]struct {
		lines   string
		follows bool
		want    bool
	}{
		"the database follows":     {"login_states: email:text*, failures:integer", true, true},
		"the address is the way":   {"login_states: email:text*, failures:integer", false, false},
		"another way, and follows": {"login_states: email:text*, user_id>users, failures:integer", true, true},
		"another way":              {"login_states: email:text*, user_id>users, failures:integer", false, false},
	} {
		t.Run(name, func(t *testing.T) {
			catalog := schema("users: id*, email!\n" + test.lines)
			states := &catalog.Tables[1]
			states.ForeignKeys = append(states.ForeignKeys, datamap.CatalogForeignKey{
				Columns: []string{"email"}, References: "users", Referenced: []string{"email"}, Follows: test.follows,
			})
			p := propose(t, catalog)
			if got := p.column(t, "users.email").Personal != nil; got != test.want {
				t.Errorf("an erasure overwrites the address: %t", got)
			}
			if paths := p.dataMap.Paths("login_states"); len(paths) > 1 {
				t.Errorf("the rows are of several people: %v", paths)
			}
			isAsked := len(p.questionsAbout("login_states", "only by an address")) == 1
			if want := name == "the database follows"; isAsked != want {
				t.Errorf("asked %v", p.Decisions)
			}
		})
	}
}

// A row that goes with both people in the same way seems to name one person by two of her keys.
func TestTwoKeysOfOnePersonAreNoSecondPerson(t *testing.T) {
	for columns, want := range map[string]bool{
		"user_id>users=cascade, ring_user_id=cascade":        true,
		"user_id>users=cascade, ring_user_id?=cascade":       false,
		"user_id>users=cascade, to_user_id=cascade":          false,
		"user_id>users=cascade, blocked_uuid:bigint=cascade": false,
		"user_id>users=cascade, peer_ring:bigint=cascade":    false,
		"user_id?>users=cascade, ring_user_id=cascade":       false,
		"user_id>users=cascade, ring_user_id=set_null":       false,
	} {
		last := strings.LastIndex(columns, "=")
		columns, action := columns[:last], columns[last+1:]
		catalog := schema("users: id*, email, ring_id!\nring_keys: id*, title, " + columns)
		keys := &catalog.Tables[1]
		keys.ForeignKeys = append(keys.ForeignKeys, datamap.CatalogForeignKey{
			Columns: []string{keys.Columns[3].Name}, References: "users", Referenced: []string{"ring_id"},
			OnDelete: datamap.ForeignKeyAction(action),
		})
		p := propose(t, catalog)
		mapped, ok := p.dataMap.Table("ring_keys")
		isAsked := len(p.questionsAbout("ring_keys", "Do both always name the same person?")) == 1
		if (ok && mapped.Owned) != want || isAsked != want {
			t.Errorf("%s: the steps are %v, asked %v", columns, p.steps(), p.Decisions)
		}
	}
}
