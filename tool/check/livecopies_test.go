package check_test

// deletes is a trigger function that deletes notes. The table notes is in the data map as notesInManifest.
const deletes = `CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS
	$$ BEGIN DELETE FROM notes WHERE about = OLD.nick; TRUNCATE others; RETURN NEW; END $$`

var (
	makeNotes = []string{
		`CREATE TABLE others (id bigint PRIMARY KEY)`,
		`CREATE TABLE notes (id bigint PRIMARY KEY, user_id bigint REFERENCES users, about text)`,
		`CREATE INDEX ON notes (user_id)`, deletes,
	}
	notesInManifest = `, {"name": "notes", "primary_key": ["id"], "owned": true, "columns": [
		{"name": "id", "type": "bigint"}, {"name": "user_id", "type": "bigint"}, {"name": "about", "type": "text"}],
		"relations": [` + relationInManifest("user_id", "users") + `]}`
)

// copyDangers are further dangers.
var copyDangers = map[string]liveCase{
	"a trigger writes a value beside a count": {
		statements: []string{
			`CREATE TABLE totals (id bigint PRIMARY KEY, n bigint, last text)`,
			`CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
				UPDATE totals SET n = n + 1, last = NEW.email; RETURN NEW; END $$`,
			keep("UPDATE"),
		},
		want: []string{"trigger-writes-outside users keep"},
	},
	"a materialized view keeps the name that a view gives a column": {
		statements: []string{
			`CREATE VIEW addresses AS SELECT id, email AS one FROM users`,
			`CREATE MATERIALIZED VIEW reach AS SELECT id, one FROM addresses`,
		},
		want: []string{"view-copies reach reach"},
	},
	"a history with a neutral name": {
		statements: []string{`CREATE TABLE zchanges (id bigint PRIMARY KEY, tbl text, old_row jsonb, new_row jsonb)`},
		want:       []string{"table-personal zchanges.old_row"},
	},
	"a history of old values": {
		statements: []string{`CREATE TABLE zchanges (id bigint PRIMARY KEY, old_values json)`},
		want:       []string{"table-personal zchanges.old_values"},
	},
	"a history of before and after": {
		statements: []string{`CREATE TABLE zchanges (id bigint PRIMARY KEY, before jsonb, after jsonb)`},
		want:       []string{"table-personal zchanges.before"},
	},
	"a backup": {
		statements: []string{`CREATE TABLE users_backup AS SELECT id, nick, created_at FROM users`},
		want:       []string{"table-personal users_backup.nick"},
	},
	"a backup of a year": {
		statements: []string{`CREATE TABLE users_2024 AS SELECT id, nick FROM users`},
		want:       []string{"table-personal users_2024.nick"},
	},
	"an old table": {
		statements: []string{`CREATE TABLE old_users AS SELECT id, nick FROM users`},
		want:       []string{"table-personal old_users.nick"},
	},
	"a copy with another name": {
		statements: []string{
			`ALTER TABLE users ADD COLUMN theme text, ADD COLUMN pages integer`,
			`CREATE TABLE zarch AS SELECT id, nick, theme, pages, created_at FROM users`,
		},
		want: []string{"table-personal zarch.nick"},
	},
	"arrays of people": {
		statements: []string{
			`CREATE TABLE rooms (id bigint PRIMARY KEY, members bigint[])`,
			`CREATE TABLE talks (id bigint PRIMARY KEY, participants integer[])`,
		},
		want: []string{"table-unlinked rooms.members", "table-unlinked talks.participants"},
	},
	"a role before the name of the people": {
		statements: []string{
			`CREATE TABLE pings (id bigint PRIMARY KEY, sub_user_id bigint)`,
			`CREATE TABLE pokes (id bigint PRIMARY KEY, actor_id bigint)`,
		},
		want: []string{"table-unlinked pings.sub_user_id", "table-unlinked pokes.actor_id"},
	},
	"the owner of a resource of OAuth": {
		statements: []string{`CREATE TABLE grants (id bigint PRIMARY KEY, resource_owner_id text)`},
		want:       []string{"table-unlinked grants.resource_owner_id"},
	},
	"addresses of visitors": {
		statements: []string{
			`CREATE TABLE session_logs (id bigint PRIMARY KEY, ip_address text, controller text)`,
			`CREATE TABLE zseen (id bigint PRIMARY KEY, ip inet, ua text)`,
		},
		want: []string{"table-personal session_logs.ip_address", "table-personal zseen.ip, ua"},
	},
	"tokens of OpenID Connect": {
		statements: []string{`CREATE TABLE oidc_instances (id text PRIMARY KEY, payload jsonb)`},
		want:       []string{"table-personal oidc_instances.payload"},
	},
	"a constant in an index on an expression": {
		statements: []string{`ALTER TABLE users ADD COLUMN tel text`, `CREATE UNIQUE INDEX one ON users (lower(tel))`},
		columns: `, {"name": "tel", "type": "text", "surrogate": "gone",
			"personal": {"category": "contact", "erasure": "anonymize"}}`,
		want: []string{"unique-violated users.tel one"},
	},
	"a trigger deletes rows of other people": {
		statements: append(makeNotes, keep("UPDATE")),
		tables:     notesInManifest,
		want:       []string{"trigger-deletes users keep"},
	},
}

