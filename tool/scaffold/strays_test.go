package scaffold_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/habeas-data/habeas/tool/scaffold"
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
		"active_storage_blobs: id*, filename, size:bigint":        "active_storage_blobs.filename",
		"delayed_jobs: id*, handler, run_at:time":                 "delayed_jobs.handler",
		"river_job: id*, args:json":                               "river_job.args",
		"work_queue: id*, job_class, serialized_params:json":      "work_queue.serialized_params",
		"runs: id*, task_name, arguments":                         "runs.arguments",
		"mail_spool: id*, to_address:bytes, size:integer":         "mail_spool.to_address",
		"outbox: id*, topic_id, payload:json":                     "outbox.payload",
		"login_tokens: token*, kind, credential, expires_at:time": "login_tokens.credential",
		"verification: id*, token, subject, ends_at:time":         "verification.subject",
		"tokens: id*, color, subject":                             "",
		"sign_ins: id*, claims:json":                              "sign_ins",
		"request_payloads: id*, request_id, payload":              "users",
		"grants: id*, jwt:json, claims:json":                      "grants",
		"machine_settings: id*, value:json":                       "",
		"text_prompts: id*, params:json":                          "",
		"issuers: id*, jwks:json, configuration:json":             "",
		"prompts_of_users: id*, params:json":                      "users",
		"schedule_data: schedule_id*, data:json":                  "users",
		"config: id*, size:integer":                               "",
	} {
		p := propose(t, schema(users+line))
		if place == "" && len(p.Decisions) > 0 || place != "" && !slices.Equal(p.asked(), []string{place}) {
			t.Errorf("%s: asked %v", line, p.Decisions)
		}
	}
}

// The tables beside the jobs are named after them. Their arguments and other documents must not mix in one question.
func TestTheArgumentsOfJobsAreOneQuestion(t *testing.T) {
	p := propose(t, schema(users+`
		fast_jobs: id*, serialized_params:json
		fast_job_executions: id*, serialized_params:json
		fast_job_settings: id*, value:json
		fast_job_workers: id*, state:json
		raw_uploads: id*, extra:json`))
	want := "Columns fast_job_executions.serialized_params, fast_jobs.serialized_params: The arguments of jobs may"
	if len(p.questionsAbout("users", want)) != 1 || len(p.questionsAbout("users", "to users: raw_uploads.extra.")) != 1 ||
		len(p.Decisions) != 2 {
		t.Errorf("asked %v", p.Decisions)
	}
}

// A name alone may mean a person, so the reason must not say that no relation leads to people.
func TestAColumnNamedAfterWhoDidSomethingIsAsked(t *testing.T) {
	for column, want := range map[string]bool{
		"pusher_id": true, "submitter_id": true, "pusher_id:uuid": false, "order_id": false, "folder_id": false,
		"shelter_id": false, "pusher_id, pusher_type": false, "size": false, "server_id": false,
	} {
		p := propose(t, schema(users+"shelters: id*, size\nuses: id*, user_id>users=cascade\ntracks: id*, color, "+column))
		name, _, _ := strings.Cut(column, ":")
		if got := slices.Contains(p.asked(), "tracks."+name); got != want {
			t.Errorf("%s: asked %v", column, p.Decisions)
		}
		i := slices.IndexFunc(p.LeftOut, func(out scaffold.LeftOut) bool { return out.Table == "tracks" })
		if got := strings.Contains(p.LeftOut[i].Reason, "may mean a person"); got != want {
			t.Errorf("%s: the reason is %q", column, p.LeftOut[i].Reason)
		}
	}
	p := propose(t, schema(users+"tracks: id*, submitter_id\nbuilds: id*, pusher_id"))
	if len(p.questionsAbout("users", "Columns builds.pusher_id, tracks.submitter_id: The names may mean")) != 1 {
		t.Errorf("asked %v", p.Decisions)
	}
}

// A record of bookkeeping without a personal column would stay as it is.
func TestARecordThatRefersToThePersonIsAsked(t *testing.T) {
	p := propose(t, schema(users+"seat_purchases: id*, user_id>users, seats:integer"))
	if len(p.questionsAbout("seat_purchases", "by user_id, but no column looks personal")) != 1 {
		t.Errorf("asked %v", p.Decisions)
	}
	p = propose(t, schema(users+`
		seat_purchases: id*, user_id>users, seats:integer
		ticket_orders: id*, user_id>users, seats:integer
		wood_sales: id*, user_id>users, logs:integer`))
	want := "Tables seat_purchases (user_id), ticket_orders (user_id), wood_sales (user_id)"
	if len(p.questionsAbout("users", want)) != 1 {
		t.Errorf("asked %v", p.Decisions)
	}
}

// A secret that stands for a person at an identity provider tells about her.
func TestWhatAnIdentityProviderTellsIsAsked(t *testing.T) {
	p := propose(t, schema(users+`
		access_roles: id*, user_id>users, name, path
		id_documents: id*, access_role_id>access_roles, jwt:json`))
	if len(p.questionsAbout("id_documents", "(jwt)")) != 1 {
		t.Errorf("asked %v", p.Decisions)
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

func TestValuesOfPeopleInTablesWithoutRelationsAreAsked(t *testing.T) {
	for line, want := range map[string]string{
		"checkouts: id*, payer_id:text, transaction_id:text":     "payer_id",
		"checkouts: id*, carrier_id:text, transaction_id:text":   "",
		"points: id*, discord_id:text!, amount:integer":          "list people",
		"channels: id*, discord_id:text!, amount:integer":        "",
		"blocked_emails: id*, value, blocker_id:bigint, at:time": "blocker_id",
		"2024: id*, name":                                          "",
		"reserved_usernames: id*, name, at:time":                   "seems to list people",
		"blocked_emails: id*, value, at:time":                      "seems to list people",
		"email_templates: id*, value, at:time":                     "",
		"display_names: id*, value, locale":                        "",
		"logins: id*, method:enum(password|link), amount:integer?": "",
	} {
		p := propose(t, schema(users+line))
		name, _, _ := strings.Cut(line, ":")
		if asked := p.questionsAbout(name, want); (len(asked) == 1) != (want != "") || want == "" && len(asked) > 0 {
			t.Errorf("%s: asked %v", line, p.Decisions)
		}
	}
}

func TestTheValuesOfAStoreAreAsked(t *testing.T) {
	for line, want := range map[string]int{
		"kv_store: key:text*, value:text": 1, "book_stores: key:text*, size": 0, "units: key:text*, value:text": 0,
	} {
		p := propose(t, schema(users+line))
		name, _, _ := strings.Cut(line, ":")
		if asked := p.questionsAbout("users", name+".value"); len(asked) != want {
			t.Errorf("%s: asked %v", line, p.Decisions)
		}
	}
}
