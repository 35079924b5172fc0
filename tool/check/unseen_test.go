package check_test

import (
	"maps"
	"slices"
	"strings"
	"testing"
)

// logins are people in two tables: users has the logins, and accounts one row for each user, to which the other tables
// refer.
var (
	logins = []string{
		`CREATE TABLE accounts (uid uuid PRIMARY KEY, user_id bigint NOT NULL UNIQUE REFERENCES users, name text)`,
	}
	accountsInManifest = `, {"name": "accounts", "primary_key": ["uid"], "columns": [
		{"name": "uid", "type": "uuid"}, {"name": "user_id", "type": "bigint"},
		{"name": "name", "type": "text", "personal": {"category": "identity", "erasure": "null"}}],
		"relations": [` + relationInManifest("user_id", "users") + `]}`
)

// onLetters creates letters, which an erasure keeps but writes, and a trigger that runs the code before it writes them.
func onLetters(column, events, code string) []string {
	return []string{
		`CREATE TABLE letters (id bigint PRIMARY KEY, user_id bigint REFERENCES users, line text, ` + column + `)`,
		`CREATE INDEX ON letters (user_id)`,
		`CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN ` + code + ` RETURN NEW; END $$`,
		"CREATE TRIGGER fill BEFORE " + events + " ON letters FOR EACH ROW EXECUTE FUNCTION f()",
	}
}

// keptLetters returns letters of the manifest with an overwritten line and a further column.
func keptLetters(column string) string {
	return `, {"name": "letters", "primary_key": ["id"], "columns": [{"name": "id", "type": "bigint"},
		{"name": "user_id", "type": "bigint"}, ` + column + `{"name": "line", "type": "text",
			"personal": {"category": "communication", "erasure": "null"}}],
		"relations": [` + relationInManifest("user_id", "users") + `]}`
}

const (
	selectsEmail = `(SELECT nick || ' ' || email FROM users WHERE id = NEW.user_id)`
	oneCode      = `, {"name": "code", "type": "text", "surrogate": "''",
		"personal": {"category": "identity", "erasure": "anonymize"}}`
)

