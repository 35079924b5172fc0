package rectification_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/golang/mock/gomock"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
)

// profile is a data map with three columns of one category in two tables. One table has a composite key.
func profile(tb testing.TB) datamap.DataMap {
	tb.Helper()
	people := users()
	people.Columns = []datamap.Column{
		column("id", datamap.TypeBigInt),
		personal("name", datamap.TypeText, domain.CategoryIdentity),
		personal("biography", datamap.TypeText, domain.CategoryIdentity),
		personal("email", datamap.TypeText, domain.CategoryContact),
		column("theme", datamap.TypeText),
	}
	lines := child("lines", "users")
	lines.PrimaryKey = []string{"id", "line"}
	lines.Columns = append(lines.Columns, column("line", datamap.TypeBigInt),
		personal("signature", datamap.TypeText, domain.CategoryIdentity),
		personal("gift", datamap.TypeText, domain.CategorySpecial),
		personal("id_card", datamap.TypeBigInt, domain.CategoryTechnical))
	return mustMap(tb, people, lines)
}

func value(column string, value any) domain.ColumnValue {
	return domain.ColumnValue{Column: column, Value: value}
}

func TestACorrectionOfAColumnIsWrittenOnlyThere(t *testing.T) {
	row := domain.CanonicalTuple([]string{"7", "1"})
	for name, c := range map[string]struct {
		given []domain.Correction
		steps []domain.RectificationStep
		sent  domain.Corrections
	}{
		"one column": {
			given: []domain.Correction{{Table: "users", Column: "name", Value: "Zoë"}},
			steps: []domain.RectificationStep{{Table: "users", Values: []domain.ColumnValue{value("name", "Zoë")}}},
			sent:  domain.Corrections{},
		},
		"one column, and its category at external systems": {
			given: []domain.Correction{{Table: "users", Column: "name", Category: "identity", Value: "Zoë"}},
			steps: []domain.RectificationStep{{Table: "users", Values: []domain.ColumnValue{value("name", "Zoë")}}},
			sent:  domain.Corrections{"identity": "Zoë"},
		},
		"one row": {
			given: []domain.Correction{{Table: "lines", Column: "gift", Row: row, Value: "tea"}},
			steps: []domain.RectificationStep{{Table: "lines", Row: row, Values: []domain.ColumnValue{value("gift", "tea")}}},
			sent:  domain.Corrections{},
		},
		"a category with one column": {
			given: []domain.Correction{{Category: "contact", Value: "zoe@example.org"}},
			steps: []domain.RectificationStep{{Table: "users", Values: []domain.ColumnValue{value("email", "zoe@example.org")}}},
			sent:  domain.Corrections{"contact": "zoe@example.org"},
		},
		"all columns of a category": {
			given: []domain.Correction{{Category: "identity", AllColumns: true, Value: "Zoë"}},
			steps: []domain.RectificationStep{
				{Table: "users", Values: []domain.ColumnValue{value("name", "Zoë"), value("biography", "Zoë")}},
				{Table: "lines", Values: []domain.ColumnValue{value("signature", "Zoë")}},
			},
			sent: domain.Corrections{"identity": "Zoë"},
		},
		"several, in any order": {
			given: []domain.Correction{
				{Table: "lines", Column: "gift", Row: row, Value: "tea"},
				{Table: "users", Column: "biography", Value: "likes tea"},
				{Table: "lines", Column: "id_card", Row: row, Value: json.Number("9007199254740993")},
				{Table: "lines", Column: "signature", Value: "Z."},
				{Table: "users", Column: "name", Value: "Zoë"},
			},
			steps: []domain.RectificationStep{
				{Table: "users", Values: []domain.ColumnValue{value("name", "Zoë"), value("biography", "likes tea")}},
				{Table: "lines", Values: []domain.ColumnValue{value("signature", "Z.")}},
				{Table: "lines", Row: row, Values: []domain.ColumnValue{
					value("gift", "tea"), value("id_card", int64(9007199254740993)),
				}},
			},
			sent: domain.Corrections{},
		},
	} {
		plan, err := planner.Plan(profile(t), c.given, false)
		if err != nil || !reflect.DeepEqual(plan.Steps, c.steps) || !reflect.DeepEqual(plan.Corrections, c.sent) {
			t.Errorf("%s: got %+v, %v,\nwant %+v and %v", name, plan, err, c.steps, c.sent)
		}
	}
}

