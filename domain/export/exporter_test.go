package export_test

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/golang/mock/gomock"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/internal/tests/fixture"
	"github.com/habeas-data/habeas/ports/mocks"
)

func TestLocalRecordsComeFirstThenTheSystemsInOrder(t *testing.T) {
	w := newWorld(t, 0,
		resolver(t, "mail", has("address", "opened")), resolver(t, "desk", has()), resolver(t, "ads", has("segment")))
	w.expectExport(
		domain.ExportRecord{Source: "users", Field: "email"}, domain.ExportRecord{Source: "orders", Field: "note"},
	)
	bundle, err := w.Export(t.Context(), w.Session, w.Subject)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"users.email", "orders.note", "mail.address", "mail.opened", "ads.segment"}
	if got := printed(bundle.Records); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	bundle.Records = nil
	if !reflect.DeepEqual(bundle, domain.ExportBundle{
		SubjectID: w.ID, GeneratedAt: noon, SchemaVersion: 1, IncompleteSources: []string{},
	}) {
		t.Errorf("got %+v", bundle)
	}
}

func TestAnEmptyBundleHasEmptyLists(t *testing.T) {
	w := newWorld(t, 0)
	w.expectExport()
	bundle, err := w.Export(t.Context(), w.Session, w.Subject)
	if err != nil || bundle.Records == nil || bundle.IncompleteSources == nil {
		t.Errorf("got %+v, %v, want empty lists, which are [] in JSON", bundle, err)
	}
}

func TestEvidenceThenSystemsThenTheDatabaseThenCompletion(t *testing.T) {
	desk := mocks.NewMockResolver(gomock.NewController(t))
	desk.EXPECT().Name().Return("desk").AnyTimes()
	w := newWorld(t, 0, desk)
	id := w.ID
	gomock.InOrder(
		w.Audit.EXPECT().AppendEvidence(gomock.Any(), w.Event("id-1", "export_requested", domain.Payload{
			"refs": 1, "resolvers": 1,
		})),
		desk.EXPECT().ExportSubject(gomock.Any(), refTo("desk")).DoAndReturn(has("tickets")),
		// A session takes its connection here, not earlier.
		w.Subjects.EXPECT().Export(gomock.Any(), id, gomock.Any()).
			DoAndReturn(yields(domain.ExportRecord{Source: "users", Field: "email"})),
		w.Audit.EXPECT().Append(gomock.Any(), w.Event("id-2", "export_completed", domain.Payload{
			"records": 2, "incomplete_sources": "", "skipped_resolvers": "",
		})),
	)
	if _, err := w.Export(t.Context(), w.Session, w.Subject); err != nil {
		t.Error(err)
	}
}

func TestTheEventsNameIncompleteAndSkippedSystems(t *testing.T) {
	w := newWorld(t, 0,
		resolver(t, "mail", fails), uncalled(t, "skipped"), resolver(t, "desk", has("tickets")), resolver(t, "ads", fails))
	id := w.ID
	gomock.InOrder(
		w.Audit.EXPECT().AppendEvidence(gomock.Any(), w.Event("id-1", "export_requested", domain.Payload{
			"refs": 3, "resolvers": 3,
		})),
		w.Subjects.EXPECT().Export(gomock.Any(), id, gomock.Any()),
		w.Audit.EXPECT().Append(gomock.Any(), w.Event("id-2", "export_completed", domain.Payload{
			"records": 1, "incomplete_sources": "mail,ads", "skipped_resolvers": "skipped",
		})),
	)
	bundle, err := w.Export(t.Context(), w.Session, w.Subject)
	if err != nil || !slices.Equal(bundle.IncompleteSources, []string{"mail", "ads"}) {
		t.Errorf("got %v, %v", bundle.IncompleteSources, err)
	}
	if got := printed(bundle.Records); !slices.Equal(got, []string{"desk.tickets"}) {
		t.Errorf("got %v", got)
	}
}

