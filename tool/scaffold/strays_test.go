package scaffold_test

import (
	"slices"
	"strings"
	"testing"
)

func TestTheNumberAtAProviderIsPersonal(t *testing.T) {
	for _, column := range []string{"account_id:text", "subject_id:text", "accountId:text", "providerAccountId:text"} {
		name, _, _ := strings.Cut(column, ":")
		for _, key := range []string{"user_id:text>users=cascade", "user_id:text>users/tenant_id=cascade"} {
			p := propose(t, schema(`
				users: id:text*, email, tenant_id
				accounts: id:text*, `+key+`, tenant_id, provider_id:text, `+column))
			if c := p.column(t, "accounts."+name); c.Personal == nil {
				t.Errorf("%s, %s is not annotated", key, name)
			}
		}
	}
	p := propose(t, schema(users+"auth_link_requests: id*, provider_id:text, subject_id:text, claims:json"))
	if len(p.questionsAbout("auth_link_requests", "subject_id")) != 1 {
		t.Errorf("asked %v", p.Decisions)
	}
}

func TestPartsOfRowsThatAreLeftOutAreAsked(t *testing.T) {
	for _, line := range []string{
		"gpx_file_tags: id*, gpx_id>gpx_files, tag",
		"user_verification_codes: id*, gpx_id!>gpx_files=cascade, code:integer",
		"gpx_keys: id*, gpx_id>gpx_files=cascade, secret_key",
	} {
		p := propose(t, schema(users+"gpx_files: id*, user_id>users, name, latitude:number\n"+line))
		name, _, _ := strings.Cut(line, ":")
		if !slices.Contains(p.asked(), name) {
			t.Errorf("%s: asked %v", name, p.Decisions)
		}
	}
	p := propose(t, schema(users+`
		workspaces: id*, created_by:bigint>users, name
		workspace_roles: id*, workspace_id>workspaces, name`))
	if slices.Contains(p.asked(), "workspace_roles") {
		t.Errorf("asked %v", p.Decisions)
	}
	p = propose(t, schema(users+`
		gpx_files: id*, user_id>users, name, latitude:number
		sizes: id*, gpx_id>gpx_files, size`))
	if slices.Contains(p.asked(), "sizes") {
		t.Errorf("asked %v", p.Decisions)
	}
}

func TestDataOutsideEachRelationIsAsked(t *testing.T) {
	for line, place := range map[string]string{
		"active_storage_blobs: id*, filename, size:bigint": "active_storage_blobs.filename",
		"delayed_jobs: id*, handler, run_at:time":          "delayed_jobs.handler",
		"river_job: id*, args:json":                        "river_job.args",
		"schedule_data: schedule_id*, data:json":           "users",
		"config: id*, size:integer":                        "",
	} {
		p := propose(t, schema(users+line))
		if place == "" && len(p.Decisions) > 0 || place != "" && !slices.Equal(p.asked(), []string{place}) {
			t.Errorf("%s: asked %v", line, p.Decisions)
		}
	}
}

func TestTheNumberOfACardInAGameIsNotPersonal(t *testing.T) {
	p := propose(t, schema(users+"cards: id*, created_by:bigint>users, card_number:integer"))
	if asked := p.questionsAbout("cards", "personal"); len(asked) != 0 {
		t.Errorf("asked %v", asked)
	}
}

// A library for logins adds the id of the person at a provider to the table of the people.
func TestIdsAtProvidersInTheTableOfThePeople(t *testing.T) {
	for column, key := range map[string]string{
		"external_user_id": "text", "slack_user_id": "text", "auth0_user_id": "text", "acme_user_id": "text",
		"auth0UserId": "text", "acme_account_id": "text", "gh_id": "bigint", "google_id": "bigint", "fb_id": "bigint",
		"apple_id": "bigint", "twitter_id": "bigint", "discord_id": "bigint", "acme_user_id:text": "bigint",
		"discord_user_id:bigint": "bigint", "gh_id:text": "uuid",
	} {
		name, _, typed := strings.Cut(column, ":")
		if !typed {
			column += ":" + key
		}
		p := propose(t, schema("users: id:"+key+"*, email, "+column))
		c := p.column(t, "users."+name)
		if c.Personal == nil || c.Personal.Category != "technical" || c.Personal.Strategy != "anonymize" {
			t.Errorf("%s, key %s: the annotation is %+v, asked %v", column, key, c.Personal, p.Decisions)
		}
		if users := p.dataMap.SubjectTable(); len(users.Relations) != 0 {
			t.Errorf("%s, key %s: relations %v", column, key, users.Relations)
		}
	}
}

func TestReferencesToOtherPeopleInTheTableOfThePeople(t *testing.T) {
	for _, column := range []string{"parent_user_id", "invited_by_id", "manager_user_id", "merged_into_user_id"} {
		p := propose(t, schema("users: id:text*, email, "+column+":text"))
		if users := p.dataMap.SubjectTable(); len(users.Relations) != 1 {
			t.Errorf("%s: relations %v", column, users.Relations)
		}
	}
	p := propose(t, schema("users: id:text*, email, slack_user_id:text>users"))
	if users := p.dataMap.SubjectTable(); len(users.Relations) != 1 {
		t.Errorf("a foreign key: relations %v", users.Relations)
	}
	p = propose(t, schema("users: id:bigint*, email, acme_user_id:bigint"))
	if len(p.questionsAbout("users", "in another system")) != 1 || len(p.dataMap.SubjectTable().Relations) != 0 {
		t.Errorf("a number: asked %v", p.Decisions)
	}
	p = propose(t, schema("users: id:text*, email, acme_member_id:text\nmembers: id:integer*, size:integer"))
	if c := p.column(t, "users.acme_member_id"); c.Personal != nil {
		t.Error("the key of another table is annotated")
	}
}

// The unique index may leave out the value that an erasure writes.
func TestAUniqueIndexOfSomeRowsMayRefuseTheSecondErasure(t *testing.T) {
	for partial, want := range map[bool]string{true: "the second erasure may fail", false: "the second erasure fails"} {
		catalog := schema("users: id*, email, gh_id:integer!")
		catalog.Tables[0].Uniques[0].Partial = partial
		if p := propose(t, catalog); len(p.questionsAbout("users", want)) != 1 {
			t.Errorf("partial %v: asked %v", partial, p.Decisions)
		}
	}
}
