package schemas

import (
	"bytes"
	"errors"
	"testing"

	"github.com/uptrace/bun"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore"
	"github.com/habeas-data/habeas/adapters/persistence/manifest"
	"github.com/habeas-data/habeas/app"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/internal/tests/databases"
	"github.com/habeas-data/habeas/internal/tests/fixture"
	"github.com/habeas-data/habeas/tool/check"
	"github.com/habeas-data/habeas/tool/scaffold"
)

// club is a schema with constraints, such as CHECK and UNIQUE. Most values with which an erasure could overwrite data
// would violate these constraints.
var club = []string{
	`CREATE TABLE members (id bigint PRIMARY KEY, email varchar(60) NOT NULL UNIQUE CHECK (email LIKE '%@%'),
		login varchar(16) NOT NULL UNIQUE, first_name text NOT NULL, birthday date, gender varchar(8) NOT NULL
		CHECK (gender IN ('f', 'm', 'unknown')), age integer NOT NULL CHECK (age >= 18), password_hash text NOT NULL,
		phone varchar(20), joined_at timestamp NOT NULL)`,
	`CREATE TABLE member_settings (member_id bigint PRIMARY KEY REFERENCES members, theme text NOT NULL)`,
	`CREATE TABLE sessions (token text PRIMARY KEY, member_id bigint NOT NULL REFERENCES members, ip text)`,
	`CREATE TABLE friendships (requester_id bigint NOT NULL REFERENCES members,
		friend_id bigint NOT NULL REFERENCES members, PRIMARY KEY (requester_id, friend_id))`,
	`CREATE TABLE posts (id bigint PRIMARY KEY, author_id bigint NOT NULL REFERENCES members, title varchar(80) NOT NULL,
		body text)`,
	`CREATE TABLE comments (id bigint PRIMARY KEY, post_id bigint NOT NULL REFERENCES posts, author_id bigint NOT NULL
		REFERENCES members, body text NOT NULL, parent_id bigint REFERENCES comments)`,
	`CREATE TABLE messages (id bigint PRIMARY KEY, sender_id bigint REFERENCES members, recipient_id bigint NOT NULL
		REFERENCES members, body text NOT NULL)`,
	`CREATE TABLE invoices (id bigint PRIMARY KEY, member_id bigint NOT NULL REFERENCES members,
		billing_name text NOT NULL, total bigint NOT NULL, issued_at timestamp NOT NULL)`,
	`CREATE TABLE countries (code varchar(2) PRIMARY KEY, name text NOT NULL)`,
}

var clubRows = []string{
	`INSERT INTO members VALUES (1, 'ada@example.com', 'ada', 'Ada', '1990-01-02', 'f', 30, 'h1', '+1', '2020-01-01'),
		(2, 'bob@example.com', 'bob', 'Bob', NULL, 'm', 40, 'h2', NULL, '2020-01-01'),
		(3, 'eve@example.com', 'eve', 'Eve', NULL, 'f', 50, 'h3', NULL, '2020-01-01')`,
	`INSERT INTO member_settings VALUES (1, 'dark'), (3, 'light')`,
	`INSERT INTO sessions VALUES ('t1', 1, '192.0.2.1'), ('t3', 3, '192.0.2.3')`,
	`INSERT INTO friendships VALUES (1, 3), (3, 2), (2, 1)`,
	`INSERT INTO posts VALUES (1, 1, 'Ada''s post', 'text'), (2, 3, 'Eve''s post', 'text')`,
	`INSERT INTO comments VALUES (1, 2, 1, 'by Ada', NULL), (2, 1, 3, 'by Eve', NULL), (3, 2, 3, 'by Eve', 1)`,
	`INSERT INTO messages VALUES (1, 1, 3, 'by Ada'), (2, 3, 1, 'by Eve')`,
	`INSERT INTO invoices VALUES (1, 1, 'Ada', 10, '2999-01-01'), (2, 2, 'Bob', 10, '1999-01-01')`,
	`INSERT INTO countries VALUES ('de', 'Germany')`,
}

