package porttest

import (
	"context"
	"fmt"
	"math"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/rectification"
	"github.com/habeas-data/habeas/ports"
)

// rectifies returns a step that writes one value into one column.
func rectifies(table, column string, value any) domain.RectificationStep {
	return domain.RectificationStep{Table: table, Values: []domain.ColumnValue{{Column: column, Value: value}}}
}

// rectify applies a step and returns the number of rectified rows.
func (s shopUnderTest) rectify(t testing.TB, who customer, step domain.RectificationStep) int64 {
	t.Helper()
	return read(t, s.Store, func(ctx context.Context, session ports.Session) (int64, error) {
		return session.Subjects().Rectify(ctx, who.id(t), step)
	})
}

// rewritten has a value that is written into a column, and the value that the application then reads. The two values
// differ in type or in notation.
type rewritten struct{ value, read any }

// validValues has valid values of several columns, with the name of the column as the key. The columns have different
// types.
var validValues = map[string][]any{
	"email": {
		"zoë@example.org", "", `it's "quoted" \ 100% a_b ?0 ?1 $1 -- \u0041 {}`, "Zoë 🙂\n\ttab ",
		"NULL", "12.50", "true",
	},
	"mobile": {"+49 170 0"},
	"name":   {strings.Repeat("ä", 39) + "🙂"},
	"level":  {int64(-32768), int64(32767), int64(0)},
	"visits": {int64(math.MinInt32), int64(math.MaxInt32)},
	"score": {
		rewritten{int64(-3), -3.0},
		12.25, -0.1, 0.0, 1e-7, 123456789.125,
		rewritten{domain.Number("0.30"), 0.3},
		rewritten{domain.Number("1e3"), 1000.0},
		rewritten{domain.Number("-17"), -17.0},
	},
	"active": {true, false},
	"born": {
		time.Date(1969, 12, 31, 23, 59, 59, 999999000, time.UTC), time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC),
		time.Date(9999, 12, 31, 23, 59, 59, 1000, time.UTC), time.Date(2024, 2, 29, 0, 0, 0, 0, time.UTC),
	},
	"token": {"00000000-0000-0000-0000-000000000000", "f47ac10b-58cc-4372-a567-0e02b2c3d479"},
	"settings": {
		domain.JSON(`{"a": [1, 2.5, "é\u00e9", null, true], "": {}}`), domain.JSON(`[]`), domain.JSON(`"text"`),
		domain.JSON(`12`), domain.JSON(`null`), domain.JSON(`false`), domain.JSON(`"12"`),
	},
	"photo": {[]byte{}, []byte{0, 1, 0xff, '\'', '\\', 'x'}, []byte("text")},
}

func subjectRectificationReadsBack(t testing.TB, h StoreHarness) {
	s := shopUnderTest{h.open(t)}
	s.seed(t, zoe, 1)
	for _, column := range DataMap().SubjectTable().Personal() {
		for i, value := range validValues[column.Name] {
			v, is := value.(rewritten)
			if !is {
				v = rewritten{value, value}
			}
			name := fmt.Sprintf("the value %d of type %s", i, column.Type)
			rows := s.rectify(t, zoe, rectifies("people", column.Name, v.value))
			assert(t, rows == 1, "%s was written into %d rows, want 1", name, rows)
			got := s.Rows(t, "people")[0][column.Name]
			assert(t, same(got, v.read), "%s reads back as a different value of Go type %T", name, got)
			for _, record := range s.export(t, zoe) {
				assert(t, record.Field != column.Name || same(record.Value, v.read),
					"%s is exported as a different value of Go type %T", name, record.Value)
			}
		}
	}
}

func subjectRectificationCountsRows(t testing.TB, h StoreHarness) {
	s := h.shop(t)
	for _, c := range []struct {
		who  customer
		step domain.RectificationStep
		want int64
	}{
		{zoe, rectifies("people", "email", "right"), 1},
		{zoe, rectifies("addresses", "street", "right"), 3},
		{zoe, rectifies("invoices", "address", "right"), 3}, // a rectification also corrects retained cells
		{zoe, rectifies("order_lines", "engraving", "right"), 6},
		{zoe, rectifies("order_lines", "engraving", "right"), 6},
		{customer{"nobody", 7, 900_000}, rectifies("people", "email", "right"), 0},
		{customer{"nobody", 7, 900_000}, rectifies("order_lines", "engraving", "right"), 0},
	} {
		rows := s.rectify(t, c.who, c.step)
		assert(t, rows == c.want, "%s of tenant %s: %d rows, want %d", c.step.Table, c.who.tenant, rows, c.want)
	}
}

func subjectRectificationTouchesNothingElse(t testing.TB, h StoreHarness) {
	s := h.shop(t)
	for _, table := range DataMap().Tables() {
		if len(DataMap().Paths(table.Name)) > 1 {
			continue // subjectSharedRowsAreRectifiedInParts checks these tables
		}
		before := s.content(t)
		column := table.Personal()[0]
		s.rectify(t, zoe, rectifies(table.Name, column.Name, "right"))
		after := s.content(t)
		expectUnchanged(t, "what is not the subject's", after.without(zoe), before.without(zoe))
		rows := after.of(zoe)[table.Name]
		for i, row := range rows {
			assert(t, row[column.Name] == "right", "%s.%s lacks the corrected value in a row", table.Name, column.Name)
			row[column.Name] = before.of(zoe)[table.Name][i][column.Name]
		}
		expectUnchanged(t, "but for the column", after, before)
	}
}