func TestACorrectionWithoutAUniquePlaceIsRefused(t *testing.T) {
	secret := "secret"
	for name, c := range map[string]struct {
		given []domain.Correction
		want  []string
	}{
		"a category with several columns": {
			[]domain.Correction{{Category: "identity", Value: secret}}, []string{"identity ambiguous"},
		},
		"no place": {[]domain.Correction{{Value: secret}}, []string{"corrections required"}},
		"a row without a table": {
			[]domain.Correction{{Category: "contact", Row: secret, Value: secret}}, []string{"contact required"},
		},
		"a table that there is not": {
			[]domain.Correction{{Table: secret, Column: "name", Value: secret}}, []string{"corrections unknown"},
		},
		"a column that there is not": {
			[]domain.Correction{{Table: "users", Column: secret, Value: secret}}, []string{"corrections unknown"},
		},
		"a table alone": {[]domain.Correction{{Table: "users", Value: secret}}, []string{"corrections unknown"}},
		"a column alone": {
			[]domain.Correction{{Column: "name", Category: "identity", Value: secret}}, []string{"identity unknown"},
		},
		"a column that is not annotated": {
			[]domain.Correction{{Table: "users", Column: "theme", Value: secret}}, []string{"users.theme unknown"},
		},
		"a key": {[]domain.Correction{{Table: "users", Column: "id", Value: 1}}, []string{"users.id unknown"}},
		"another category": {
			[]domain.Correction{{Table: "users", Column: "name", Category: "contact", Value: secret}},
			[]string{"users.name unknown"},
		},
		"a column, and all of them": {
			[]domain.Correction{{Table: "users", Column: "name", Category: "identity", AllColumns: true, Value: secret}},
			[]string{"users.name unknown"},
		},
		"a row that is no text": {
			[]domain.Correction{{Table: "users", Column: "name", Row: "4\x00" + secret, Value: secret}},
			[]string{"users.name unknown"},
		},
		"half a row's key": {
			[]domain.Correction{{Table: "lines", Column: "gift", Row: secret, Value: secret}}, []string{"lines.gift unknown"},
		},
		"a value that does not fit": {
			[]domain.Correction{{Table: "users", Column: "name", Value: 7}}, []string{"users.name type"},
		},
		"a column twice": {
			[]domain.Correction{
				{Table: "users", Column: "name", Value: secret}, {Table: "users", Column: "name", Value: secret},
			},
			[]string{"users.name duplicate"},
		},
		"a column, and a row of it": {
			[]domain.Correction{
				{Table: "lines", Column: "gift", Row: "7\x1f1", Value: secret}, {Table: "lines", Column: "gift", Value: secret},
			},
			[]string{"lines.gift duplicate"},
		},
		"a row, and its column": {
			[]domain.Correction{
				{Table: "lines", Column: "gift", Value: secret}, {Table: "lines", Column: "gift", Row: "7\x1f1", Value: secret},
			},
			[]string{"lines.gift duplicate"},
		},
		"a column, and its category": {
			[]domain.Correction{
				{Table: "users", Column: "email", Value: secret}, {Category: "contact", Value: secret},
			},
			[]string{"users.email duplicate"},
		},
		"a category twice": {
			[]domain.Correction{
				{Table: "users", Column: "name", Category: "identity", Value: secret},
				{Table: "users", Column: "biography", Category: "identity", Value: secret},
			},
			[]string{"users.biography duplicate"},
		},
		"several at fault": {
			[]domain.Correction{
				{Table: "users", Column: "theme", Value: secret},
				{Category: "contact", Value: "zoe@example.org"},
				{Category: "identity", Value: secret},
			},
			[]string{"users.theme unknown", "identity ambiguous"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := planner.Plan(profile(t), c.given, true)
			wantFaults(t, err, c.want...)
			if strings.Contains(err.Error(), secret) {
				t.Errorf("the error holds what was given: %v", err)
			}
		})
	}
	_, err := planner.Plan(profile(t), domain.Corrections{"identity": "Zoë"}.List(false), true)
	if err == nil || !strings.Contains(err.Error(), "users.name, users.biography, lines.signature") {
		t.Errorf("the columns are not listed: %v", err)
	}
}

