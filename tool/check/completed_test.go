package check_test

// stated returns a table of the manifest whose rows an erasure keeps, with the column user_id, which refers to a user,
// and further columns in JSON.
func stated(name, columns string) string {
	return `, {"name": "` + name + `", "primary_key": ["id"], "columns": [{"name": "id", "type": "bigint"},
		{"name": "user_id", "type": "bigint"}, {"name": "agent", "type": "text", "personal": {"category": "technical",
		"erasure": "anonymize"}}` + columns + `], "relations": [` + relationInManifest("user_id", "users") + `]}`
}

// onUsers creates a trigger on users with the code, which runs after each UPDATE.
func onUsers(code string) []string {
	return []string{
		`CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN ` + code + ` RETURN NULL; END $$`,
		"CREATE TRIGGER keep AFTER UPDATE ON users FOR EACH ROW EXECUTE FUNCTION f()",
	}
}

// completedDangers are dangers in databases whose data map an expert has completed.
var completedDangers = map[string]liveCase{
	"an index converts a surrogate": {
		statements: []string{`ALTER TABLE users ADD COLUMN code text`, `CREATE INDEX one ON users ((code::integer))`},
		columns:    annotated("code", "gone"), want: []string{"surrogate-cast users.code one"},
	},
	"an index converts what a function makes of a surrogate": {
		statements: []string{`ALTER TABLE users ADD COLUMN code text`, `CREATE INDEX one ON users ((lower(code)::uuid))`},
		columns:    annotated("code", "gone"), want: []string{"surrogate-cast users.code one"},
	},
	"an index reads a member of a document in a text": {
		statements: []string{
			`ALTER TABLE users ADD COLUMN code varchar(80)`, `CREATE INDEX one ON users ((code::jsonb ->> 'x'))`,
			`CREATE INDEX two ON users USING gin ((code::jsonb))`,
		},
		columns: annotated("code", "''"),
		want:    []string{"surrogate-cast users.code one", "surrogate-cast users.code two"},
	},
	"the condition of an index converts a surrogate": {
		statements: []string{
			`ALTER TABLE users ADD COLUMN code text`, `CREATE INDEX one ON users (id) WHERE btrim(code, ' ')::integer > 2`,
		},
		columns: annotated("code", "gone"), want: []string{"surrogate-cast users.code one"},
	},
	"a trigger deletes rows of another person": {
		statements: append(makeNotes[:3:3], onUsers(
			`DELETE FROM notes n USING users u WHERE n.id = OLD.id AND u.id = n.user_id;`)...),
		tables: notesInManifest,
		want:   []string{"trigger-deletes users keep"},
	},
	"a trigger deletes things outside the data map": {
		statements: append(onUsers(`DELETE FROM boards AS b USING users u WHERE b.size = u.id;`),
			`CREATE TABLE boards (id bigint PRIMARY KEY, size bigint)`),
		want: []string{"trigger-deletes users keep"},
	},
	"a trigger refuses each change of a value": {
		statements: []string{
			`CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
				IF TG_OP = 'UPDATE' AND OLD.email <> NEW.email THEN RAISE EXCEPTION 'no'; END IF; RETURN NEW; END $$`,
			keep("INSERT OR UPDATE"),
		},
		want: []string{"trigger-refuses users keep"},
	},
	"relations without a condition": {
		statements: []string{
			`CREATE TABLE pages (id bigint PRIMARY KEY, owner_type varchar(40) NOT NULL, owner_id bigint NOT NULL)`,
			`CREATE TABLE notes (id bigint PRIMARY KEY, owner_type varchar(40) NOT NULL
				CHECK (owner_type IN ('User', 'Visit')), owner_id bigint NOT NULL)`,
			`CREATE INDEX ON pages (owner_id)`, `CREATE INDEX ON notes (owner_id)`,
		},
		tables: ownedInManifest("pages", "owner_id", relationInManifest("owner_id", "users")) +
			ownedInManifest("notes", "owner_id", relationInManifest("owner_id", "users")),
		want: []string{"condition-missing notes.owner_id", "condition-missing pages.owner_id"},
	},
	"a copy of the people with a list": {
		statements: []string{`CREATE TABLE users_backup (id bigint PRIMARY KEY, email text, watchers bigint[])`},
		want:       []string{"table-personal users_backup.email", "table-unlinked users_backup.watchers"},
	},
	"a trigger deletes invoices outside the data map": {
		statements: append(onUsers(`DELETE FROM invoices WHERE n = OLD.id;`),
			`CREATE TABLE invoices (id bigint PRIMARY KEY, n bigint)`),
		want: []string{"trigger-deletes users keep"},
	},
	"a history beside the type of its rows": {
		statements: []string{`CREATE TABLE change_history (id bigint PRIMARY KEY, object_type text, object jsonb)`},
		want:       []string{"table-personal change_history.object"},
	},
	"a list of things and a list of people": {
		statements: []string{`CREATE TABLE boards (id bigint PRIMARY KEY, guest_targets jsonb, team_watchers jsonb)`},
		want:       []string{"table-unlinked boards.guest_targets", "table-unlinked boards.team_watchers"},
	},
	"lists of texts and documents about people": {
		statements: []string{
			`ALTER TABLE visits ADD COLUMN guests text[], ADD COLUMN contacts jsonb[], ADD COLUMN tags text[]`,
		},
		want: []string{"personal-unannotated visits.contacts", "personal-unannotated visits.guests"},
	},
	"a list of documents about the person": {
		statements: []string{`ALTER TABLE users ADD COLUMN facts jsonb[]`},
		want:       []string{"personal-unannotated users.facts"},
	},
	"a value in a document is not also a list of keys": {
		statements: []string{`ALTER TABLE visits ADD COLUMN bank_accounts jsonb`},
		want:       []string{"personal-unannotated visits.bank_accounts"},
	},
	"references to people without an ending": {
		statements: []string{
			`CREATE TABLE boards (id bigint PRIMARY KEY, member integer)`,
			`CREATE TABLE lists (id bigint PRIMARY KEY, author bigint)`,
			`ALTER TABLE visits ADD COLUMN customer bigint, ADD COLUMN assignee integer`,
		},
		want: []string{
			"path-missing visits.assignee", "path-missing visits.customer", "table-unlinked boards.member",
			"table-unlinked lists.author",
		},
	},
	"the owner of a group in a notification without an addressee": {
		statements: []string{
			`CREATE TABLE notifications (id bigint PRIMARY KEY, visit_id bigint REFERENCES visits ON DELETE CASCADE,
				group_owner_id bigint)`,
			`CREATE INDEX ON notifications (visit_id)`,
		},
		tables: ownedInManifest("notifications", "visit_id group_owner_id", relationInManifest("visit_id", "visits")),
		want:   []string{"path-missing notifications.group_owner_id"},
	},
	"the owner of a group beside the person of a visit": {
		statements: []string{`ALTER TABLE visits ADD COLUMN group_owner_id bigint`},
		want:       []string{"path-missing visits.group_owner_id"},
	},
}