func subjectRectificationFollowsItsPlan(t testing.TB, h StoreHarness) {
	s := h.shop(t)
	before := s.content(t)
	corrections := domain.Corrections{
		domain.CategoryContact: "Right", domain.CategoryBehavioral: 12, domain.CategorySpecial: "2000-01-02T03:04:05Z",
	}
	plan, err := rectification.Planner{}.Plan(DataMap(), corrections.List(true), false)
	must(t, err == nil, "the plan of the corrections cannot be built: %v", err)
	s.do(t, func(ctx context.Context, subjects ports.SubjectStore) error {
		for _, step := range plan.Steps {
			if _, err := subjects.Rectify(ctx, zoe.id(t), step); err != nil {
				return err
			}
		}
		return nil
	})
	want := before.filter(func(string, Row) bool { return true })
	for _, row := range want.of(zoe)["people"] {
		row["email"], row["level"], row["visits"] = "Right", int64(12), int64(12)
		row["born"] = time.Date(2000, 1, 2, 3, 4, 5, 0, time.UTC)
	}
	for _, row := range want.of(zoe)["invoices"] {
		row["phone"] = "Right"
	}
	expectUnchanged(t, "after a rectification", s.content(t), want)
}

func subjectRectificationIsRefused(t testing.TB, h StoreHarness) {
	s := h.shop(t)
	before := s.content(t)
	for what, step := range map[string]domain.RectificationStep{
		"a step without values": {Table: "people"}, "a step about an unknown table": rectifies("strangers", "email", "right"),
		"a step about an unknown column":              rectifies("people", "street", "right"),
		"a step about a column that is not annotated": rectifies("people", "remark", "right"),
		"a step about a key":                          rectifies("people", "tenant", "right"),
		"a step about a relation":                     rectifies("orders", "person", int64(8)),
		"a step with a column that is right and one wrong": {Table: "people", Values: []domain.ColumnValue{
			{Column: "email", Value: "right"}, {Column: "remark", Value: "right"},
		}},
	} {
		err := s.try(t, func(ctx context.Context, subjects ports.SubjectStore) error {
			return errOf(subjects.Rectify(ctx, zoe.id(t), step))
		})
		isError(t, what, err, domain.ErrManifest)
	}
	expectUnchanged(t, "after rectifications that were refused", s.content(t), before)
}

func subjectRectificationCanBeRolledBack(t testing.TB, h StoreHarness) {
	s := h.shop(t)
	before := s.content(t)
	undo(t, s.Store, func(ctx context.Context, session ports.Session) error {
		return errOf(session.Subjects().Rectify(ctx, zoe.id(t), rectifies("people", "email", "right")))
	})
	expectUnchanged(t, "after a rollback", s.content(t), before)
}

// Two sessions rectify the same row. The store may make the second session wait, or may retry the first session. The
// row must hold the value of the session in which Rectify returned last.
func subjectLaterRectificationStays(t testing.TB, h StoreHarness) {
	s := h.shop(t)
	var mu sync.Mutex
	var last string
	write := func(ctx context.Context, subjects ports.SubjectStore, name string) error {
		rows, err := subjects.Rectify(ctx, zoe.id(t), rectifies("people", "email", name))
		assert(t, err != nil || rows == 1, "the %s session rectified %d rows, want 1", name, rows)
		mu.Lock()
		defer mu.Unlock()
		last = name
		return err
	}
	done := make(chan struct{})
	begin, end := concurrently(func() {
		defer close(done)
		err := s.try(t, func(ctx context.Context, subjects ports.SubjectStore) error {
			return write(ctx, subjects, "second")
		})
		assert(t, err == nil, "a session that rectifies the same row failed: %v", err)
	})
	defer end()
	s.do(t, func(ctx context.Context, subjects ports.SubjectStore) error {
		err := write(ctx, subjects, "first")
		begin()
		receiveWithin(done, moment) // the second session may have to wait for this one
		return err
	})
	end()
	for _, row := range s.content(t).of(zoe)["people"] {
		assert(t, row["email"] == last, "the value of the earlier session has stayed")
	}
}

func subjectValuesAreCopies(t testing.TB, h StoreHarness) {
	s := shopUnderTest{h.open(t)}
	s.seed(t, zoe, 1)
	right := []byte("right")
	s.do(t, func(ctx context.Context, subjects ports.SubjectStore) error {
		given := []byte("right")
		defer copy(given, "wrong")
		_, err := subjects.Rectify(ctx, zoe.id(t), rectifies("people", "photo", given))
		return err
	})
	assert(t, same(s.Rows(t, "people")[0]["photo"], right), "a change of the given value changed the table")
	for range 2 { // the second round runs after the exported values were changed
		for _, record := range s.export(t, zoe) {
			if photo, isBytes := record.Value.([]byte); isBytes {
				assert(t, same(photo, right), "a change of the exported value changed the table")
				copy(photo, "wrong")
			}
		}
	}
}