// unseenDangers are dangers of schemas that no rule had seen.
var unseenDangers = map[string]liveCase{
	"a trigger fills a text with values of the people": {
		statements: onLetters("label text", "INSERT OR UPDATE", "NEW.label := "+selectsEmail+";"),
		tables:     keptLetters(`{"name": "label", "type": "text"}, `),
		want:       []string{"trigger-copies letters.label fill"},
	},
	"a trigger fills a text outside the data map with values of the people": {
		statements: onLetters("label text", "INSERT OR UPDATE OF line", "NEW.label := "+selectsEmail+";"),
		tables:     keptLetters(""), want: []string{"trigger-copies letters.label fill"},
	},
	"a trigger fills a tsvector with words of the people": {
		statements: onLetters("doc tsvector", "INSERT OR UPDATE", "NEW.doc := to_tsvector('simple', "+selectsEmail+");"),
		tables:     keptLetters(""), want: []string{"search-copies letters.doc"},
	},
	"a trigger selects words of the people into a tsvector": {
		statements: onLetters("doc tsvector", "INSERT OR UPDATE",
			"SELECT to_tsvector('simple', nick || email) INTO NEW.doc FROM users WHERE id = NEW.user_id;"),
		tables: keptLetters(""), want: []string{"search-copies letters.doc"},
	},
	"a trigger reads its own table": {
		statements: []string{
			addBefore, `CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS
				$$ BEGIN NEW.before := (SELECT email FROM users WHERE id = NEW.id); RETURN NEW; END $$`,
			keep("UPDATE"),
		},
		want: []string{"trigger-copies users.before keep"},
	},
	"a trigger refuses the change of a value that another trigger sets": {
		statements: append(onUsers("IF OLD.code IS DISTINCT FROM NEW.code THEN RAISE EXCEPTION 'no'; END IF; RETURN NEW;"),
			`ALTER TABLE users ADD COLUMN code bigint`,
			`CREATE FUNCTION g() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN NEW.code := 5; RETURN NEW; END $$`,
			`CREATE TRIGGER a BEFORE UPDATE ON users FOR EACH ROW EXECUTE FUNCTION g()`),
		want: []string{"trigger-refuses users keep of users"},
	},
	"a trigger refuses the change of a reference that the database clears": {
		statements: []string{
			`CREATE TABLE letters (id bigint PRIMARY KEY, user_id bigint REFERENCES users, line text,
				visit_id bigint REFERENCES visits ON DELETE SET NULL)`,
			`CREATE INDEX ON letters (user_id)`, `CREATE INDEX ON letters (visit_id)`,
			`CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
				IF OLD.visit_id IS DISTINCT FROM NEW.visit_id THEN RAISE EXCEPTION 'no'; END IF; RETURN NEW; END $$`,
			`CREATE TRIGGER keep BEFORE UPDATE ON letters FOR EACH ROW EXECUTE FUNCTION f()`,
		},
		tables: keptLetters(`{"name": "visit_id", "type": "bigint"}, `),
		want:   []string{"trigger-refuses users keep of letters"},
	},
	"a trigger refuses the change of a generated value": {
		statements: append(onUsers("IF OLD.n IS DISTINCT FROM NEW.n THEN RAISE EXCEPTION 'no'; END IF; RETURN NEW;"),
			`ALTER TABLE users ADD COLUMN n integer GENERATED ALWAYS AS (length(nick)) STORED`),
		want: []string{"trigger-refuses users keep of users"},
	},
	"a trigger refuses the deletion beside a change": {
		statements: onVisits("BEFORE UPDATE OR DELETE",
			"IF OLD.id IS DISTINCT FROM NEW.id THEN RAISE EXCEPTION 'no'; END IF; RETURN OLD;"),
		want: []string{"trigger-refuses users keep of visits"},
	},
	"a partial unique index covers the surrogate": {
		statements: []string{
			`ALTER TABLE users ADD COLUMN code varchar(255)`,
			`CREATE UNIQUE INDEX one ON users (code) WHERE code !~ '^[0-9]+$'`,
		},
		columns: oneCode, want: []string{"unique-undecided users.code one"},
	},
	"a partial unique index with a further column": {
		statements: []string{
			`ALTER TABLE users ADD COLUMN code varchar(255), ADD COLUMN n bigint`,
			`CREATE UNIQUE INDEX one ON users (code) WHERE code !~ '^[0-9 ]*$' OR n > 5`,
		},
		columns: oneCode, want: []string{"unique-undecided users.code one"},
	},
	"a generated column converts a value that may be NULL": {
		statements: []string{
			`ALTER TABLE users ADD COLUMN code text,
				ADD COLUMN n date GENERATED ALWAYS AS (make_date(nullif(code, 'x')::integer, 1, 1)) STORED`,
		},
		columns: oneCode, want: []string{"surrogate-cast users.code n"},
	},
	"a part of a text is too long": {
		statements: []string{
			`ALTER TABLE users ADD COLUMN part varchar(3) GENERATED ALWAYS AS (substr(email, 1, 4)) STORED`,
		},
		want: []string{"derived-length users.part"},
	},
	"the rest of a text is too long": {
		statements: []string{`ALTER TABLE users ADD COLUMN part varchar(3) GENERATED ALWAYS AS (substr(email, 2)) STORED`},
		want:       []string{"derived-length users.part"},
	},
	"a large object of a row that stays": {
		statements: []string{
			`CREATE EXTENSION lo`, `ALTER TABLE users ADD COLUMN scan oid`,
			`CREATE TRIGGER unlink BEFORE UPDATE OR DELETE ON users FOR EACH ROW EXECUTE FUNCTION lo_manage(scan)`,
		},
		columns: `, {"name": "scan", "type": "bigint"}`,
		want:    []string{"large-object users.scan"},
	},
	"a backup with the person who deleted the account": {
		statements: []string{
			`ALTER TABLE users ADD COLUMN deleted_by_user_id bigint, ADD COLUMN invited_by_id bigint`,
			`CREATE TABLE users_2024 AS SELECT * FROM users`,
		},
		want: []string{"table-personal users_2024.email, nick"},
	},
	"a store of sessions with the time of the last use": {
		statements: []string{`CREATE TABLE web_state (sid varchar PRIMARY KEY, payload jsonb, touched_at timestamptz)`},
		want:       []string{"table-personal web_state.payload"},
	},
	"a log of requests": {
		statements: []string{
			`CREATE TABLE hook_log (id bigint PRIMARY KEY, url text, request_body text, response_body text)`,
		},
		want: []string{"table-personal hook_log.request_body"},
	},
	"the key of an owner of some kind": {
		statements: []string{`CREATE TABLE marks (id bigint PRIMARY KEY, owner_kind text, owner_key bigint, n bigint)`},
		want:       []string{"table-unlinked marks.owner_key"},
	},
	"lists of keys of people": {
		statements: []string{
			`CREATE TABLE a (id bigint PRIMARY KEY, fan_ids integer[])`,
			`CREATE TABLE b (id bigint PRIMARY KEY, notify_uids bigint[])`,
			`CREATE TABLE c (id bigint PRIMARY KEY, uids bigint[])`,
			`CREATE TABLE d (id bigint PRIMARY KEY, sitter_id bigint, user_ids bigint[])`,
		},
		want: []string{
			"table-unlinked a.fan_ids", "table-unlinked b.notify_uids", "table-unlinked c.uids", "table-unlinked d.user_ids",
		},
	},
	"a list with the word of a reference": {
		statements: []string{
			`ALTER TABLE visits ADD COLUMN zork_ids bigint[]`,
			`CREATE TABLE letters (id bigint PRIMARY KEY, user_id bigint REFERENCES users, zork_id bigint REFERENCES users)`,
			`CREATE INDEX ON letters (user_id)`,
		},
		tables: strings.Replace(lettersInManifest("user_id:bigint zork_id:bigint", relationInManifest("user_id", "users")),
			`"name": "zork_id",`, `"name": "zork_id", "not_personal": true,`, 1),
		want: []string{"path-missing letters.zork_id letters_zork_id_fkey", "path-missing visits.zork_ids"},
	},
	"people with two tables": {
		statements: append(slices.Clone(logins),
			`CREATE TABLE letters (id bigint PRIMARY KEY, uid uuid REFERENCES accounts, shared_with uuid REFERENCES accounts,
				fan_ids uuid[])`,
			`CREATE INDEX ON letters (uid)`,
			`CREATE TABLE rooms (id bigint PRIMARY KEY, owner_uid uuid, size bigint)`,
			`CREATE TABLE beds (id bigint PRIMARY KEY, uid uuid, size bigint)`),
		tables: accountsInManifest + strings.ReplaceAll(
			lettersInManifest("uid:uuid shared_with:uuid", relationInManifest("uid", "accounts")), `["id"]}]`, `["uid"]}]`),
		want: []string{
			"path-missing letters.fan_ids", "path-missing letters.shared_with letters_shared_with_fkey",
			"table-unlinked beds.uid", "table-unlinked rooms.owner_uid",
		},
	},
	"a person who wrote a part of the row": {
		statements: []string{
			`CREATE TABLE letters (id bigint PRIMARY KEY, user_id bigint REFERENCES users,
				reviewer_id bigint REFERENCES users, reviewer_reply text)`, `CREATE INDEX ON letters (user_id)`,
		},
		tables: lettersInManifest("user_id:bigint reviewer_id:bigint reviewer_reply:text",
			relationInManifest("user_id", "users")),
		want: []string{"path-missing letters.reviewer_id letters_reviewer_id_fkey"},
	},
	"a person who answered": {
		statements: []string{
			`CREATE TABLE letters (id bigint PRIMARY KEY, user_id bigint REFERENCES users,
				answered_by_id bigint REFERENCES users)`,
			`CREATE INDEX ON letters (user_id)`,
		},
		tables: lettersInManifest("user_id:bigint answered_by_id:bigint", relationInManifest("user_id", "users")),
		want:   []string{"path-missing letters.answered_by_id letters_answered_by_id_fkey"},
	},
	"a link to a person": {
		statements: []string{
			`CREATE TABLE kinds (id bigint PRIMARY KEY)`,
			`CREATE TABLE user_kinds (id bigint PRIMARY KEY, user_id bigint, kind_id bigint, created_at timestamptz)`,
		},
		want: []string{"table-unlinked user_kinds.user_id"},
	},
	"a link of rows that stay with a text": {
		statements: append(slices.Clone(contactKinds), `ALTER TABLE contact_kinds ADD COLUMN memo text`),
		tables:     contactsInManifest, want: []string{"table-unlinked contact_kinds.contact_id"},
	},
	"another relation than those of a question": {
		statements: twoOwners,
		tables:     twoOwnersInManifest("(visit_id | user_id; chosen: visit_id)"),
		want:       []string{"path-missing letters.other_id letters_other_id_fkey"},
	},
}

