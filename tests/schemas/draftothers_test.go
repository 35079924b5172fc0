package schemas

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/uptrace/bun"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore"
	"github.com/habeas-data/habeas/app"
	"github.com/habeas-data/habeas/internal/tests/databases"
	"github.com/habeas-data/habeas/internal/tests/fixture"
	"github.com/habeas-data/habeas/tool/scaffold"
)

// withOthers are tables in which rows of a second person hang on rows of the first one. PART OF is a reference with ON
// DELETE CASCADE.
var withOthers = map[string]struct {
	tables, rows []string
	changed      []string // the rows that an erasure of the first person changes or deletes
}{
	"readers of what stays": {
		tables: []string{
			"diaries (id bigint PRIMARY KEY, user_id bigint NOT NULL PART OF users, entry text)",
			"diary_versions (id bigint PRIMARY KEY, diary_id bigint NOT NULL PART OF diaries, editor_id bigint " +
				"NOT NULL REFERENCES users, body text)",
			"diary_readers (id bigint PRIMARY KEY, diary_id bigint NOT NULL PART OF diaries, email text)",
		},
		rows: []string{
			"diaries VALUES (1, 1, 'by one')", "diary_versions VALUES (1, 1, 2, 'by two')",
			"diary_readers VALUES (1, 1, '2@example.org')",
		},
	},
	"things": {
		tables: []string{
			"repos (id bigint PRIMARY KEY, created_by bigint NOT NULL PART OF users, title text)",
			"deploy_keys (id bigint PRIMARY KEY, repo text, created_by bigint NOT NULL PART OF users, private_key text)",
			"calendars (id bigint PRIMARY KEY, author_id bigint NOT NULL PART OF users, title text)",
		},
		rows: []string{
			"repos VALUES (1, 1, 'of all')", "deploy_keys VALUES (1, 'of all', 1, 'of all')",
			"calendars VALUES (1, 1, 'of all')",
		},
		changed: []string{"calendars 1", "deploy_keys 1", "repos 1"}, // the schema gives them to the person
	},
	"present values of things": {
		tables: []string{
			"rotations (id bigint PRIMARY KEY, name text)",
			"rotation_participants (id bigint PRIMARY KEY, rotation_id bigint NOT NULL PART OF rotations, user_id bigint " +
				"NOT NULL PART OF users)",
			"rotation_state (rotation_id bigint PRIMARY KEY PART OF rotations, participant_id bigint NOT NULL PART OF " +
				"rotation_participants, since text)",
			"shifts (rotation_id bigint PRIMARY KEY PART OF rotations, user_id bigint NOT NULL PART OF users, since text)",
		},
		rows: []string{
			"rotations VALUES (1, 'of all')", "rotation_participants VALUES (1, 1, 1)",
			"rotation_participants VALUES (2, 1, 2)", "rotation_state VALUES (1, 1, 'now')", "shifts VALUES (1, 1, 'now')",
		},
		changed: []string{"rotation_participants 1", "rotation_state <nil>", "shifts <nil>"},
	},
	"blocks by moderators": {
		tables: []string{
			"user_blocks (id bigint PRIMARY KEY, user_id bigint NOT NULL PART OF users, creator_id bigint NOT NULL " +
				"REFERENCES users, reason text)",
		},
		rows: []string{"user_blocks VALUES (1, 1, 2, 'by two')", "user_blocks VALUES (2, 2, 1, 'by one')"},
	},
	"moderators without keys": {
		tables: []string{
			"user_privileges (id bigint PRIMARY KEY, user_id bigint, privilege text, revoke_user_id bigint, reason text)",
			"user_blocks (id bigint PRIMARY KEY, user_id bigint, blocked_user_id bigint, override_user_id bigint)",
			"blocked_ips (id bigint PRIMARY KEY, ip text, user_id bigint)",
			"user_parents (id bigint PRIMARY KEY, user_id bigint, parent_user_id bigint, email text)",
		},
		rows: []string{
			"user_privileges VALUES (1, 2, 'all', 1, 'of two')", "user_blocks VALUES (1, 2, 2, 1)",
			"blocked_ips VALUES (1, '192.0.2.1', 1)", "user_parents VALUES (1, 2, 1, 'of both')",
		},
	},
	"missing keys": {
		tables: []string{
			"visits (id bigint PRIMARY KEY, user_id bigint NOT NULL REFERENCES users)",
			"events (id bigint PRIMARY KEY, message text, actor_user_id bigint NOT NULL)",
		},
		rows: []string{"events VALUES (1, 'of one', 1)", "events VALUES (2, 'of two', 2)"},
	},
	"replies": {
		tables: []string{
			"remarks (id bigint PRIMARY KEY, user_id bigint NOT NULL PART OF users, parent_id bigint PART OF remarks, " +
				"body text)",
		},
		rows: []string{"remarks VALUES (1, 1, NULL, 'by one')", "remarks VALUES (2, 2, 1, 'by two')"},
	},
	"gifts to others": {
		tables: []string{
			"wishes (id bigint PRIMARY KEY, user_id bigint NOT NULL PART OF users, title text)",
			"gifts (id bigint PRIMARY KEY, giver_id bigint NOT NULL PART OF users, wish_id bigint NOT NULL PART OF wishes, " +
				"size bigint)",
			"goals (id bigint PRIMARY KEY, user_id bigint NOT NULL PART OF users, title text)",
			"pledges (id bigint PRIMARY KEY, user_id bigint NOT NULL PART OF users, goal_id bigint NOT NULL PART OF goals, " +
				"amount bigint)",
			"games (id bigint PRIMARY KEY, user_id bigint NOT NULL PART OF users, title text)",
			"scores (id bigint PRIMARY KEY, user_id bigint NOT NULL PART OF users, game_id bigint NOT NULL PART OF games, " +
				"points bigint, UNIQUE (game_id, user_id))",
			"funds (id bigint PRIMARY KEY, user_id bigint NOT NULL PART OF users, title text)",
			"donations (id bigint PRIMARY KEY, donor_id bigint NOT NULL PART OF users, fund_id bigint NOT NULL PART OF " +
				"funds, amount bigint, donor_name text NOT NULL)",
		},
		rows: []string{
			"wishes VALUES (1, 1, 'of one')", "wishes VALUES (2, 2, 'of two')", "gifts VALUES (1, 1, 2, 5)",
			"gifts VALUES (2, 2, 1, 6)", "goals VALUES (1, 1, 'of one')", "goals VALUES (2, 2, 'of two')",
			"pledges VALUES (1, 1, 2, 5)", "pledges VALUES (2, 2, 1, 6)", "games VALUES (1, 1, 'of one')",
			"games VALUES (2, 2, 'of two')", "scores VALUES (1, 1, 2, 5)", "scores VALUES (2, 2, 1, 6)",
			"funds VALUES (1, 1, 'of one')", "funds VALUES (2, 2, 'of two')", "donations VALUES (1, 1, 2, 5, 'one')",
			"donations VALUES (2, 2, 1, 6, 'two')",
		},
	},
	"comments in a post": {
		tables: []string{
			"posts (id bigint PRIMARY KEY, user_id bigint NOT NULL PART OF users, title text)",
			"post_comments (id bigint PRIMARY KEY, post_id bigint NOT NULL PART OF posts, author_name text)",
		},
		rows: []string{
			"posts VALUES (1, 1, 'by one')", "posts VALUES (2, 2, 'by two')",
			"post_comments VALUES (1, 1, 'two')", "post_comments VALUES (2, 2, 'one')",
		},
		changed: []string{"post_comments 1", "posts 1"},
	},
}

