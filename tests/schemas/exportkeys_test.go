package schemas

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/uptrace/bun"

	"github.com/habeas-data/habeas/app"
	"github.com/habeas-data/habeas/internal/tests/databases"
)

// These are the models of a club whose members have seats in rooms. The tables of seats and visits have no annotated
// columns.

type clubMember struct {
	bun.BaseModel `bun:"table:members"`
	ID            int64  `bun:"id,pk" subject:"id"`
	Email         string `bun:"email" pii:"contact,erasure:anonymize"`
	Level         int    `bun:"level" pii:"behavioral,erasure:anonymize"`
}

type clubSeat struct {
	bun.BaseModel `bun:"table:seats" subject:"owned"`
	Room          string      `bun:"room,pk"`
	MemberID      int64       `bun:"member_id,pk"`
	Member        *clubMember `bun:"rel:belongs-to,join:member_id=id"`
	Taken         bool        `bun:"taken"`
}

type clubVisit struct {
	bun.BaseModel `bun:"table:visits"`
	ID            int64       `bun:"id,pk"`
	MemberID      int64       `bun:"member_id"`
	Member        *clubMember `bun:"rel:belongs-to,join:member_id=id"`
}

type visitRemark struct {
	bun.BaseModel `bun:"table:remarks"`
	ID            int64      `bun:"id,pk"`
	VisitID       int64      `bun:"visit_id"`
	Visit         *clubVisit `bun:"rel:belongs-to,join:visit_id=id"`
	Text          string     `bun:"text" pii:"communication,erasure:anonymize"`
}

func TestAnExportHasTheKeysOfRowsWithoutAnnotatedColumns(t *testing.T) {
	t.Parallel()
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		models := []any{(*clubMember)(nil), (*clubSeat)(nil), (*clubVisit)(nil), (*visitRemark)(nil)}
		a := open(t, db, app.Config{Models: models},
			"CREATE TABLE members (id bigint PRIMARY KEY, email text, level int)",
			"CREATE TABLE seats (room varchar(20), member_id bigint REFERENCES members, taken boolean, "+
				"PRIMARY KEY (room, member_id))",
			"CREATE TABLE visits (id bigint PRIMARY KEY, member_id bigint REFERENCES members)",
			"CREATE TABLE remarks (id bigint PRIMARY KEY, visit_id bigint REFERENCES visits, text text)",
			"INSERT INTO members VALUES (1, 'a@example.org', 3), (2, 'b@example.org', 0)",
			"INSERT INTO seats VALUES ('a', 1, true), ('b', 1, false), ('a', 2, true)",
			"INSERT INTO visits VALUES (10, 1), (20, 2)",
			"INSERT INTO remarks VALUES (100, 10, 'nice'), (200, 20, 'so')")
		exported := func(id string) (lines []string) {
			bundle, err := a.export(t.Context(), id)
			must(t, err)
			for _, r := range bundle.Records {
				if !r.Valid() {
					t.Errorf("%+v is not valid", r)
				}
				value := fmt.Sprint(r.Value)
				if r.Erased {
					value = "erased " + value
				}
				lines = append(lines, fmt.Sprintf("%s.%s %q %s: %s", r.Source, r.Field, r.Row, r.Category, value))
			}
			return lines
		}
		want := []string{
			`members.email "1" contact: a@example.org`, `members.level "1" behavioral: 3`,
			`seats.room "a\x1f1" technical: a`, `seats.member_id "a\x1f1" technical: 1`, `seats.room "b\x1f1" technical: b`,
			`seats.member_id "b\x1f1" technical: 1`, `visits.id "10" technical: 10`, `remarks.text "100" communication: nice`,
		}
		if got := exported("1"); !slices.Equal(got, want) {
			t.Errorf("exported are %q, want %q", got, want)
		}
		others := exported("2")
		_, err := a.erase(t.Context(), "1")
		must(t, err)
		execute(t, db, "INSERT INTO visits VALUES (11, 1)", "INSERT INTO remarks VALUES (101, 11, 'anon-ymous')")
		want = []string{
			`members.email "1" contact: erased <nil>`, `members.level "1" behavioral: erased <nil>`,
			`visits.id "10" technical: 10`, `visits.id "11" technical: 11`, `remarks.text "100" communication: erased <nil>`,
			`remarks.text "101" communication: anon-ymous`,
		}
		if got := exported("1"); !slices.Equal(got, want) {
			t.Errorf("after the erasure, exported are %q, want %q", got, want)
		}
		if got := exported("2"); !slices.Equal(got, others) {
			t.Errorf("the export of another subject is %q, and was %q", got, others)
		}
	})
}

type clubPass struct {
	bun.BaseModel `bun:"table:passes" subject:"owned"`
	Token         string      `bun:"token,pk" pii:"technical,export:no"`
	Gate          int         `bun:"gate,pk"`
	MemberID      int64       `bun:"member_id"`
	Member        *clubMember `bun:"rel:belongs-to,join:member_id=id"`
	Device        string      `bun:"device" pii:"technical"`
}

func TestAnExportNumbersRowsWhoseKeyIsASecret(t *testing.T) {
	t.Parallel()
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		a := open(t, db, app.Config{Models: []any{(*clubMember)(nil), (*clubPass)(nil)}},
			"CREATE TABLE members (id bigint PRIMARY KEY, email text, level int)",
			"CREATE TABLE passes (token varchar(20), gate int, member_id bigint REFERENCES members, device text, "+
				"PRIMARY KEY (token, gate))",
			"INSERT INTO members VALUES (1, 'a@example.org', 3), (2, 'b@example.org', 0)",
			"INSERT INTO passes VALUES ('s3cret-b', 1, 1, 'watch'), ('s3cret-a', 1, 1, 'phone'), "+
				"('s3cret-c', 1, 2, 'ring')")
		bundle, err := a.export(t.Context(), "1")
		must(t, err)
		if text := fmt.Sprint(bundle); strings.Contains(text, "s3cret") {
			t.Errorf("the export has the secret: %s", text)
		}
		var lines []string
		for _, r := range bundle.Records {
			lines = append(lines, fmt.Sprintf("%s.%s %q %v", r.Source, r.Field, r.Row, r.Value))
		}
		want := []string{
			`members.email "1" a@example.org`, `members.level "1" 3`, `passes.device "1" phone`, `passes.device "2" watch`,
		}
		if !slices.Equal(lines, want) {
			t.Errorf("exported are %q, want %q", lines, want)
		}
		result, err := a.erase(t.Context(), "1")
		must(t, err)
		if result.Deleted["passes"] != 2 {
			t.Errorf("erased are %v", result.Deleted)
		}
	})
}
