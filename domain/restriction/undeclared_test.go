package restriction_test

import (
	"errors"
	"testing"

	"github.com/golang/mock/gomock"

	"github.com/habeas-data/habeas/domain"
)

// expectUnknown checks that the error is that of an undeclared purpose.
func expectUnknown(t *testing.T, err error) {
	t.Helper()
	var refused *domain.Error
	if !errors.As(err, &refused) || refused.Code != domain.ErrInvalid || len(refused.Fields) != 1 ||
		refused.Fields[0].Field != "purpose" || refused.Fields[0].Code != domain.FieldUnknown {
		t.Errorf("got %v, want the error of an undeclared purpose", err)
	}
}

func among(t *testing.T, w world, names ...string) world {
	t.Helper()
	var purposes []domain.Purpose
	for _, name := range names {
		purposes = append(purposes, domain.Purpose{Name: name})
	}
	declared, err := domain.NewPurposes(purposes...)
	if err != nil {
		t.Fatal(err)
	}
	w.Ledger = w.WithPurposes(declared)
	return w
}

func TestAnUndeclaredPurposeIsRefused(t *testing.T) {
	w := among(t, newWorld(t), "news")
	_, err := w.Record(ctx, w.Session, w.ID,
		domain.RestrictionDecision{Purpose: &purpose, Restricted: true, Source: "api"}) // reads nothing
	expectUnknown(t, err)
	lift := domain.RestrictionDecision{Purpose: &purpose, Source: "api"}
	global := &domain.RestrictionRecord{Restricted: true}
	for name, scoped := range map[string]*domain.RestrictionRecord{"no record": nil, "lifted": {Purpose: &purpose}} {
		t.Run(name, func(t *testing.T) {
			w.Restrictions.EXPECT().Latest(ctx, w.ID, &purpose).Return(global, scoped, nil).Times(2) // writes nothing
			_, err := w.Record(ctx, w.Session, w.ID, lift)
			expectUnknown(t, err)
			_, err = w.Status(ctx, w.Session, w.ID, &purpose)
			expectUnknown(t, err)
		})
	}
	w.Restrictions.EXPECT().Latest(ctx, w.ID, &purpose).Return(nil, nil, errBoom)
	if _, err := w.Record(ctx, w.Session, w.ID, lift); !errors.Is(err, errBoom) {
		t.Errorf("a read that fails: %v", err)
	}
}

func TestARestrictionInForceForAnUndeclaredPurposeCanBeLifted(t *testing.T) {
	w := among(t, newWorld(t), "news")
	scoped := &domain.RestrictionRecord{Purpose: &purpose, Restricted: true, RecordedAt: noon}
	w.Restrictions.EXPECT().Latest(ctx, w.ID, &purpose).Return(nil, scoped, nil).Times(2)
	status, err := w.Status(ctx, w.Session, w.ID, &purpose)
	if err != nil || !status.Restricted {
		t.Errorf("got %+v, %v", status, err)
	}
	w.Restrictions.EXPECT().Append(ctx, gomock.Any())
	w.Audit.EXPECT().Append(ctx, gomock.Any())
	record, err := w.Record(ctx, w.Session, w.ID, domain.RestrictionDecision{Purpose: &purpose, Source: "api"})
	if err != nil || record.Restricted || record.Purpose == nil || *record.Purpose != purpose {
		t.Errorf("got %+v, %v", record, err)
	}
}

func TestADecisionAboutADeclaredPurposeReadsNothing(t *testing.T) {
	for _, scope := range []*string{&purpose, nil} {
		for _, restricted := range []bool{true, false} {
			w := among(t, newWorld(t), purpose)
			w.Restrictions.EXPECT().Append(ctx, gomock.Any()) // and no Latest
			w.Audit.EXPECT().Append(ctx, gomock.Any())
			decision := domain.RestrictionDecision{Purpose: scope, Restricted: restricted, Source: "api"}
			if _, err := w.Record(ctx, w.Session, w.ID, decision); err != nil {
				t.Errorf("restricted %v: %v", restricted, err)
			}
		}
	}
}
