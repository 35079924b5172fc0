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
