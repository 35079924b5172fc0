package stack_test

import (
	"context"
	"slices"
	"testing"

	"github.com/golang/mock/gomock"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports"
)

func TestARestrictionLimitsNoRightOfTheSubject(t *testing.T) {
	w := newWorld(t)
	w.desk.EXPECT().ExportSubject(gomock.Any(), gomock.Any()).Return(nil, nil)
	subject := zoe(t)
	must(t, w.Sessions.Do(t.Context(), func(ctx context.Context, s ports.Session) error {
		_, err := w.Restriction.Record(ctx, s, subject.ID, domain.RestrictionDecision{
			Restricted: true, Source: "settings",
		})
		return err
	}))
	in := func(run func(ctx context.Context, s ports.Session) error) error {
		return w.Sessions.Do(t.Context(), run)
	}
	must(t, in(func(ctx context.Context, s ports.Session) error {
		bundle, err := w.Exporter.Export(ctx, s, subject)
		if !slices.ContainsFunc(bundle.Records, func(r domain.ExportRecord) bool { return r.Source == "users" }) {
			t.Error("the bundle has no row of the subject")
		}
		return err
	}))
	must(t, in(func(ctx context.Context, s ports.Session) error {
		result, err := w.Rectifier.Rectify(ctx, s, subject, domain.Correction{
			Table: "users", Column: "email", Value: "zoe@example.net",
		})
		if result.Rectified["users"] != 1 {
			t.Errorf("corrected are %v", result.Rectified)
		}
		return err
	}))
	must(t, in(func(ctx context.Context, s ports.Session) error {
		result, err := w.Eraser.Erase(ctx, s, subject)
		if result.Deleted["users"]+result.Anonymized["users"] != 1 {
			t.Errorf("erased are %v and %v", result.Deleted, result.Anonymized)
		}
		return err
	}))
}
