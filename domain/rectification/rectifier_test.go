package rectification_test

import (
	"context"
	"errors"
	"reflect"
	"testing"
	"time"

	"github.com/golang/mock/gomock"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/domain/rectification"
	"github.com/habeas-data/habeas/internal/tests/fixture"
	"github.com/habeas-data/habeas/internal/tests/mocked"
	"github.com/habeas-data/habeas/ports"
	"github.com/habeas-data/habeas/ports/mocks"
)

func TestARectificationRecordsWritesEnqueuesAndCompletes(t *testing.T) {
	desk := domain.SubjectRef{Kind: "desk", Value: "d-1", Extra: map[string]string{"region": "eu"}}
	w := newWorld(t, []string{"mail!", "ads!", "shop", "desk!", "crm"}, desk, ref("crm", "c-1"), ref("mail", "m-1"))
	w.allowStores() // without the lock of an erasure, which would record an erasure
	gomock.InOrder(
		w.requested("id-1", "contact,identity", 2, 2, 3),
		w.writes(writeUsers).Return(int64(1), nil), w.succeeded("id-2", "users", 1),
		w.writes(writeInvoices).Return(int64(3), nil), w.succeeded("id-3", "invoices", 3),
		w.Outbox.EXPECT().Enqueue(gomock.Any(), w.entry("id-4", "mail", ref("mail", "m-1")), w.entry("id-5", "desk", desk)),
		w.completed("id-6", 4, 2, "ads,shop,crm"),
	)
	result, err := w.RectifySubject(t.Context(), w.Session, w.Subject, corrections, rectification.AllColumns())
	want := domain.RectificationResult{
		SubjectID: w.ID, CompletedAt: noon, Rectified: map[string]int64{"users": 1, "invoices": 3},
		EnqueuedExternal: []string{"mail", "desk"}, SkippedResolvers: []string{"ads", "shop", "crm"},
	}
	if err != nil || !reflect.DeepEqual(result, want) {
		t.Errorf("got %+v, %v, want %+v", result, err, want)
	}
}

func TestWithoutARectifyingSystemNothingIsEnqueued(t *testing.T) {
	w := newWorld(t, nil)
	w.allowStores() // no use of the outbox
	gomock.InOrder(
		w.requested("id-1", "identity", 1, 0, 0),
		w.writes(domain.RectificationStep{Table: "users", Values: []domain.ColumnValue{{Column: "age", Value: int64(7)}}}),
		w.succeeded("id-2", "users", 0),
		w.completed("id-3", 0, 0, ""),
	)
	corrections := domain.Corrections{domain.CategoryIdentity: 7}
	result, err := w.RectifySubject(t.Context(), w.Session, w.Subject, corrections, rectification.AllColumns())
	if err != nil || result.EnqueuedExternal == nil || result.SkippedResolvers == nil ||
		len(result.EnqueuedExternal)+len(result.SkippedResolvers) > 0 {
		t.Errorf("got %+v, %v, want empty lists, which are [] in JSON", result, err)
	}
	if n, ok := result.Rectified["users"]; !ok || n != 0 {
		t.Errorf("a table without rows is not in the result: %v", result.Rectified)
	}
}

func TestACategoryThatOnlyExternalSystemsHaveIsSentToThem(t *testing.T) {
	w := newWorld(t, []string{"desk!"}, ref("desk", "old"), ref("desk", "new"))
	w.allowStores() // no use of the subject store
	berlin := domain.Corrections{domain.CategoryLocation: "Berlin"}
	old, other := w.entry("id-2", "desk", ref("desk", "old")), w.entry("id-3", "desk", ref("desk", "new"))
	old.Corrections, other.Corrections = berlin, berlin
	gomock.InOrder(
		w.requested("id-1", "location", 0, 2, 2),
		w.Outbox.EXPECT().Enqueue(gomock.Any(), old, other),
		w.completed("id-4", 0, 2, ""),
	)
	result, err := w.RectifySubject(t.Context(), w.Session, w.Subject, berlin, rectification.AllColumns())
	if err != nil || !reflect.DeepEqual(result.EnqueuedExternal, []string{"desk", "desk"}) || result.Rectified == nil {
		t.Errorf("got %+v, %v", result, err)
	}
}

