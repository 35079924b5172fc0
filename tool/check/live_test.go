package check_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore"
	"github.com/habeas-data/habeas/adapters/persistence/manifest"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/domain/erasure"
	"github.com/habeas-data/habeas/internal/tests/databases"
	"github.com/habeas-data/habeas/tool/check"
)

// liveCase is a PostgreSQL database with a danger, and the findings about it. Each case has a twin in safe, in which a
// similar database has no finding.
type liveCase struct {
	statements []string
	columns    string // further columns of users in the manifest
	tables     string // further tables of the manifest
	want       []string
	since      int // the first version of PostgreSQL that has the statements, such as 150000; 0 means all
}

// makeUsers creates the tables of all cases. An erasure keeps the row of a user, and deletes the visits of the user.
var makeUsers = []string{
	`CREATE TABLE users (id bigint PRIMARY KEY, email text, nick text, created_at timestamptz)`,
	`CREATE TABLE visits (id bigint PRIMARY KEY, user_id bigint REFERENCES users (id), agent text)`,
	`CREATE INDEX ON visits (user_id)`,
}

const (
	usersInManifest = `{"manifest_version": 2, "tables": [
	{"name": "users", "primary_key": ["id"], "subject_key": ["id"], "columns": [{"name": "id", "type": "bigint"},
		{"name": "email", "type": "text", "personal": {"category": "contact", "erasure": "anonymize"}},
		{"name": "nick", "type": "text", "personal": {"category": "identity", "erasure": "null"}},
		{"name": "created_at", "type": "time"}COLUMNS]},
	{"name": "visits", "primary_key": ["id"], "owned": true, "columns": [{"name": "id", "type": "bigint"},
		{"name": "user_id", "type": "bigint"}, {"name": "agent", "type": "text", "personal": {"category": "technical"}}],
		"relations": [{"columns": ["user_id"], "references": "users", "referenced_columns": ["id"]}]}TABLES]}`

	oldEmail = `CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS
		$$ BEGIN NEW.before := OLD.email; RETURN NEW; END $$`
	newEmail = `CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS
		$$ BEGIN NEW.before := lower(NEW.email); RETURN NEW; END $$`
	addBefore = `ALTER TABLE users ADD COLUMN before text`
	addWords  = `ALTER TABLE users ADD COLUMN words tsvector`
)

// keep returns the statement that creates the trigger keep on users, which runs before the events.
func keep(events string) string {
	return "CREATE TRIGGER keep BEFORE " + events + " ON users FOR EACH ROW EXECUTE FUNCTION f()"
}

// lettersInManifest returns a table of the manifest with the given columns, separated by spaces, and relations in JSON.
func lettersInManifest(columns, relations string) string {
	text := `, {"name": "letters", "primary_key": ["id"], "owned": true, "columns": [{"name": "id", "type": "bigint"}`
	for _, column := range strings.Fields(columns) {
		name, kind, _ := strings.Cut(column, ":")
		text += `, {"name": "` + name + `", "type": "` + kind + `"}`
	}
	return text + `], "relations": [` + relations + `]}`
}

func relationInManifest(column, table string) string {
	return `{"columns": ["` + column + `"], "references": "` + table + `", "referenced_columns": ["id"]}`
}