// contactKinds are links of contacts, which an erasure keeps, to their kinds.
var (
	contactKinds = []string{
		`CREATE TABLE kinds (id bigint PRIMARY KEY, label text)`,
		`CREATE TABLE contacts (id bigint PRIMARY KEY, user_id bigint REFERENCES users, line text)`,
		`CREATE INDEX ON contacts (user_id)`,
		`CREATE TABLE contact_kinds (id bigint PRIMARY KEY, contact_id bigint, kind_id bigint, created_at timestamptz)`,
	}
	contactsInManifest = strings.ReplaceAll(keptLetters(""), `"letters"`, `"contacts"`)

	// twoOwners are letters that refer to a page of a visit, and to a paper.
	twoOwners = []string{
		`CREATE TABLE pages (id bigint PRIMARY KEY, visit_id bigint REFERENCES visits)`, `CREATE INDEX ON pages (visit_id)`,
		`CREATE TABLE papers (id bigint PRIMARY KEY, user_id bigint REFERENCES users, line text)`,
		`CREATE INDEX ON papers (user_id)`,
		`CREATE TABLE letters (id bigint PRIMARY KEY, page_id bigint REFERENCES pages, other_id bigint REFERENCES papers)`,
		`CREATE INDEX ON letters (page_id)`, `CREATE INDEX ON letters (other_id)`,
	}
)