func TestInstantsOfARectificationAreUTCInMicroseconds(t *testing.T) {
	w := newWorld(t, []string{"desk!"}, ref("desk", "d-1"))
	w.allowStores()
	w.Clock.Set(noon.Add(999).In(time.FixedZone("CET", 3600)))
	gomock.InOrder(
		w.requested("id-1", "contact,identity", 2, 1, 1),
		w.writes(writeUsers), w.succeeded("id-2", "users", 0),
		w.writes(writeInvoices), w.succeeded("id-3", "invoices", 0),
		w.Outbox.EXPECT().Enqueue(gomock.Any(), w.entry("id-4", "desk", ref("desk", "d-1"))),
		w.completed("id-5", 0, 1, ""),
	)
	result, err := w.RectifySubject(t.Context(), w.Session, w.Subject, corrections, rectification.AllColumns())
	if err != nil || result.CompletedAt != noon {
		t.Errorf("got %v, %v", result.CompletedAt, err)
	}
}

func TestARefusedSubjectLeavesNoCallAtAll(t *testing.T) {
	w := newWorld(t, []string{"desk!"}) // no store of the session may be used
	long := fixture.MustID(t, "tenant", "42")
	for name, subject := range map[string]domain.Subject{
		"no id":                    {},
		"an id of another arity":   {ID: long},
		"a ref of an unknown kind": {ID: w.ID, Refs: []domain.SubjectRef{ref("desk", "d-1"), ref("mail", "m-1")}},
		"a ref that is not whole":  {ID: w.ID, Refs: []domain.SubjectRef{ref("desk", "")}},
	} {
		result, err := w.RectifySubject(t.Context(), w.Session, subject, corrections, rectification.AllColumns())
		if !errors.Is(err, domain.ErrSubject) || !reflect.DeepEqual(result, domain.RectificationResult{}) {
			t.Errorf("%s: got %+v, %v", name, result, err)
		}
	}
}

func TestRefusedCorrectionsLeaveNoCallAtAll(t *testing.T) {
	for name, c := range map[string]struct {
		resolvers   []string
		refs        []domain.SubjectRef
		corrections domain.Corrections
		field       string
	}{
		"none":                {corrections: nil, field: "corrections"},
		"an unknown category": {corrections: domain.Corrections{"hobbies": "chess"}, field: "hobbies"},
		"the wrong type":      {corrections: domain.Corrections{domain.CategoryIdentity: "seven"}, field: "identity"},
		"one wrong type of several": {
			corrections: domain.Corrections{domain.CategoryContact: "zoe@example.org", domain.CategoryIdentity: "seven"},
			field:       "identity",
		},
		"a category of no system": {corrections: domain.Corrections{domain.CategoryLocation: "Berlin"}, field: "location"},
		"a category of a system without the subject": {
			resolvers: []string{"desk!"}, corrections: domain.Corrections{domain.CategoryLocation: "Berlin"}, field: "location",
		},
		"a category of a system that does not rectify": {
			resolvers: []string{"desk"}, refs: []domain.SubjectRef{ref("desk", "d-1")},
			corrections: domain.Corrections{domain.CategoryLocation: "Berlin"}, field: "location",
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, c.resolvers, c.refs...) // no store of the session may be used
			result, err := w.RectifySubject(t.Context(), w.Session, w.Subject, c.corrections, rectification.AllColumns())
			var invalid *domain.Error
			if !errors.Is(err, domain.ErrInvalid) || !errors.As(err, &invalid) ||
				!reflect.DeepEqual(result, domain.RectificationResult{}) {
				t.Fatalf("got %+v, %v", result, err)
			}
			if len(invalid.Fields) != 1 || invalid.Fields[0].Field != c.field {
				t.Errorf("got %+v, want %q at fault", invalid.Fields, c.field)
			}
		})
	}
}