func TestCorrectionsOfColumnsAreNotSentToExternalSystems(t *testing.T) {
	w := newWorld(t, []string{"desk!"}, ref("desk", "d-1"))
	w.allowStores() // no use of the outbox
	gomock.InOrder(
		w.requested("id-1", "identity", 1, 0, 1),
		w.writes(domain.RectificationStep{Table: "users", Values: []domain.ColumnValue{value("age", int64(7))}}).
			Return(int64(1), nil),
		w.succeeded("id-2", "users", 1),
		w.completed("id-3", 1, 0, "desk"),
	)
	result, err := w.Rectify(t.Context(), w.Session, w.Subject, domain.Correction{Table: "users", Column: "age", Value: 7})
	if err != nil || !reflect.DeepEqual(result.SkippedResolvers, []string{"desk"}) {
		t.Errorf("got %+v, %v", result, err)
	}
}

func TestARowOfAnotherSubjectIsAnError(t *testing.T) {
	w := newWorld(t, nil)
	w.allowStores()
	step := domain.RectificationStep{Table: "users", Row: "43", Values: []domain.ColumnValue{value("age", int64(7))}}
	gomock.InOrder(
		w.requested("id-1", "identity", 1, 0, 0),
		w.writes(step).Return(int64(0), nil),
		w.failed("id-2", "users", "invalid"),
	)
	_, err := w.Rectify(t.Context(), w.Session, w.Subject,
		domain.Correction{Table: "users", Column: "age", Row: "43", Value: 7})
	wantFaults(t, err, "users.age unknown")
	if strings.Contains(err.Error(), "43") {
		t.Errorf("the error names the row: %v", err)
	}
}

func TestRowsThatAreCorrectedOneByOneCountOnce(t *testing.T) {
	w := newWorld(t, nil)
	w.allowStores()
	w.Subjects.EXPECT().LockToRectify(gomock.Any(), gomock.Any()).AnyTimes()
	w.Audit.EXPECT().AppendEvidence(gomock.Any(), gomock.Any()).AnyTimes()
	w.Audit.EXPECT().Append(gomock.Any(), gomock.Any()).AnyTimes()
	w.Audit.EXPECT().Append(gomock.Any(), gomock.Any(), gomock.Any()).AnyTimes()
	w.Subjects.EXPECT().Rectify(gomock.Any(), gomock.Any(), gomock.Any()).
		DoAndReturn(func(_, _ any, step domain.RectificationStep) (int64, error) {
			if step.Row == "" {
				return 3, nil
			}
			return 1, nil
		}).AnyTimes()
	one := domain.Correction{Table: "invoices", Column: "recipient", Row: "1", Value: "zoe@example.org"}
	two := domain.Correction{Table: "invoices", Column: "recipient", Row: "2", Value: "zoe@example.org"}
	result, err := w.Rectify(t.Context(), w.Session, w.Subject, one, two)
	if err != nil || result.Rectified["invoices"] != 2 {
		t.Errorf("got %+v, %v", result, err)
	}
}

func TestAllColumnsOfACategoryAreAnOption(t *testing.T) {
	w := newWorld(t, nil)
	_, err := w.RectifySubject(t.Context(), w.Session, w.Subject, domain.Corrections{"contact": "zoe@example.org"})
	wantFaults(t, err, "contact ambiguous")
}

func TestARowWhoseKeyIsNotExportedCannotBeCorrectedAlone(t *testing.T) {
	passes := child("passes", "users")
	passes.PrimaryKey, passes.Owned = []string{"token"}, true
	token := personal("token", datamap.TypeText, domain.CategoryTechnical)
	token.Personal.Export = datamap.ExportNo
	passes.Columns = append(passes.Columns, token, personal("device", datamap.TypeText, domain.CategoryTechnical))
	for row, faults := range map[string][]string{"": nil, "s3cret": {"passes.device unknown"}} {
		_, err := planner.Plan(mustMap(t, users(), passes), []domain.Correction{
			{Table: "passes", Column: "device", Row: row, Value: "phone"},
		}, false)
		if faults == nil && err == nil {
			continue
		}
		wantFaults(t, err, faults...)
	}
}