// clubAnswers are the answers of a person to the questions about tables.
var clubAnswers = map[string]string{
	"sessions": "delete", "friendships": "delete:requester_id", "posts": "overwrite", "comments": "overwrite:author_id",
	"messages": "overwrite:sender_id", "invoices": "overwrite",
}

func TestAProposalForALiveSchemaErasesPeople(t *testing.T) {
	t.Parallel()
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		execute(t, db, club...)
		execute(t, db, clubRows...)
		schema, err := bunstore.NewSchema(db, bunstore.Options{})
		must(t, err)
		p, err := scaffold.Propose(t.Context(), schema, scaffold.Options{})
		must(t, err)
		var decisions []datamap.Decision
		for _, decision := range p.Decisions {
			if answer := clubAnswers[decision.Object]; answer != "" && len(decision.Columns) == 0 {
				p.Tables, err = decision.Apply(p.Tables, answer)
				must(t, err)
				decision.Answer = answer
			}
			decisions = append(decisions, decision)
		}
		proposed := fixture.MustMap(t, p.Tables...).WithDecisions(decisions...)
		var text bytes.Buffer
		must(t, manifest.Write(&text, proposed))
		dataMap, err := manifest.Read(&text)
		must(t, err)

		a := open(t, db, app.Config{DataMap: dataMap})
		checked, err := a.check(t.Context())
		must(t, err)
		must(t, check.Errors(checked.Findings))
		for _, id := range []string{"1", "2"} { // the surrogates of both erasures must differ
			subject := fixture.MustSubject(t, id)
			rehearsal, err := a.Operator().Rehearse(t.Context(), subject)
			if err != nil || rehearsal.Refused != nil {
				t.Fatalf("the rehearsal returns %v, %+v", err, rehearsal.Refused)
			}
			_, err = a.Operator().EraseAsRehearsed(t.Context(), subject, rehearsal.Fingerprint)
			must(t, err)
			report, err := a.Operator().Verify(t.Context(), subject.ID)
			if err != nil || len(report.LeftOver) > 0 {
				t.Errorf("after the erasure: %v, %+v", err, report.LeftOver)
			}
		}
		for query, want := range map[string]int{
			`SELECT count(*) FROM members WHERE email LIKE '%@erased.invalid' AND gender = 'unknown' AND age = 18
				AND first_name = '' AND COALESCE(birthday, '1970-01-01') < '1980-01-01' AND COALESCE(phone, '') = ''
				AND login <> '' AND password_hash LIKE 'anon-%'`: 2,
			`SELECT count(*) FROM members WHERE id = 3 AND email = 'eve@example.com' AND login = 'eve'`: 1,
			`SELECT count(*) FROM member_settings`:                                                      1,
			`SELECT count(*) FROM sessions WHERE token = 't3'`:                                          1,
			`SELECT count(*) FROM sessions`:                                                             1,
			`SELECT count(*) FROM friendships`:                                                          1,
			`SELECT count(*) FROM posts WHERE title = '' AND body = ''`:                                 1,
			`SELECT count(*) FROM comments WHERE body = ''`:                                             1,
			`SELECT count(*) FROM comments WHERE body = 'by Eve'`:                                       2,
			`SELECT count(*) FROM messages WHERE body = '' AND sender_id = 1`:                           1,
			`SELECT count(*) FROM messages WHERE body = 'by Eve'`:                                       1,
			`SELECT count(*) FROM invoices WHERE billing_name = ''`:                                     2,
		} {
			if got := a.count(t, query); got != want {
				t.Errorf("%s: %d, want %d", query, got, want)
			}
		}
	})
}

func TestACatalogIsNotReadFromNowhere(t *testing.T) {
	t.Parallel()
	if _, err := bunstore.NewSchema(nil, bunstore.Options{}); !errors.Is(err, domain.ErrConfiguration) {
		t.Errorf("got %v", err)
	}
}