func TestEachRectificationHasItsOwnSkippedSystems(t *testing.T) {
	w := newWorld(t, []string{"mail!", "desk!"})
	w.allowStores()
	w.Subjects.EXPECT().LockToRectify(gomock.Any(), gomock.Any()).Times(2)
	w.Audit.EXPECT().AppendEvidence(gomock.Any(), gomock.Any()).Times(2)
	w.Audit.EXPECT().Append(gomock.Any(), gomock.Any()).Times(4)
	w.Subjects.EXPECT().Rectify(gomock.Any(), gomock.Any(), gomock.Any()).Times(2)
	w.Outbox.EXPECT().Enqueue(gomock.Any(), gomock.Any())
	age := domain.Corrections{domain.CategoryIdentity: 7}
	first, err := w.RectifySubject(context.Background(), w.Session, domain.Subject{
		ID: w.ID, Refs: []domain.SubjectRef{ref("mail", "m-1")},
	}, age, rectification.AllColumns())
	if err != nil {
		t.Fatal(err)
	}
	second, err := w.RectifySubject(context.Background(), w.Session, w.Subject, age, rectification.AllColumns())
	if err != nil || !reflect.DeepEqual(first.SkippedResolvers, []string{"desk"}) ||
		!reflect.DeepEqual(second.SkippedResolvers, []string{"mail", "desk"}) {
		t.Errorf("skipped %v, then %v, %v", first.SkippedResolvers, second.SkippedResolvers, err)
	}
}

func TestARectifierWithoutItsDependenciesIsRefused(t *testing.T) {
	ctrl := gomock.NewController(t)
	whole := rectification.Config{
		Clock: mocks.NewMockClock(ctrl), IDs: mocks.NewMockIDSource(ctrl), DataMap: dataMap(t),
		Resolvers: mocked.Resolvers(t),
	}
	if _, err := rectification.NewRectifier(whole); err != nil {
		t.Fatal(err)
	}
	for name, take := range map[string]func(*rectification.Config){
		"clock":    func(c *rectification.Config) { c.Clock = nil },
		"ids":      func(c *rectification.Config) { c.IDs = nil },
		"data map": func(c *rectification.Config) { c.DataMap = datamap.DataMap{} },
		"resolver": func(c *rectification.Config) { c.Resolvers = []ports.Resolver{nil} },
	} {
		config := whole
		take(&config)
		if rectifier, err := rectification.NewRectifier(config); !errors.Is(err, domain.ErrConfiguration) ||
			rectifier != nil {
			t.Errorf("without its %s: got %v, %v", name, rectifier, err)
		}
	}
}

func TestARectificationThatIsRolledBackIsRecorded(t *testing.T) {
	w := newWorld(t, nil)
	w.Subjects.EXPECT().LockToRectify(gomock.Any(), gomock.Any())
	w.Audit.EXPECT().AppendEvidence(gomock.Any(), gomock.Any())
	w.Subjects.EXPECT().Rectify(gomock.Any(), gomock.Any(), gomock.Any()).AnyTimes()
	w.Audit.EXPECT().Append(gomock.Any(), gomock.Any()).AnyTimes()
	w.Audit.EXPECT().Append(gomock.Any(), gomock.Any(), gomock.Any()).AnyTimes()
	w.Audit.EXPECT().AppendOnRollback(gomock.Any(), gomock.Any()).Do(func(_ context.Context, events ...domain.AuditEvent) {
		want := domain.Payload{"error": "rolled_back", "operation_id": "id-1"}
		if events[0].EventType != domain.EventRectificationStepFailed || !reflect.DeepEqual(events[0].Payload, want) {
			t.Errorf("got %+v", events[0])
		}
	})
	if _, err := w.RectifySubject(t.Context(), w.Session, w.Subject, corrections, rectification.AllColumns()); err != nil {
		t.Error(err)
	}
}