// completedSafe are the twins
// completedSafe are the twins of completedDangers.
var completedSafe = map[string]liveCase{
	"relations that need no condition": {
		statements: []string{
			`CREATE TABLE pages (id bigint PRIMARY KEY, owner_type varchar(40) NOT NULL, owner_id bigint REFERENCES users)`,
			`CREATE TABLE notes (id bigint PRIMARY KEY, owner_type varchar(40) NOT NULL CHECK (owner_type IN ('User')),
				owner_id bigint NOT NULL)`,
			`CREATE INDEX ON pages (owner_id)`, `CREATE INDEX ON notes (owner_id)`,
		},
		tables: ownedInManifest("pages", "owner_id", relationInManifest("owner_id", "users")) +
			ownedInManifest("notes", "owner_id", relationInManifest("owner_id", "users")),
		want: []string{"foreign-key-missing notes.owner_id"},
	},
	"indexes that accept a surrogate": {
		statements: []string{
			`ALTER TABLE users ADD COLUMN code text, ADD COLUMN data jsonb, ADD COLUMN n text`,
			`CREATE INDEX one ON users ((NULLIF(code, '')::integer))`, `CREATE INDEX two ON users (((data ->> 'n')::integer))`,
			`CREATE INDEX three ON users ((md5(code)::uuid)) WHERE lower(code) <> ''`,
			`CREATE INDEX four ON users ((n::integer))`,
			`CREATE INDEX five ON users ((lower(code)::varchar(10)))`,
		},
		columns: annotated("code", "''") + annotated("n", "0") + `, {"name": "data", "type": "json", "personal":
			{"category": "identity", "erasure": "anonymize"}}`,
	},
	"a trigger deletes rows of the person of its row": {
		statements: append(makeNotes[:3:3], onUsers(
			`DELETE FROM notes n USING others o WHERE o.id = n.id AND n.user_id = OLD.id;
				DELETE FROM visits WHERE user_id = OLD.id;`)...),
		tables: notesInManifest,
	},
	"a key with a tenant beside the reference to the person": {
		statements: []string{
			`ALTER TABLE users ADD COLUMN tenant bigint`, `CREATE UNIQUE INDEX ON users (tenant, id)`,
			`ALTER TABLE visits ADD COLUMN tenant bigint, ADD FOREIGN KEY (tenant, user_id) REFERENCES users (tenant, id)`,
		},
	},
	"a trigger refuses the change of another value": {
		statements: []string{
			`ALTER TABLE users ADD COLUMN code bigint`,
			`CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
				IF OLD.code <> NEW.code OR OLD.id IS DISTINCT FROM NEW.id THEN RAISE EXCEPTION 'no'; END IF; RETURN NEW; END $$`,
			keep("UPDATE"),
		},
	},
	"lists of things": {
		statements: []string{
			`CREATE TABLE signals (id bigint PRIMARY KEY)`,
			`CREATE TABLE boards (id bigint PRIMARY KEY, signal_targets jsonb, connector_targets jsonb)`,
			`ALTER TABLE visits ADD COLUMN signal_targets text[], ADD COLUMN tags jsonb[]`,
		},
	},
	"numbers that are no references": {
		statements: []string{
			`CREATE TABLE authors (id bigint PRIMARY KEY)`,
			`CREATE TABLE boards (id bigint PRIMARY KEY, members integer, author bigint, size_per_user bigint,
				reviewer smallint)`,
			`ALTER TABLE visits ADD COLUMN owner text, ADD COLUMN poster bigint, ADD COLUMN account boolean`,
		},
	},
	"the owner of a group beside the addressee": {
		statements: []string{
			`CREATE TABLE notifications (id bigint PRIMARY KEY, user_id bigint REFERENCES users, group_owner_id bigint,
				agent text)`,
			`CREATE INDEX ON notifications (user_id)`,
		},
		tables: stated("notifications", `, {"name": "group_owner_id", "type": "bigint"}`),
	},
	"a reference without personal data by its annotation": {
		statements: []string{
			`CREATE TABLE notes (id bigint PRIMARY KEY, user_id bigint REFERENCES users, author_id bigint, agent text)`,
			`CREATE INDEX ON notes (user_id)`,
		},
		tables: stated("notes", `, {"name": "author_id", "type": "bigint", "not_personal": true}`),
	},
	"tokens with the secret of an application": {
		statements: []string{
			`CREATE TABLE app_secrets (id bigint PRIMARY KEY, hashed_secret text)`,
			`CREATE TABLE app_tokens (id bigint PRIMARY KEY, user_id bigint REFERENCES users, agent text,
				app_secret_id bigint REFERENCES app_secrets)`,
			`CREATE INDEX ON app_tokens (user_id)`,
		},
		tables: stated("app_tokens", `, {"name": "app_secret_id", "type": "bigint"}`),
	},
	"references to those who decide about rows, beside records and people of another table": {
		statements: []string{
			`CREATE TABLE payees (id bigint PRIMARY KEY, size bigint)`,
			`CREATE TABLE boards (id bigint PRIMARY KEY, fulfilled_by_id bigint REFERENCES users, payee_id bigint,
				reviewer_id bigint)`,
			`CREATE TABLE attempts (id bigint PRIMARY KEY, payout_type text, payout_id bigint)`,
		},
		want: []string{"makers-unmapped users"},
	},
	"what a notification is about": {
		statements: []string{
			`CREATE TABLE notification_messages (id bigint PRIMARY KEY, user_id bigint REFERENCES users, agent text,
				targets bigint[])`,
			`CREATE INDEX ON notification_messages (user_id)`,
		},
		tables: stated("notification_messages", `, {"name": "targets", "type": "array"}`),
	},
	"targets of something else": {
		statements: []string{`ALTER TABLE visits ADD COLUMN targets bigint[]`},
		want:       []string{"path-missing visits.targets"},
	},
}
