package bunstore_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/internal/tests/databases"
	"github.com/habeas-data/habeas/ports"
)

const follows = "REFERENCES members (email) ON UPDATE CASCADE"

// emailIsKey makes the address of a member a key to which other tables refer.
const emailIsKey = "CREATE UNIQUE INDEX members_email ON members (email)"

// An erasure overwrites the address of a member. The cases have foreign keys to the address that act on the change.
var updateCases = map[string]cascadeCase{
	"an unmapped table that follows": {
		forum: forum{also: []string{
			emailIsKey, "CREATE TABLE likes (id bigint PRIMARY KEY, email text " + follows + ")",
		}, rows: []string{"INSERT INTO likes VALUES (1, 'ann@example.com'), (2, 'bob@example.com'), (3, NULL)"}},
		cascaded: map[string]int64{"likes": 1},
	},
	"unmapped tables, one below the other": {
		forum: forum{also: []string{
			emailIsKey, "CREATE TABLE likes (id bigint PRIMARY KEY, email text UNIQUE " + follows + ")",
			"CREATE TABLE logs (email text REFERENCES likes (email) ON UPDATE SET NULL)",
			"CREATE TABLE badges (email text DEFAULT 'bob@example.com' REFERENCES likes (email) ON UPDATE SET DEFAULT)",
		}, rows: []string{
			"INSERT INTO likes VALUES (1, 'ann@example.com'), (2, 'bob@example.com')",
			"INSERT INTO logs VALUES ('ann@example.com'), ('ann@example.com'), ('bob@example.com')",
			"INSERT INTO badges VALUES ('ann@example.com'), ('bob@example.com')",
		}},
		cascaded: map[string]int64{"likes": 1, "logs": 2, "badges": 1},
	},
	"a retained column that follows": {
		forum: forum{also: []string{
			emailIsKey, "DROP TABLE receipts",
			"CREATE TABLE receipts (id bigint PRIMARY KEY, member_id bigint, article_id bigint, amount text " + follows + ")",
		}, rows: []string{"INSERT INTO receipts VALUES (200, 2, NULL, 'ann@example.com')"}},
		refused: "receipts.amount: a foreign key (ON UPDATE) would change this retained column (rows: 1)",
	},
	"a retained column that becomes NULL behind another key": {
		forum: forum{also: []string{
			emailIsKey, "CREATE TABLE likes (id bigint PRIMARY KEY, email text UNIQUE " + follows + ")", "DROP TABLE receipts",
			"CREATE TABLE receipts (id bigint PRIMARY KEY, member_id bigint, article_id bigint," +
				" amount text REFERENCES likes (email) ON UPDATE SET NULL)",
		}, rows: []string{
			"INSERT INTO likes VALUES (1, 'ann@example.com')", "INSERT INTO receipts VALUES (200, 1, NULL, 'ann@example.com')",
		}},
		refused: "receipts.amount: a trigger, a rule or a foreign key would change this column in rows that are to be kept",
	},
	"another column of a composite key": {
		forum: forum{also: []string{
			"CREATE UNIQUE INDEX members_key ON members (id, email)", "DROP TABLE receipts",
			"CREATE TABLE receipts (id bigint PRIMARY KEY, member_id bigint, article_id bigint, amount text, email text," +
				" FOREIGN KEY (article_id, email) REFERENCES members (id, email) ON UPDATE CASCADE)",
		}, rows: []string{"INSERT INTO receipts VALUES (200, 2, 1, '5', 'ann@example.com')"}},
		cascaded: map[string]int64{"receipts": 1},
	},
	"a key that acts on a deletion and a key that acts on its change": {
		forum: forum{also: []string{
			"CREATE TABLE drafts (article_id bigint UNIQUE REFERENCES articles (id) ON DELETE SET NULL)", "DROP TABLE receipts",
			"CREATE TABLE receipts (id bigint PRIMARY KEY, member_id bigint, amount text," +
				" article_id bigint REFERENCES drafts (article_id) ON UPDATE CASCADE)",
		}, rows: []string{
			"INSERT INTO drafts VALUES (10), (20)",
			"INSERT INTO receipts (id, member_id, article_id, amount) VALUES (200, 2, 10, '5'), (201, 2, 20, '5')",
		}},
		refused: "receipts.article_id: a foreign key (ON UPDATE) would change this retained column (rows: 1)",
	},
	"a trigger behind the key that deletes rows of other people": {
		forum: forum{
			also: []string{emailIsKey, "CREATE TABLE likes (id bigint PRIMARY KEY, email text " + follows + ")"},
			rows: []string{
				"INSERT INTO likes VALUES (1, 'ann@example.com')", "INSERT INTO remarks VALUES (100, 2, 20, NULL, 'theirs')",
				onChange("likes", "DELETE FROM remarks WHERE id = 100;"),
			},
		},
		refused: "remarks: the database would delete further rows (1)",
	},
}

