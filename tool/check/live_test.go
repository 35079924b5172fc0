package check_test

import (
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
		{"name": "created_at", "type": "time", "not_personal": true}COLUMNS]},
	{"name": "visits", "primary_key": ["id"], "owned": true, "columns": [{"name": "id", "type": "bigint"},
		{"name": "user_id", "type": "bigint"}, {"name": "agent", "type": "text", "personal": {"category": "technical"}}],
		"relations": [{"columns": ["user_id"], "references": "users", "referenced_columns": ["id"]}]}TABLES]}`

	oneCode = `, {"name": "code", "type": "text", "surrogate": "''",
		"personal": {"category": "identity", "erasure": "anonymize"}}`
)

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
	"a trigger": {
		statements: []string{
			`CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NEW; END $$`,
			`CREATE TRIGGER keep BEFORE UPDATE OF nick, email ON users FOR EACH ROW EXECUTE FUNCTION f()`,
			`CREATE TRIGGER other BEFORE UPDATE OF created_at ON users FOR EACH ROW EXECUTE FUNCTION f()`,
		},
		want: []string{"trigger-fires users keep#fired"},
	},
	"a column that could hold the key of a person": {
		statements: []string{`ALTER TABLE visits ADD COLUMN shared_by_id bigint`},
		want:       []string{"column-undecided visits.shared_by_id keys"},
	},
	"tables that nobody has decided about": {
		statements: []string{
			`CREATE TABLE notifications (id bigint PRIMARY KEY, notifiable_id bigint NOT NULL, seen boolean)`,
			`CREATE TABLE letters (id bigint PRIMARY KEY, body text)`,
			`CREATE TABLE days (id smallint PRIMARY KEY, hits real)`,
			`CREATE TABLE parts (id bigint, body text) PARTITION BY LIST (id)`,
			`CREATE TABLE part PARTITION OF parts FOR VALUES IN (1)`,
		},
		want: []string{"table-undecided letters", "table-undecided notifications", "table-undecided parts"},
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
		want: []string{"reference-overwritten users.street home", "table-undecided places"},
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
}

var safe = map[string]liveCase{
	"no danger": {},
	"a list of values": {
		statements: []string{`ALTER TABLE visits ADD COLUMN comment text CHECK (comment IN ('good', 'bad'))`},
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
		want: []string{"table-undecided places"},
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
		want: []string{"table-undecided pages"}, since: 150000,
	},
	"an index without the rows with NULL": {
		statements: []string{`DROP INDEX visits_user_id_idx`, `CREATE INDEX ON visits (user_id) WHERE user_id IS NOT NULL`},
	},
	"a partial unique index leaves out the surrogate by a pattern": {
		statements: []string{
			`ALTER TABLE users ADD COLUMN code varchar(255)`,
			`CREATE UNIQUE INDEX one ON users (code) WHERE code !~ '^[0-9 ]*$'`,
		},
		columns: oneCode,
	},
}

// isUndecided reports whether a finding is about a table or a column that nobody has decided about. Most cases have
// such columns, and are about something else.
func isUndecided(finding string) bool {
	return strings.HasPrefix(finding, "column-undecided") || strings.HasPrefix(finding, "table-undecided")
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
	wantsUndecided := slices.ContainsFunc(c.want, isUndecided)
	for _, f := range result.Findings {
		if isUndecided(f.Code) && !wantsUndecided {
			continue
		}
		texts = append(texts, strings.TrimSuffix(f.Code+" "+f.Where()+" "+triggerHash.ReplaceAllString(f.Object, "#fired"),
			" "))
	}
	slices.Sort(texts)
	return texts, result.Findings
}

func TestDangersOfARealDatabaseAreFound(t *testing.T) {
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
	for name, c := range safe {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got, _ := liveFindings(t, c); !slices.Equal(got, c.want) {
				t.Errorf("got  %q\nwant %q", got, c.want)
			}
		})
	}
}