var partOf = regexp.MustCompile(`PART OF (\w+)`)

func TestADraftLeavesTheRowsOfOthers(t *testing.T) {
	t.Parallel()
	for name, test := range withOthers {
		t.Run(name, func(t *testing.T) {
			databases.Each(t, func(t *testing.T, db *bun.DB) {
				execute(t, db, "CREATE TABLE users (id bigint PRIMARY KEY, email text NOT NULL UNIQUE)",
					"INSERT INTO users VALUES (1, '1@example.org'), (2, '2@example.org')")
				tables := []string{"users"}
				for _, table := range test.tables {
					name, _, _ := strings.Cut(table, " ")
					tables = append(tables, name)
					execute(t, db, "CREATE TABLE "+partOf.ReplaceAllString(table, "REFERENCES $1 ON DELETE CASCADE"))
				}
				for _, row := range test.rows {
					execute(t, db, "INSERT INTO "+row)
				}
				a := openDraft(t, db)
				before := a.titles(t, tables)
				_, err := a.erase(t.Context(), "1")
				must(t, err)
				after := a.titles(t, tables)
				changed := slices.DeleteFunc(slices.Sorted(maps.Keys(before)), func(place string) bool {
					return after[place] == before[place]
				})
				if want := append(slices.Clone(test.changed), "users 1"); !slices.Equal(changed, want) {
					t.Errorf("an erasure changes %v, want %v", changed, want)
				}
			})
		})
	}
}

// openDraft opens an application with the untouched draft for the database.
func openDraft(t *testing.T, db *bun.DB) *application {
	t.Helper()
	schema, err := bunstore.NewSchema(db, bunstore.Options{})
	must(t, err)
	p, err := scaffold.Propose(t.Context(), schema, scaffold.Options{SubjectTable: "users"})
	must(t, err)
	dataMap := fixture.MustMap(t, p.Tables...)
	return open(t, db, app.Config{DataMap: dataMap})
}