func TestWhatAForeignKeyChangesWithTheAddressIsCountedOrRefused(t *testing.T) {
	t.Parallel()
	for name, c := range updateCases {
		t.Run(name, func(t *testing.T) {
			databases.Each(t, func(t *testing.T, db *bun.DB) {
				c.forDatabase(db.Dialect().Name()).create(t, db)
				c.run(t, db)
			})
		})
	}
}

// The trigger belongs to a table that is not in the data map, and to which only the foreign key leads.
func TestATriggerBehindAForeignKeyDoesNotRestoreTheAddress(t *testing.T) {
	t.Parallel()
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		f := forum{
			also: []string{emailIsKey, "CREATE TABLE likes (id bigint PRIMARY KEY, email text " + follows + ")"},
			rows: []string{
				"INSERT INTO likes VALUES (1, 'ann@example.com')",
				onChange("likes", "UPDATE members SET email = 'ann@example.com' WHERE id = 1;"),
			},
		}
		f = f.forDatabase(db.Dialect().Name())
		f.create(t, db)
		store, eraser := f.eraser(t, db)
		err := store.Do(t.Context(), func(ctx context.Context, s ports.Session) error {
			_, err := eraser.Erase(ctx, s, domain.Subject{ID: subjectID(t, "1")})
			return err
		})
		if !errors.Is(err, domain.ErrLeftOver) {
			t.Errorf("got %v", err)
		}
	})
}

// An update that moves a row to another partition deletes and inserts the row, and fires the triggers of both.
func TestTheTriggersOfARowThatMovesToAnotherPartitionCount(t *testing.T) {
	t.Parallel()
	for _, event := range []string{"DELETE", "INSERT"} {
		for _, table := range []string{"remarks", "remarks_1", "remarks_2"} {
			t.Run(event+" on "+table, func(t *testing.T) {
				db := databases.PostgreSQL(t)
				f := forum{also: []string{
					"DROP TABLE remarks",
					"CREATE TABLE remarks (id bigint, member_id bigint REFERENCES members, article_id bigint, parent_id bigint," +
						" body text) PARTITION BY LIST (body)",
					"CREATE TABLE remarks_1 PARTITION OF remarks FOR VALUES IN ('mine', 'theirs')",
					"CREATE TABLE remarks_2 PARTITION OF remarks DEFAULT PARTITION BY LIST (member_id)",
					"CREATE TABLE remarks_3 PARTITION OF remarks_2 DEFAULT",
				}, rows: []string{
					"INSERT INTO remarks VALUES (100, 1, 20, NULL, 'mine'), (101, 2, 20, NULL, 'theirs')",
					"INSERT INTO receipts VALUES (200, 2, NULL, '5')",
					"TRIGGER " + event + " " + table + " DELETE FROM receipts;",
				}}.forDatabase(dialect.PG)
				f.create(t, db)
				a := existingApplication(t, db, nil, (*forumMember)(nil), (*article)(nil), (*movingRemark)(nil), (*receipt)(nil))
				err := a.store.Do(t.Context(), func(ctx context.Context, s ports.Session) error {
					must(t, errOf(s.Subjects().Lock(ctx, subjectID(t, "1"), noon)))
					_, err := s.Subjects().Apply(ctx, subjectID(t, "1"), a.plan.Local())
					return err
				})
				fires := event == "DELETE" != (table == "remarks_2") || table == "remarks"
				if fires != (errors.Is(err, domain.ErrConflict) && strings.Contains(err.Error(), "receipts")) {
					t.Errorf("got %v", err)
				}
			})
		}
	}
}

// The statistics of the server count the row that moves as deleted, so that the erasure runs its steps again.
func TestChangedRowsCountIfRowsMoveToAnotherPartition(t *testing.T) {
	t.Parallel()
	db := databases.PostgreSQL(t)
	f := forum{also: []string{
		"DROP TABLE remarks",
		"CREATE TABLE remarks (id bigint, member_id bigint, article_id bigint, parent_id bigint, body text)" +
			" PARTITION BY LIST (body)",
		"CREATE TABLE remarks_1 PARTITION OF remarks FOR VALUES IN ('mine')",
		"CREATE TABLE remarks_2 PARTITION OF remarks DEFAULT",
	}, rows: []string{
		"INSERT INTO remarks VALUES (100, 1, 20, NULL, 'mine')", "INSERT INTO receipts VALUES (200, 2, NULL, '5')",
		onChange("members", "UPDATE receipts SET article_id = 1 WHERE id = 200;"),
	}}.forDatabase(dialect.PG)
	f.create(t, db)
	store, eraser := newEraser(t, db, (*forumMember)(nil), (*article)(nil), (*movingRemark)(nil), (*otherReceipt)(nil))
	result, err := eraseAnn(t, store, eraser)
	if err != nil || result.Cascaded["receipts"] != 1 || len(result.Cascaded) != 1 {
		t.Errorf("got %v, %v", result.Cascaded, err)
	}
}

