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
	notesInManifest = `, {"name": "notes", "primary_key": ["id"], "owned": true, "columns": [{"name": "id", "type": "bigint"},
		{"name": "user_id", "type": "bigint"}, {"name": "about", "type": "text"}], "relations": [` +
		relationInManifest("user_id", "users") + `]}`
)

// copyDangers are further dangers.
var copyDangers = map[string]liveCase{
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
	"a trigger deletes rows of other people": {
		statements: append(makeNotes, keep("UPDATE")),
		tables:     notesInManifest,
		want:       []string{"trigger-deletes users keep"},
	},
}

// safeCopies are the twins of copyDangers.
var safeCopies = map[string]liveCase{
	"documents before a change": {
		statements: []string{
			`CREATE TABLE sorts (id bigint PRIMARY KEY, before jsonb)`, `CREATE TABLE moves (id bigint PRIMARY KEY, old jsonb)`,
			`CREATE TABLE widths (id bigint PRIMARY KEY, old_row bigint, new_row bigint)`,
		},
	},
	"tables that are no backups": {
		statements: []string{
			`CREATE TABLE backups (id bigint PRIMARY KEY, nick text)`, `CREATE TABLE team_users_backup (id bigint PRIMARY KEY)`,
			`CREATE TABLE users_backup (id bigint PRIMARY KEY, done boolean)`,
		},
	},
	"a table with the usual columns": {
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
	"a trigger deletes rows at an INSERT": {
		statements: append(makeNotes, keep("INSERT")), tables: notesInManifest,
	},
}
