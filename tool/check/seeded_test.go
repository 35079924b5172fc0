package check_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/uptrace/bun"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore"
	"github.com/habeas-data/habeas/adapters/persistence/manifest"
	"github.com/habeas-data/habeas/domain/erasure"
	"github.com/habeas-data/habeas/internal/tests/databases"
	"github.com/habeas-data/habeas/tool/check"
)

// seed is a danger in the schema of makePeople. The statements of one database have its name before a colon.
type seed struct {
	statements []string
	columns    string // further columns of people in the manifest
	tables     string // further tables of the manifest
	want       []string
}

var makePeople = []string{
	`CREATE TABLE people (id bigint PRIMARY KEY, email varchar(80) UNIQUE, handle varchar(80) UNIQUE,
		created_at timestamp)`,
	`CREATE TABLE visits (id bigint PRIMARY KEY, person_id bigint NOT NULL REFERENCES people, agent text)`,
	`CREATE INDEX visits_by ON visits (person_id)`,
}

const peopleInManifest = `{"manifest_version": 2, "tables": [
	{"name": "people", "primary_key": ["id"], "subject_key": ["id"], "columns": [{"name": "id", "type": "bigint"},
		{"name": "email", "type": "text", "length": 80, "personal": {"category": "contact", "erasure": "anonymize"}},
		{"name": "handle", "type": "text", "not_personal": true},
		{"name": "created_at", "type": "time", "not_personal": true}COLUMNS]},
	{"name": "visits", "primary_key": ["id"], "owned": true, "columns": [{"name": "id", "type": "bigint"},
		{"name": "person_id", "type": "bigint"}, {"name": "agent", "type": "text", "personal": {"category": "technical"}}],
		"relations": [{"columns": ["person_id"], "references": "people", "referenced_columns": ["id"]}]}TABLES]}`

// written returns a column of people in the manifest that an erasure overwrites with a surrogate, or with NULL.
func written(name, surrogate string) string {
	erasing := `"erasure": "null"}`
	if surrogate != "" {
		erasing = `"erasure": "anonymize"}, "surrogate": "` + surrogate + `"`
	}
	return `, {"name": "` + name + `", "type": "text", "personal": {"category": "identity", ` + erasing + `}`
}

// about returns a table of the manifest whose column note an erasure overwrites. It has more members and columns.
func about(name, by, key, more string) string {
	return `, {"name": "` + name + `", "primary_key": ["id"], "columns": [{"name": "id", "type": "bigint"},
		{"name": "` + by + `", "type": "text"},
		{"name": "note", "type": "text", "personal": {"category": "identity", "erasure": "anonymize"` + more + `],
		"relations": [{"columns": ["` + by + `"], "references": "people", "referenced_columns": ["` + key + `"]}]}`
}

// mine returns a table of the manifest whose column note an erasure overwrites.
func mine(name string) string {
	return strings.Replace(about(name, "person_id", "id", "}}"), `"person_id", "type": "text"`,
		`"person_id", "type": "bigint"`, 1)
}

const isMine = `id bigint PRIMARY KEY, person_id bigint REFERENCES people, note text`