// twoOwnersInManifest returns twoOwners in the manifest, with the options of an answered question.
func twoOwnersInManifest(options string) string {
	pages := lettersInManifest("visit_id:bigint", relationInManifest("visit_id", "visits"))
	letters := lettersInManifest("page_id:bigint other_id:bigint", relationInManifest("page_id", "pages"))
	return strings.Replace(keptLetters(""), `"letters"`, `"papers"`, 1) +
		strings.Replace(pages, `"letters"`, `"pages"`, 1) + strings.Replace(letters, `"owned": true`,
		`"owned": true, "note": "DECIDED: Which relation determines the owner of a row? `+options+`"`, 1)
}

// unseenSafe are the twins of unseenDangers.
var unseenSafe = map[string]liveCase{
	"a trigger fills an annotated text with values of the people": {
		statements: onLetters("label text", "INSERT OR UPDATE", "NEW.label := "+selectsEmail+";"),
		tables: keptLetters(`{"name": "label", "type": "text",
			"personal": {"category": "identity", "erasure": "null"}}, `),
	},
	"a trigger fills a text with a value of nobody": {
		statements: onLetters("label text", "INSERT OR UPDATE",
			"NEW.label := (SELECT 'since ' || created_at FROM users WHERE id = NEW.user_id);"),
		tables: keptLetters(`{"name": "label", "type": "text"}, `),
	},
	"a trigger finds a person by a value": {
		statements: onLetters("label text, mail text", "INSERT OR UPDATE",
			"NEW.label := (SELECT 'since ' || created_at FROM users WHERE email = NEW.mail);"),
		tables: keptLetters(`{"name": "label", "type": "text"}, {"name": "mail", "type": "text", "not_personal": true}, `),
	},
	"a trigger refuses the change of values that nobody changes": {
		statements: append(onUsers(`IF OLD.code IS NOT NULL AND NEW.code <> OLD.code OR NEW.id <> OLD.id THEN
			RAISE EXCEPTION 'no'; END IF; RETURN NEW;`), `ALTER TABLE users ADD COLUMN code bigint`),
	},
	"a partial unique index leaves out the surrogate by a pattern": {
		statements: []string{
			`ALTER TABLE users ADD COLUMN code varchar(255)`,
			`CREATE UNIQUE INDEX one ON users (code) WHERE code !~ '^[0-9 ]*$'`,
		},
		columns: oneCode,
	},
	"a generated column takes NULL for the surrogate": {
		statements: []string{
			`ALTER TABLE users ADD COLUMN code text,
				ADD COLUMN n integer GENERATED ALWAYS AS (nullif(code, '')::integer) STORED`,
		},
		columns: oneCode,
	},
	"a generated column takes a part of a value": {
		statements: []string{
			`ALTER TABLE users ADD COLUMN a varchar(3) GENERATED ALWAYS AS
				(substr(email, 1, 3)) STORED, ADD COLUMN b varchar(3) GENERATED ALWAYS AS (substring(email, 2, 3)) STORED`,
		},
	},
	"a large object of a row that stays, which an erasure clears": {
		statements: []string{
			`CREATE EXTENSION lo`, `ALTER TABLE users ADD COLUMN scan oid`,
			`CREATE TRIGGER unlink BEFORE UPDATE OR DELETE ON users FOR EACH ROW EXECUTE FUNCTION lo_manage(scan)`,
		},
		columns: `, {"name": "scan", "type": "bigint", "personal": {"category": "identity", "erasure": "null"}}`,
	},
	"a link of rows that stay": {statements: contactKinds, tables: contactsInManifest},
	"the relations of an answered question": {
		statements: twoOwners, tables: twoOwnersInManifest("(page_id | other_id; chosen: page_id)"),
	},
	"a person who acted on the row of another one": {
		statements: []string{
			`CREATE TABLE letters (id bigint PRIMARY KEY, user_id bigint REFERENCES users,
				awarded_by_id bigint REFERENCES users, contacted_by_user_id bigint REFERENCES users)`,
			`CREATE INDEX ON letters (user_id)`,
		},
		tables: lettersInManifest("user_id:bigint awarded_by_id:bigint contacted_by_user_id:bigint",
			relationInManifest("user_id", "users")),
	},
	"lists of keys of things": {
		statements: []string{
			`CREATE TABLE coaches (id bigint PRIMARY KEY, seats bigint)`,
			`CREATE TABLE a (id bigint PRIMARY KEY, coach_ids integer[], zork_ids integer[], uids uuid[])`,
		},
	},
	"the key of a thing of some kind": {
		statements: []string{`CREATE TABLE marks (id bigint PRIMARY KEY, cache_type text, cache_key bigint, n bigint)`},
	},
	"a log of bodies": {
		statements: []string{`CREATE TABLE mass_log (id bigint PRIMARY KEY, body_kind text, touched_at timestamptz)`},
	},
}

// The text of a finding about a conversion that the database may accept does not say that the erasure fails.
func TestAConversionThatMayBeRefusedIsNoFailure(t *testing.T) {
	_, found := liveFindings(t, unseenDangers["a generated column converts a value that may be NULL"])
	if len(found) != 1 || !strings.Contains(found[0].Reason, "may refuse. If it does: The erasure fails.") {
		t.Errorf("got %v", found)
	}
}

func TestUnseenSchemasAreJudged(t *testing.T) {
	maps.Copy(unseenDangers, unseenSafe)
	for name, c := range unseenDangers {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got, _ := liveFindings(t, c); !slices.Equal(got, c.want) {
				t.Errorf("got  %q\nwant %q", got, c.want)
			}
		})
	}
}
