package erasure_test

import (
	"errors"
	"testing"

	"github.com/golang/mock/gomock"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/erasure"
	"github.com/habeas-data/habeas/internal/tests/fixture"
	"github.com/habeas-data/habeas/internal/tests/mocked"
)

func TestAnErasureThatKeepsNothingNamesNoRemedies(t *testing.T) {
	w := newWorld(t, nil)
	w.allowStores()
	gomock.InOrder(w.locks(), w.requested("id-1", 0, 0), w.applies(3, 1, 0), w.succeeded(3, 1, 0))
	w.Audit.EXPECT().Append(gomock.Any(), gomock.Any()).AnyTimes()
	result, err := w.Erase(t.Context(), w.Session, w.Subject)
	if err != nil || len(result.RetainedFields) > 0 || result.Remedies != (domain.Remedies{}) {
		t.Errorf("got %+v, %v", result, err)
	}
}

func TestAnAuthorityNeedsANameAndAnAddress(t *testing.T) {
	for url, valid := range map[string]bool{
		"": true, "https://authority.example/complaints": true, "authority.example": false, "javascript:alert(1)": false,
		"%": false,
	} {
		controller := domain.Controller{Authority: domain.Authority{Name: "the authority", URL: url}}
		if err := controller.Check(); (err == nil) != valid {
			t.Errorf("%q: %v", url, err)
		}
	}
	nameless := domain.Controller{Authority: domain.Authority{URL: "https://authority.example"}}
	b := mocked.New(t, noon)
	dataMap := fixture.MustMap(t, users(personal("email", anon)))
	_, err := erasure.NewEraser(erasure.Config{Clock: b.Clock, IDs: b.IDs, DataMap: dataMap, Controller: nameless})
	if !errors.Is(err, domain.ErrConfiguration) {
		t.Errorf("without a name: %v", err)
	}
	if got := (domain.Controller{Authority: domain.Authority{Name: "a", URL: "b"}}).Remedies(); got.Authority != "a" ||
		got.URL != "b" || !got.Judicial {
		t.Errorf("the remedies are %+v", got)
	}
}