var seeds = map[string]seed{
	"a trigger writes into a table of the data map": {
		statements: []string{
			`SQLite: CREATE TRIGGER keep AFTER UPDATE OF email ON people BEGIN
				INSERT INTO visits (id, person_id, agent) VALUES (9, old.id, old.email); END`,
			`PostgreSQL: CREATE FUNCTION keeping() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
				INSERT INTO visits VALUES (9, old.id, old.email); RETURN new; END $$`,
			`PostgreSQL: CREATE TRIGGER keep AFTER UPDATE OF email ON people FOR EACH ROW EXECUTE FUNCTION keeping()`,
		},
		want: []string{"trigger-fires people keep#fired", "trigger-writes visits keep#fired"},
	},
	"a foreign key passes an address on": {
		statements: []string{
			`CREATE TABLE badges (email varchar(80) PRIMARY KEY REFERENCES people (email) ON UPDATE CASCADE)`,
		},
		want: []string{"table-undecided badges", "update-cascades people.email badges_email_fkey"},
	},
	"a foreign key refuses the deletion": {
		statements: []string{
			`CREATE TABLE parcels (id bigint PRIMARY KEY, visit_id bigint REFERENCES visits ON DELETE RESTRICT)`,
			`CREATE INDEX parcels_by ON parcels (visit_id)`,
		},
		want: []string{"table-undecided parcels", "delete-restricted parcels.visit_id parcels_visit_id_fkey"},
	},
	"a foreign key deletes rows of another person": {
		statements: []string{
			`CREATE TABLE replies (id bigint PRIMARY KEY, visit_id bigint REFERENCES visits ON DELETE CASCADE,
				author_id bigint REFERENCES people)`,
			`CREATE INDEX replies_by ON replies (visit_id)`,
		},
		want: []string{"table-undecided replies", "delete-cascades replies.visit_id replies_visit_id_fkey"},
	},
	"a constant in a unique column": {
		statements: []string{`ALTER TABLE people ADD COLUMN code text`, `CREATE UNIQUE INDEX codes ON people (code)`},
		columns:    written("code", "gone"),
		want:       []string{"unique-violated people.code codes"},
	},
	"no danger: a unique index leaves out the constant": {
		statements: []string{
			`ALTER TABLE people ADD COLUMN rank text`, `CREATE UNIQUE INDEX ranks ON people (rank) WHERE rank <> 'gone'`,
		},
		columns: written("rank", "gone"),
	},
	"NULL in a column that refuses it": {
		statements: []string{`ALTER TABLE people ADD COLUMN town text NOT NULL DEFAULT ''`},
		columns:    written("town", ""),
		want:       []string{"null-refused people.town"},
	},
	"a column that the database computes": {
		statements: []string{
			`SQLite: ALTER TABLE people ADD COLUMN label text GENERATED ALWAYS AS (lower(email)) VIRTUAL`,
			`PostgreSQL: ALTER TABLE people ADD COLUMN label text GENERATED ALWAYS AS (lower(email)) STORED`,
		},
		columns: written("label", "gone"),
		want:    []string{"generated-written people.label"},
	},
	"a CHECK constraint that refuses the surrogate": {
		statements: []string{`ALTER TABLE people ADD COLUMN state text CONSTRAINT known CHECK (state IN ('on', 'off'))`},
		columns:    written("state", "gone"),
		want:       []string{"check-violated people.state known"},
	},
	"a table that nobody has decided about": {
		statements: []string{`CREATE TABLE letters (id bigint PRIMARY KEY, body text)`},
		want:       []string{"table-undecided letters"},
	},
	"a column that could hold the key of a person": {
		statements: []string{`ALTER TABLE visits ADD COLUMN shared_by_id bigint`},
		want:       []string{"column-undecided visits.shared_by_id keys"},
	},
	"a column that lets the person in": {
		statements: []string{`ALTER TABLE people ADD COLUMN password_hash text`},
		want:       []string{"account-open people.password_hash", "personal-unannotated people.password_hash"},
	},
	"a search without an index": {
		statements: []string{`CREATE TABLE bills (` + isMine + `)`},
		tables:     mine("bills"),
		want:       []string{"index-missing bills.person_id"},
	},
	"texts that refer in another spelling": {
		statements: []string{
			`CREATE TABLE guests (id bigint PRIMARY KEY, mail varchar(80), note text)`,
			`CREATE INDEX guests_by ON guests (mail)`,
			`INSERT INTO people (id, handle) VALUES (1, 'zoe'), (2, 'Ann')`,
			`INSERT INTO guests (id, mail) VALUES (1, 'Zoe '), (2, 'Ann'), (3, 'other'), (4, NULL)`,
		},
		tables: about("guests", "mail", "handle", "}}"),
		want:   []string{"relation-loose guests.mail 1 of 3 rows", "PostgreSQL: foreign-key-missing guests.mail"},
	},
	"the start of a retention period that nobody can read": {
		statements: []string{
			`CREATE TABLE receipts (` + isMine + `, paid_on text)`, `CREATE INDEX receipts_by ON receipts (person_id)`,
			`INSERT INTO receipts (id, paid_on) VALUES (1, '2026-01-31'), (2, 'last May'), (3, NULL)`,
		},
		tables: strings.Replace(mine("receipts"), `"erasure": "anonymize"}}`, `"erasure": "retain", "reason": "law",
			"retain": "10y", "since": "paid_on"}}, {"name": "paid_on", "type": "time"}`, 1),
		want: []string{"since-unreadable receipts.paid_on 1 of 2 rows"},
	},
	"a key of another type": {
		statements: []string{
			`CREATE TABLE tickets (id bigint PRIMARY KEY, person text, note text)`,
			`CREATE INDEX tickets_by ON tickets (person)`,
		},
		tables: about("tickets", "person", "id", "}}"),
		want:   []string{"PostgreSQL: key-type tickets.person", "PostgreSQL: foreign-key-missing tickets.person"},
	},
	"a conflict clause": {
		statements: []string{
			`SQLite: CREATE TABLE names (id bigint PRIMARY KEY, person_id bigint REFERENCES people,
				note text NOT NULL ON CONFLICT REPLACE DEFAULT '' UNIQUE ON CONFLICT REPLACE,
				CHECK (id > 0), UNIQUE (person_id) ON CONFLICT IGNORE)`,
			`PostgreSQL: CREATE TABLE names (` + isMine + `)`, `CREATE INDEX names_by ON names (person_id)`,
		},
		tables: mine("names"),
		want:   []string{"SQLite: conflict-clause names.note ON CONFLICT REPLACE"},
	},
	"a view that groups rows, or that SQLite cannot change": {
		statements: []string{
			`SQLite: CREATE VIEW tallies AS SELECT id, person_id, agent AS note FROM visits`,
			`PostgreSQL: CREATE VIEW tallies AS SELECT id, person_id, max(agent) AS note FROM visits GROUP BY id, person_id`,
		},
		tables: strings.Replace(mine("tallies"), `"name": "tallies"`, `"name": "tallies", "trusted": true`, 1),
		want:   []string{"view-unlockable tallies tallies", "view-trusted tallies tallies"},
	},
	"a publication of rows without an identity": {
		statements: []string{
			`CREATE TABLE marks (id bigint NOT NULL UNIQUE, person_id bigint REFERENCES people, note text)`,
			`CREATE INDEX marks_by ON marks (person_id)`, `PostgreSQL: CREATE PUBLICATION copies FOR TABLE marks, visits`,
		},
		tables: mine("marks"),
		want:   []string{"PostgreSQL: replica-identity-missing marks copies"},
	},
	"partitions by an overwritten column": {
		statements: []string{
			`PostgreSQL: CREATE TABLE moves (id bigint, person_id bigint REFERENCES people, note text) PARTITION BY LIST (note)`,
			`PostgreSQL: CREATE TABLE moves_1 PARTITION OF moves FOR VALUES IN ('a')`,
			`PostgreSQL: CREATE TABLE moves_2 PARTITION OF moves DEFAULT`,
			`PostgreSQL: CREATE TABLE stays (id bigint, person_id bigint REFERENCES people, note text)
				PARTITION BY LIST (lower(note))`,
			`PostgreSQL: CREATE TABLE stays_1 PARTITION OF stays FOR VALUES IN ('a') PARTITION BY RANGE (id)`,
			`PostgreSQL: CREATE TABLE stays_2 PARTITION OF stays_1 FOR VALUES FROM (0) TO (9)`,
			`SQLite: CREATE TABLE moves (` + isMine + `)`, `SQLite: CREATE INDEX moves_by ON moves (person_id)`,
			`SQLite: CREATE TABLE stays (` + isMine + `)`, `SQLite: CREATE INDEX stays_by ON stays (person_id)`,
		},
		tables: mine("moves") + mine("stays"),
		want: []string{
			"PostgreSQL: partition-moved moves.note", "PostgreSQL: partition-missing stays.note",
			"PostgreSQL: primary-key-missing moves.id", "PostgreSQL: primary-key-missing stays.id",
		},
	},
	"row-level security": {
		statements: []string{`PostgreSQL: ALTER TABLE people ENABLE ROW LEVEL SECURITY`},
		want:       []string{"PostgreSQL: row-security-bypassed people"},
	},
	"copies": {
		statements: []string{
			`SQLite: CREATE VIRTUAL TABLE words USING fts5 (agent)`,
			`PostgreSQL: CREATE MATERIALIZED VIEW words AS SELECT agent FROM visits`,
		},
		want: []string{"SQLite: search-copies words.agent", "PostgreSQL: view-copies words words"},
	},
}