func TestARefusedSubjectLeavesNoCallAtAll(t *testing.T) {
	w := newWorld(t, 0, uncalled(t, "desk")) // no store of the session may be used
	text := fixture.MustSubject(t, "forty-two")
	for name, subject := range map[string]domain.Subject{
		"no id":                         {},
		"an id that no key can hold":    text,
		"a ref of an unknown kind":      {ID: w.ID, Refs: []domain.SubjectRef{refTo("desk"), refTo("shop")}},
		"a ref that is not whole":       {ID: w.ID, Refs: []domain.SubjectRef{{Kind: "desk"}}},
		"an unknown kind without an id": {Refs: []domain.SubjectRef{refTo("shop")}},
	} {
		bundle, err := w.Export(t.Context(), w.Session, subject)
		if !errors.Is(err, domain.ErrSubject) || !reflect.DeepEqual(bundle, domain.ExportBundle{}) {
			t.Errorf("%s: got %+v, %v", name, bundle, err)
		}
	}
}

func TestEvidenceThatCannotBeKeptStopsTheExport(t *testing.T) {
	w := newWorld(t, 0, uncalled(t, "desk"))
	w.Audit.EXPECT().AppendEvidence(gomock.Any(), gomock.Any()).Return(errBoom)
	if _, err := w.Export(t.Context(), w.Session, w.Subject); !errors.Is(err, errBoom) {
		t.Errorf("got %v", err)
	}
}

func TestAFailureOfTheDatabaseFailsTheExport(t *testing.T) {
	w := newWorld(t, 0, resolver(t, "desk", has("tickets")))
	w.Audit.EXPECT().AppendEvidence(gomock.Any(), gomock.Any())
	w.Subjects.EXPECT().Export(gomock.Any(), gomock.Any(), gomock.Any()).Return(errBoom)
	bundle, err := w.Export(t.Context(), w.Session, w.Subject)
	if !errors.Is(err, errBoom) || !reflect.DeepEqual(bundle, domain.ExportBundle{}) {
		t.Errorf("got %+v, %v", bundle, err)
	}
}

func TestACompletionThatCannotBeRecordedFailsTheExport(t *testing.T) {
	w := newWorld(t, 0)
	w.Audit.EXPECT().AppendEvidence(gomock.Any(), gomock.Any())
	w.Subjects.EXPECT().Export(gomock.Any(), gomock.Any(), gomock.Any())
	w.Audit.EXPECT().Append(gomock.Any(), gomock.Any()).Return(errBoom)
	bundle, err := w.Export(t.Context(), w.Session, w.Subject)
	if !errors.Is(err, errBoom) || !reflect.DeepEqual(bundle, domain.ExportBundle{}) {
		t.Errorf("got %+v, %v", bundle, err)
	}
}

func TestACancelledExportNeverReachesTheDatabase(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	w := newWorld(t, 0, resolver(t, "desk",
		func(called context.Context, _ domain.SubjectRef) ([]domain.ExportRecord, error) {
			cancel()
			<-called.Done()
			return nil, called.Err()
		}))
	w.Audit.EXPECT().AppendEvidence(gomock.Any(), gomock.Any()) // records the attempt
	_, err := w.Export(ctx, w.Session, w.Subject)
	if !errors.Is(err, context.Canceled) || domain.ErrorClass(err) != "canceled" {
		t.Errorf("got %v", err)
	}
}

func TestAnExportThatRunsOutOfTimeNeverReachesTheDatabase(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second) // shorter than the timeout of the resolver
		defer cancel()
		w := newWorld(t, 0, resolver(t, "desk",
			func(called context.Context, _ domain.SubjectRef) ([]domain.ExportRecord, error) {
				<-called.Done()
				return nil, called.Err()
			}))
		w.Audit.EXPECT().AppendEvidence(gomock.Any(), gomock.Any())
		_, err := w.Export(ctx, w.Session, w.Subject)
		if !errors.Is(err, context.DeadlineExceeded) || domain.ErrorClass(err) != "timeout" {
			t.Errorf("got %v", err)
		}
	})
}