type otherReceipt struct {
	bun.BaseModel `bun:"table:receipts"`
	ID            int64        `bun:"id,pk"`
	MemberID      int64        `bun:"member_id"`
	Member        *forumMember `bun:"rel:belongs-to,join:member_id=id"`
	Amount        string       `bun:"amount" pii:"financial,erasure:retain,reason:'tax law'"`
}

// The definition of a table below a table of the data map changes while the store runs.
var alteredCases = map[string]struct {
	also, alters []string
	want         error
}{
	"a trigger of a partition of a partition": {
		[]string{
			"DROP TABLE remarks",
			"CREATE TABLE remarks (id bigint, member_id bigint, article_id bigint, parent_id bigint, body text)" +
				" PARTITION BY LIST (member_id)",
			"CREATE TABLE remarks_1 PARTITION OF remarks DEFAULT PARTITION BY LIST (body)",
			"CREATE TABLE remarks_2 PARTITION OF remarks_1 DEFAULT",
			"INSERT INTO remarks VALUES (100, 1, NULL, NULL, 'mine')",
		},
		plpgsql("CREATE TRIGGER g AFTER DELETE ON remarks_2 FOR EACH ROW", "BEGIN DELETE FROM receipts; RETURN NULL; END"),
		domain.ErrConflict,
	},
	"a foreign key to a partition": {
		[]string{
			"DROP TABLE remarks",
			"CREATE TABLE remarks (id bigint, member_id bigint, article_id bigint, parent_id bigint, body text)" +
				" PARTITION BY LIST (member_id)",
			"CREATE TABLE remarks_1 PARTITION OF remarks DEFAULT", "ALTER TABLE remarks_1 ADD PRIMARY KEY (id)",
			"INSERT INTO remarks VALUES (100, 1, NULL, NULL, 'mine')",
		},
		[]string{
			"UPDATE receipts SET article_id = 100",
			"ALTER TABLE receipts ADD FOREIGN KEY (article_id) REFERENCES remarks_1 (id) ON DELETE CASCADE",
		},
		domain.ErrConflict,
	},
	"a foreign key to a table that inherits": {
		[]string{
			"CREATE TABLE special (PRIMARY KEY (id)) INHERITS (remarks)",
			"INSERT INTO special VALUES (100, 1, NULL, NULL, 'mine')",
		},
		[]string{
			"UPDATE receipts SET article_id = 100",
			"ALTER TABLE receipts ADD FOREIGN KEY (article_id) REFERENCES special (id) ON DELETE CASCADE",
		},
		domain.ErrConflict,
	},
	"a column of a table that inherits": {
		append([]string{"CREATE TABLE special () INHERITS (members)"},
			plpgsql("CREATE TRIGGER g BEFORE UPDATE ON special FOR EACH ROW", "BEGIN RETURN NEW; END")...),
		[]string{"ALTER TABLE special ADD COLUMN secret text"},
		domain.ErrConfiguration,
	},
	"a foreign key that acts on a change": {
		[]string{emailIsKey},
		[]string{
			"UPDATE receipts SET amount = 'ann@example.com'",
			"ALTER TABLE receipts ADD FOREIGN KEY (amount) REFERENCES members (email) ON UPDATE CASCADE",
		},
		domain.ErrConflict,
	},
}

func TestAChangeBelowATableOfTheDataMapIsNoticed(t *testing.T) {
	t.Parallel()
	for name, c := range alteredCases {
		t.Run(name, func(t *testing.T) {
			db := databases.PostgreSQL(t)
			f := forum{also: []string{}, rows: append(c.also, "INSERT INTO receipts VALUES (200, 3, NULL, '5')")}
			f.rows = append([]string{"ALTER TABLE receipts DROP CONSTRAINT receipts_member_id_fkey"}, f.rows...)
			f.create(t, db)
			store, eraser := f.eraser(t, db)
			erase := func(id string) error {
				return store.Do(t.Context(), func(ctx context.Context, s ports.Session) error {
					_, err := eraser.Erase(ctx, s, domain.Subject{ID: subjectID(t, id)})
					return err
				})
			}
			must(t, erase("2"))
			execute(t, db, c.alters...)
			if err := erase("1"); !errors.Is(err, c.want) {
				t.Errorf("got %v", err)
			}
		})
	}
}