var dangers = map[string]liveCase{
	"a text": {
		statements: []string{`ALTER TABLE visits ADD COLUMN comment text CHECK (length(comment) < 100)`},
		want:       []string{"personal-unannotated visits.comment"},
	},
	"a trigger copies an old value into the same row": {
		statements: []string{addBefore, oldEmail, keep("UPDATE")},
		want:       []string{"trigger-copies users.before keep"},
	},
	"a trigger copies the old row into the same row": {
		statements: []string{
			`ALTER TABLE users ADD COLUMN past jsonb`,
			`CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS
				$$ BEGIN NEW.past := to_jsonb(OLD); RETURN NEW; END $$`,
			keep("UPDATE"),
		},
		columns: `, {"name": "past", "type": "json", "personal": {"category": "contact", "erasure": "null"}}`,
		want:    []string{"trigger-copies users.past keep"},
	},
	"a trigger copies a value at an INSERT only": {
		statements: []string{addBefore, newEmail, keep("INSERT")},
		want:       []string{"trigger-copies users.before keep"},
	},
	"a trigger fills a tsvector at an INSERT only": {
		statements: []string{addWords, `CREATE TRIGGER fill BEFORE INSERT ON users FOR EACH ROW
			EXECUTE FUNCTION tsvector_update_trigger(words, 'pg_catalog.english', email)`},
		want: []string{"search-copies users.words"},
	},
	"a materialized view renames a column": {
		statements: []string{`CREATE MATERIALIZED VIEW reach AS SELECT id, email AS target FROM users`},
		want:       []string{"view-copies reach reach"},
	},
	"a materialized view renames a column of a view": {
		statements: []string{
			`CREATE VIEW addresses AS SELECT id, email AS one FROM users`,
			`CREATE MATERIALIZED VIEW reach AS SELECT id, one AS two FROM addresses`,
		},
		want: []string{"view-copies reach reach"},
	},
	"sessions are documents": {
		statements: []string{`CREATE TABLE web_sessions (sid text PRIMARY KEY, sess json, expire timestamptz)`},
		want:       []string{"table-personal web_sessions.sess"},
	},
	"verification tokens": {
		statements: []string{`CREATE TABLE verification_token (identifier text, token text, expires timestamptz)`},
		want:       []string{"table-personal verification_token.identifier"},
	},
	"logins at an identity provider": {
		statements: []string{`ALTER TABLE users ADD COLUMN openid_connect_id text, ADD COLUMN github_id bigint,
			ADD COLUMN external_id text, ADD COLUMN oidc_sub text`},
		want: []string{
			"personal-unannotated users.external_id", "personal-unannotated users.github_id",
			"personal-unannotated users.oidc_sub", "personal-unannotated users.openid_connect_id",
		},
	},
	"an audit log is documents": {
		statements: []string{`CREATE TABLE audit_log (id bigint PRIMARY KEY, at timestamptz, changes jsonb)`},
		want:       []string{"table-personal audit_log.changes"},
	},
	"a word for a person that is no table": {
		statements: []string{`CREATE TABLE gadgets (id bigint PRIMARY KEY, customer_id bigint, push text)`},
		want:       []string{"table-unlinked gadgets.customer_id"},
	},
	"the recipient before the creator": {
		statements: []string{`CREATE TABLE hints (id bigint PRIMARY KEY, creator_id bigint REFERENCES users,
			recipient_id bigint REFERENCES users, body text)`},
		want: []string{"table-unmapped hints.recipient_id"},
	},
	"an array of ids": {
		statements: []string{`CREATE TABLE rooms (id bigint PRIMARY KEY, member_ids bigint[])`},
		want:       []string{"table-unlinked rooms.member_ids"},
	},
	"an array of ids in the data map": {
		statements: []string{`ALTER TABLE visits ADD COLUMN watchers bigint[]`},
		want:       []string{"path-missing visits.watchers"},
	},
	"a reference to one of several tables": {
		statements: []string{`CREATE TABLE hints (id bigint PRIMARY KEY, target_type text, target_id bigint)`},
		want:       []string{"table-unlinked hints.target_id"},
	},
	"a reference to one of several tables in the data map": {
		statements: []string{`ALTER TABLE visits ADD COLUMN target_type text, ADD COLUMN target_id bigint`},
		want:       []string{"path-missing visits.target_id"},
	},
	"a reference to one of several tables that can be people": {
		statements: []string{
			`CREATE TABLE hints (id bigint PRIMARY KEY, auditable_type text, auditable_id bigint)`,
			`CREATE TABLE files (id bigint PRIMARY KEY, record_type text, record_id bigint)`,
		},
		want: []string{"table-unlinked files.record_id", "table-unlinked hints.auditable_id"},
	},
	"a large object": {
		statements: []string{`ALTER TABLE visits ADD COLUMN scan oid`},
		want:       []string{"large-object visits.scan"},
	},
	"an identity column": {
		statements: []string{`ALTER TABLE users ADD COLUMN card bigint GENERATED ALWAYS AS IDENTITY`},
		columns:    `, {"name": "card", "type": "bigint", "personal": {"category": "identity", "erasure": "anonymize"}}`,
		want:       []string{"generated-written users.card"},
	},
	"MATCH FULL": {
		statements: []string{
			`CREATE TABLE places (a text, b text, PRIMARY KEY (a, b))`,
			`ALTER TABLE users ADD COLUMN town text, ADD COLUMN street text,
				ADD CONSTRAINT home FOREIGN KEY (town, street) REFERENCES places MATCH FULL`,
		},
		columns: `, {"name": "town", "type": "text", "not_personal": true},
			{"name": "street", "type": "text", "personal": {"category": "location", "erasure": "null"}}`,
		want: []string{"reference-overwritten users.street home"},
	},
	"rows of several people on one path": {
		statements: []string{
			`ALTER TABLE visits ADD COLUMN room bigint`,
			`CREATE TABLE members (id bigint PRIMARY KEY, user_id bigint REFERENCES users)`,
			`CREATE TABLE letters (id bigint PRIMARY KEY, visit_id bigint REFERENCES visits,
				member_id bigint REFERENCES members)`,
			`CREATE INDEX ON members (user_id)`, `CREATE INDEX ON letters (visit_id)`, `CREATE INDEX ON letters (member_id)`,
		},
		tables: `, {"name": "members", "primary_key": ["id"], "columns": [{"name": "id", "type": "bigint"},
				{"name": "user_id", "type": "bigint"}],
				"relations": [` + relationInManifest("user_id", "users") + `]}` +
			lettersInManifest("visit_id:bigint member_id:bigint", relationInManifest("visit_id", "visits")),
		want: []string{"path-missing letters.member_id letters_member_id_fkey"},
	},
}

