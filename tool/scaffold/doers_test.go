package scaffold_test

import (
	"slices"
	"strings"
	"testing"
)

// A row of a member holds the address of the person who invited her.
func TestAValueOfThePersonWhoDidSomethingIsNotOfTheRow(t *testing.T) {
	for lines, column := range map[string]string{
		"users: id*, email, invited_by_email?":                                           "users.invited_by_email",
		"users: id*, email, approver_name?":                                              "users.approver_name",
		"messages: id*, user_id>users, body, approved_by_email":                          "messages.approved_by_email",
		"orders: id*, user_id>users, email, requestedByName":                             "orders.requestedByName",
		"user_settings: id*, user_id>users=cascade, set_by_email":                        "",
		"profiles: id*, user_id!>users=cascade, updated_by_ip":                           "profiles.updated_by_ip",
		"profiles: id*, user_id!>users=cascade, verified_by_email":                       "profiles.verified_by_email",
		"messages: id*, inviter_id>users, body, invited_by_email":                        "",
		"messages: id*, user_id>users, body, created_by_name":                            "",
		"messages: id*, user_id>users, body, written_by_email":                           "",
		"messages: id*, user_id>users, body, invited_by_token":                           "",
		"messages: id*, user_id>users, body, sorted_by_name, e_mail":                     "",
		"messages: id*, author_id>users, approved_by_id?>users, body, approved_by_email": "messages.approved_by_email",
	} {
		if !strings.HasPrefix(lines, "users") {
			lines = users + lines
		}
		p := propose(t, schema(lines))
		var asked []string
		for _, d := range p.Decisions {
			if strings.Contains(d.Question, "another person than the one of the row") {
				for _, name := range d.Columns() {
					asked = append(asked, d.Table+"."+name)
				}
			}
		}
		if column == "" && len(asked) > 0 || column != "" && !slices.Equal(asked, []string{column}) {
			t.Errorf("%s: asked about %v", lines, asked)
		}
		if column != "" && p.column(t, column).Personal != nil {
			t.Errorf("%s is annotated", column)
		}
	}
}

// A table whose only personal column names another person is asked about as a whole.
func TestAMembershipWithTheAddressOfTheInviterIsLeftOut(t *testing.T) {
	p := propose(t, schema(users+`
		clubs: id*, title
		users_clubs: id*, user_id>users, club_id>clubs, color, invited_by_email?
		badges_clubs: badge_id*, users_clubs_id*>users_clubs
		badges: id*, club_id>clubs`))
	asked := p.questionsAbout("users_clubs", "Its rows lead to a person by user_id")
	if _, isMapped := p.dataMap.Table("users_clubs"); isMapped || len(asked) != 1 {
		t.Errorf("the data map has the table: %t, asked %v", isMapped, p.Decisions)
	}
}

func TestAPersonWhoseRoleIsUnknownDeletesNoRowOfAnother(t *testing.T) {
	const begin = users + "levels: id*, color\nlevel_users: id*, level_id>levels, "
	for columns, want := range map[string]string{
		"user_id>users, archiver_id?>users":         "user_id",
		"user_id>users, archiver_id?>users=cascade": "user_id",
		"user_id?>users, archiver_id?>users":        "user_id",
		"user_id>users, archiver_id>users=cascade":  "user_id archiver_id",
		"user_id>users, friend_id>users":            "user_id friend_id",
	} {
		p := propose(t, schema(begin+columns))
		table, _ := p.dataMap.Table("level_users")
		var paths []string
		for _, path := range p.dataMap.Paths("level_users") {
			paths = append(paths, path.Relations[0].Columns...)
		}
		asked := p.questionsAbout("level_users", "only to the person")
		if !table.Owned || strings.Join(paths, " ") != want || len(asked) != 1 {
			t.Errorf("%s: the paths are %v, asked %v", columns, paths, p.Decisions)
		}
	}
}

func TestAReportAboutOneOfSeveralTablesStays(t *testing.T) {
	for columns, want := range map[string]string{
		"reportable_type, reportable_id, reason": "anonymize abuse_reports reason",
		"reportable_type, reportable_id, color":  "",
		"reason":                                 "delete abuse_reports",
		"thing_id, reason":                       "delete abuse_reports",
	} {
		p := propose(t, schema(users+"abuse_reports: id*, user_id>users, "+columns))
		_, mapped := p.dataMap.Table("abuse_reports")
		if mapped != (want != "") || mapped && !slices.Contains(p.steps(), want) {
			t.Errorf("%s: the steps are %v, asked %v", columns, p.steps(), p.Decisions)
		}
	}
}
