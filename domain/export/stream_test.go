package export_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/golang/mock/gomock"

	"github.com/habeas-data/habeas/domain"
)

func TestAStreamBeginsWithTheBundleWithoutRecords(t *testing.T) {
	w := newWorld(t, 0, resolver(t, "mail", has("address")), resolver(t, "desk", fails))
	w.expectExport(domain.ExportRecord{Source: "users", Field: "email"})
	var got []string
	err := w.Stream(t.Context(), w.Session, w.Subject,
		func(head domain.ExportBundle) error {
			if head.SubjectID != w.ID || head.GeneratedAt != noon || head.SchemaVersion != 1 ||
				head.Records == nil || len(head.Records) > 0 || !slices.Equal(head.IncompleteSources, []string{"desk"}) {
				t.Errorf("began with %+v", head)
			}
			got = append(got, "begin")
			return nil
		},
		func(record domain.ExportRecord) error {
			got = append(got, record.Source+"."+record.Field)
			return nil
		})
	if err != nil || !slices.Equal(got, []string{"begin", "users.email", "mail.address"}) {
		t.Errorf("got %q, %v", got, err)
	}
}

// If a client disconnects, the export ends, whatever part of the bundle is being written.
func TestAStreamEndsWithAnErrorOfItsReader(t *testing.T) {
	begins := func(domain.ExportBundle) error { return nil }
	refusesToBegin := func(domain.ExportBundle) error { return errBoom }
	refuses := func(domain.ExportRecord) error { return errBoom }

	w := newWorld(t, 0)
	w.Audit.EXPECT().AppendEvidence(gomock.Any(), gomock.Any()).Times(2) // nothing is completed
	if err := w.Stream(t.Context(), w.Session, w.Subject, refusesToBegin, refuses); !errors.Is(err, errBoom) {
		t.Errorf("at the beginning: %v", err)
	}
	w.Subjects.EXPECT().Export(gomock.Any(), w.ID, gomock.Any()).
		DoAndReturn(yields(domain.ExportRecord{Source: "users", Field: "email"}))
	if err := w.Stream(t.Context(), w.Session, w.Subject, begins, refuses); !errors.Is(err, errBoom) {
		t.Errorf("at a local record: %v", err)
	}

	external := newWorld(t, 0, resolver(t, "mail", has("address")))
	external.Audit.EXPECT().AppendEvidence(gomock.Any(), gomock.Any())
	external.Subjects.EXPECT().Export(gomock.Any(), gomock.Any(), gomock.Any())
	if err := external.Stream(t.Context(), external.Session, external.Subject, begins, refuses); !errors.Is(err, errBoom) {
		t.Errorf("at an external record: %v", err)
	}
}