var safe = map[string]liveCase{
	"no danger": {},
	"a list of values": {
		statements: []string{`ALTER TABLE visits ADD COLUMN comment text CHECK (comment IN ('good', 'bad'))`},
	},
	"the id and the name of a thing elsewhere": {
		statements: []string{`CREATE TABLE parts (id bigint PRIMARY KEY, external_id bigint, external_name text)`},
	},
	"a trigger copies the new value at each UPDATE": {
		statements: []string{addBefore, newEmail, keep("INSERT OR UPDATE")},
	},
	"a trigger compares values": {
		columns: `, {"name": "before", "type": "text"}`,
		statements: []string{
			addBefore, `CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS
				$$ BEGIN IF NEW.email = OLD.email THEN NEW.before := 'same'; END IF; RETURN NEW; END $$`,
			keep("UPDATE"),
		},
	},
	"a trigger fills a tsvector at each UPDATE": {
		statements: []string{addWords, `CREATE TRIGGER fill BEFORE INSERT OR UPDATE ON users FOR EACH ROW
			EXECUTE FUNCTION tsvector_update_trigger(words, 'pg_catalog.english', email)`},
	},
	"a tsvector is generated": {
		statements: []string{
			`ALTER TABLE users ADD COLUMN words tsvector GENERATED ALWAYS AS (to_tsvector('english', email)) STORED`,
		},
	},
	"a materialized view counts": {
		statements: []string{
			`CREATE MATERIALIZED VIEW reach AS SELECT created_at, count(email) AS n FROM users GROUP BY created_at`,
		},
	},
	"ids of other systems": {
		statements: []string{
			`CREATE TABLE gadgets (id bigint PRIMARY KEY, external_id text, apple text)`,
			`CREATE TABLE app_keys (id bigint PRIMARY KEY, identifier text)`,
		},
	},
	"documents that are not about people": {
		statements: []string{
			`CREATE TABLE layouts (id bigint PRIMARY KEY, data jsonb)`,
			`CREATE TABLE build_logs (id bigint PRIMARY KEY, line text)`,
		},
	},
	"an array of other ids": {
		statements: []string{`CREATE TABLE rooms (id bigint PRIMARY KEY, layout_ids bigint[], tags text[], user_ids uuid[])`},
	},
	"a reference to one of several things": {
		statements: []string{
			`CREATE TYPE part AS ENUM ('Node', 'Way')`,
			`CREATE TABLE hints (id bigint PRIMARY KEY, member_type part, member_id bigint)`,
		},
	},
	"a reference to one of several things in the data of a bank": {
		statements: []string{
			`CREATE TABLE bank_links (id bigint PRIMARY KEY, bank_type text, bank_id text)`,
			`CREATE TABLE tags (id bigint PRIMARY KEY, taggable_type text, taggable_id bigint)`,
			`CREATE TABLE amounts (id bigint PRIMARY KEY, entryable_type text, entryable_id text)`,
			`CREATE TABLE snaps (id bigint PRIMARY KEY, doc_type text, doc_id text)`,
		},
	},
	"the numbers of rows that stay": {
		statements: []string{
			`CREATE TABLE pages (id bigint PRIMARY KEY, user_id bigint REFERENCES users, text text)`,
			`CREATE TABLE numbers (id bigint PRIMARY KEY, page_id bigint REFERENCES pages, day date, views bigint)`,
			`CREATE INDEX ON pages (user_id)`,
		},
		tables: `, {"name": "pages", "primary_key": ["id"], "columns": [{"name": "id", "type": "bigint"},
				{"name": "user_id", "type": "bigint"}, {"name": "text", "type": "text",
				"personal": {"category": "communication", "erasure": "anonymize"}}],
				"relations": [` + relationInManifest("user_id", "users") + `]}`,
	},
	"a type without a reference": {
		statements: []string{`CREATE TABLE hints (id bigint PRIMARY KEY, target_type text, other_id bigint)`},
	},
	"a reference to one of several things in the data map": {
		statements: []string{`ALTER TABLE visits ADD COLUMN likeable_type text, ADD COLUMN likeable_id bigint`},
	},
	"a large object that a trigger deletes": {
		statements: []string{
			`CREATE EXTENSION lo`, `ALTER TABLE visits ADD COLUMN scan oid`,
			`CREATE TRIGGER unlink BEFORE UPDATE OR DELETE ON visits FOR EACH ROW EXECUTE FUNCTION lo_manage(scan)`,
		},
	},
	"an identity column that an erasure may write": {
		statements: []string{`ALTER TABLE users ADD COLUMN card bigint GENERATED BY DEFAULT AS IDENTITY`},
		columns:    `, {"name": "card", "type": "bigint", "personal": {"category": "identity", "erasure": "anonymize"}}`,
	},
	"MATCH SIMPLE": {
		statements: []string{
			`CREATE TABLE places (a text, b text, PRIMARY KEY (a, b))`,
			`ALTER TABLE users ADD COLUMN town text, ADD COLUMN street text,
				ADD CONSTRAINT home FOREIGN KEY (town, street) REFERENCES places`,
		},
		columns: `, {"name": "town", "type": "text", "not_personal": true},
			{"name": "street", "type": "text", "personal": {"category": "location", "erasure": "null"}}`,
	},
	"rows that hang on the same person twice": {
		statements: []string{
			`CREATE TABLE pages (id bigint PRIMARY KEY, visit_id bigint REFERENCES visits)`,
			`CREATE TABLE letters (id bigint PRIMARY KEY, page_id bigint REFERENCES pages, visit_id bigint REFERENCES visits)`,
			`CREATE INDEX ON pages (visit_id)`, `CREATE INDEX ON letters (page_id)`, `CREATE INDEX ON letters (visit_id)`,
		},
		tables: `, {"name": "pages", "primary_key": ["id"], "owned": true, "columns": [{"name": "id", "type": "bigint"},
				{"name": "visit_id", "type": "bigint"}], "relations": [` + relationInManifest("visit_id", "visits") + `]}` +
			lettersInManifest("page_id:bigint visit_id:bigint", relationInManifest("page_id", "pages")),
		want: []string{"delete-undecided letters.visit_id letters_visit_id_fkey"},
	},
	"SET NULL of one column": {
		statements: []string{
			`CREATE UNIQUE INDEX ON visits (id, user_id)`,
			`CREATE TABLE pages (id bigint PRIMARY KEY, owner bigint NOT NULL, visit bigint,
				FOREIGN KEY (visit, owner) REFERENCES visits (id, user_id) ON DELETE SET NULL (visit))`,
			`CREATE INDEX ON pages (visit)`,
		},
		want: []string{"table-unmapped pages.visit, owner"}, since: 150000,
	},
	"an index without the rows with NULL": {
		statements: []string{`DROP INDEX visits_user_id_idx`, `CREATE INDEX ON visits (user_id) WHERE user_id IS NOT NULL`},
	},
	"the display name of a provider that rows refer to": {
		statements: []string{
			`CREATE TABLE login_providers (id bigint PRIMARY KEY, display_name text)`,
			`ALTER TABLE visits ADD COLUMN provider_id bigint REFERENCES login_providers`,
		},
	},
	"the display name of a provider": {
		statements: []string{
			`CREATE TABLE auth_providers (id bigint PRIMARY KEY, name text, display_name text, avatar_url text)`,
		},
	},
}