// textsFor returns the texts for a database, without its name.
func textsFor(database string, texts []string) (all []string) {
	for _, text := range texts {
		name, rest, found := strings.Cut(text, ": ")
		switch {
		case found && name == database:
			all = append(all, rest)
		case name != "SQLite" && name != "PostgreSQL":
			all = append(all, text)
		}
	}
	return all
}

// seeded returns the result about a database with dangers.
func seeded(t *testing.T, db *bun.DB, database string, dangers map[string]seed) check.Result {
	t.Helper()
	statements, columns, tables := makePeople, "", ""
	for _, s := range dangers {
		statements, columns, tables = slices.Concat(statements, s.statements), columns+s.columns, tables+s.tables
	}
	for _, statement := range textsFor(database, statements) {
		execute(t, db, statement)
	}
	text := strings.NewReplacer("COLUMNS", columns, "TABLES", tables).Replace(peopleInManifest)
	dataMap, err := manifest.Read(strings.NewReader(text))
	must(t, err)
	plan, err := erasure.Planner{}.Plan(dataMap, nil)
	must(t, err)
	store, err := bunstore.New(db, dataMap, bunstore.Options{})
	must(t, err)
	result, err := check.Run(t.Context(), store, dataMap, plan, check.Options{Manifest: true, Rows: store})
	must(t, err)
	return result
}