// safeCopies are the twins of copyDangers.
var safeCopies = map[string]liveCase{
	"a trigger counts": {
		statements: []string{
			`CREATE TABLE totals (id bigint PRIMARY KEY, n bigint, people bigint)`,
			`CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
				UPDATE totals SET n = n + 1, people = (SELECT count(*) FROM users AS u WHERE u.email = NEW.email) WHERE id = 1;
				UPDATE totals SET n = greatest(coalesce(n, 0) - 1, 0); RETURN NEW; END $$`,
			keep("UPDATE"),
		},
	},
	"documents before a change": {
		statements: []string{
			`CREATE TABLE sorts (id bigint PRIMARY KEY, before jsonb)`, `CREATE TABLE moves (id bigint PRIMARY KEY, old jsonb)`,
			`CREATE TABLE widths (id bigint PRIMARY KEY, old_row bigint, new_row bigint)`,
		},
	},
	"a table with columns of the users and a reference of its own": {
		statements: []string{
			`ALTER TABLE users ADD COLUMN hat text, ADD COLUMN coat text`, `CREATE TABLE rooms (id bigint PRIMARY KEY)`,
			`CREATE TABLE closets (id bigint PRIMARY KEY, nick text, hat text, coat text, room_id bigint REFERENCES rooms)`,
		},
		columns: `, {"name": "hat", "type": "text"}, {"name": "coat", "type": "text"}`,
	},
	"tables that are no backups": {
		statements: []string{
			`CREATE TABLE backups (id bigint PRIMARY KEY, nick text)`, `CREATE TABLE team_users_backup (id bigint PRIMARY KEY)`,
			`CREATE TABLE users_backup (id bigint PRIMARY KEY, done boolean)`,
		},
	},
	"a table with the usual columns": {
		columns: `, {"name": "title", "type": "text", "not_personal": true}`,
		statements: []string{
			`ALTER TABLE users ADD COLUMN title text, ADD COLUMN status text, ADD COLUMN theme text`,
			`CREATE TABLE pages (id bigint PRIMARY KEY, nick text, title text, status text, theme text, created_at timestamptz)`,
		},
	},
	"a table with a few of the columns": {
		statements: []string{
			`ALTER TABLE users ADD COLUMN theme text, ADD COLUMN pages integer`,
			`CREATE TABLE bots (id bigint PRIMARY KEY, nick text, theme text, pages integer, a text, b text, c text, d text)`,
		},
	},
	"arrays of other types": {
		statements: []string{`CREATE TABLE rooms (id bigint PRIMARY KEY, members text[], authors uuid[], sizes bigint[])`},
	},
	"the ids of others in texts": {
		statements: []string{`CREATE TABLE grants (id bigint PRIMARY KEY, owner_id text, user_id text)`},
	},
	"addresses of machines": {
		statements: []string{
			`CREATE TABLE servers (id bigint PRIMARY KEY, ip inet, label text)`,
			`CREATE TABLE crawls (id bigint PRIMARY KEY, user_agent text)`,
		},
	},
	"documents of tokens": {
		statements: []string{
			`CREATE TABLE tokens (id text PRIMARY KEY, scopes jsonb)`, `CREATE TABLE oidc_apps (id text PRIMARY KEY, data text)`,
		},
	},
	"a constant in an index on an expression of two columns": {
		statements: []string{
			`ALTER TABLE users ADD COLUMN tel text, ADD COLUMN area text`,
			`CREATE UNIQUE INDEX one ON users (lower(tel || area))`,
		},
		columns: `, {"name": "tel", "type": "text", "surrogate": "gone",
			"personal": {"category": "contact", "erasure": "anonymize"}}, {"name": "area", "type": "text"}`,
		want: []string{"unique-undecided users.tel one"},
	},
	"a trigger deletes rows at an INSERT": {
		statements: append(makeNotes, keep("INSERT")), tables: notesInManifest,
	},
}