// liveFindings returns the findings about a database, each as code, place and object.
func liveFindings(t *testing.T, c liveCase) (texts []string, found []datamap.Finding) {
	t.Helper()
	db := databases.PostgreSQL(t)
	var version int
	must(t, db.NewRaw("SELECT current_setting('server_version_num')::integer").Scan(t.Context(), &version))
	if version < c.since {
		return c.want, nil
	}
	for _, statement := range append(slices.Clone(makeUsers), c.statements...) {
		_, err := db.ExecContext(t.Context(), statement)
		must(t, err)
	}
	text := strings.NewReplacer("COLUMNS", c.columns, "TABLES", c.tables).Replace(usersInManifest)
	dataMap, err := manifest.Read(strings.NewReader(text))
	must(t, err)
	plan, err := erasure.Planner{}.Plan(dataMap, nil)
	must(t, err)
	store, err := bunstore.New(db, dataMap, bunstore.Options{})
	must(t, err)
	result, err := check.Run(t.Context(), store, dataMap, plan, check.Options{Manifest: true})
	must(t, err)
	for _, f := range result.Findings {
		texts = append(texts, strings.TrimSuffix(f.Code+" "+f.Where()+" "+f.Object, " "))
	}
	slices.Sort(texts)
	return texts, result.Findings
}

func TestDangersOfARealDatabaseAreFound(t *testing.T) {
	maps.Copy(dangers, copyDangers)
	maps.Copy(dangers, judgedDangers)
	maps.Copy(dangers, completedDangers)
	for name, c := range dangers {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, findings := liveFindings(t, c)
			if !slices.Equal(got, c.want) {
				t.Errorf("got  %q\nwant %q", got, c.want)
			}
			for _, f := range findings {
				if strings.Contains(f.Remedy, "pii:") || strings.Contains(f.Remedy, "subject:") {
					t.Errorf("the remedy is in the words of struct tags, but the data map is a manifest: %s", f.Remedy)
				}
			}
		})
	}
}

func TestASafeDatabaseHasNoFinding(t *testing.T) {
	maps.Copy(safe, safeCopies)
	maps.Copy(safe, judgedSafe)
	maps.Copy(safe, completedSafe)
	for name, c := range safe {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got, _ := liveFindings(t, c); !slices.Equal(got, c.want) {
				t.Errorf("got  %q\nwant %q", got, c.want)
			}
		})
	}
}