func TestAllDangersOfASchemaAreFoundAndNoOthers(t *testing.T) {
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		database := strings.TrimPrefix(t.Name(), "TestAllDangersOfASchemaAreFoundAndNoOthers/")
		var got, want []string
		for _, s := range seeds {
			want = append(want, textsFor(database, s.want)...)
		}
		for _, f := range seeded(t, db, database, seeds).Findings {
			text := f.Code + " " + f.Where() + " " + triggerHash.ReplaceAllString(f.Object, "#fired")
			if _, counted, ok := strings.Cut(f.Reason, "The database holds "); ok {
				text += counted[:strings.Index(counted, " rows")] + " rows"
			}
			got = append(got, strings.TrimSuffix(text, " "))
		}
		if database == "SQLite" { // its foreign keys have no names
			for i, text := range want {
				want[i] = strings.TrimSuffix(text, " "+text[strings.LastIndex(text, " ")+1:])
				if !strings.HasSuffix(text, "_fkey") {
					want[i] = text
				}
			}
		}
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	})
}

func TestASchemaWithoutDangersHasNoFinding(t *testing.T) {
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		if result := seeded(t, db, "", nil); len(result.Findings)+len(result.Uncounted) > 0 {
			t.Errorf("got %v, %v", result.Findings, result.Uncounted)
		}
	})
}
