package erasure_test

import (
	"errors"
	"testing"
	"time"

	"github.com/golang/mock/gomock"

	"github.com/habeas-data/habeas/domain"
)

// inForce returns the latest records of three purposes: two grants and a withdrawal. An erasure withdraws the two
// grants only.
func (w world) inForce() []domain.ConsentRecord {
	record := func(purpose, version string, granted bool) domain.ConsentRecord {
		return domain.ConsentRecord{
			SubjectID: w.ID, Purpose: purpose, PolicyVersion: version, Granted: granted,
			RecordedAt: noon.Add(time.Hour), Source: "api", // recorded by a clock that is ahead
		}
	}
	return []domain.ConsentRecord{record("news", "v3", true), record("ads", "v1", false), record("zoe's", "v2", true)}
}

func (w world) expectWithdrawal(id, purpose, version string, payload domain.Payload) *gomock.Call {
	record := domain.ConsentRecord{
		SubjectID: w.ID, Purpose: purpose, PolicyVersion: version, RecordedAt: noon, Source: "erasure",
	}
	appended := w.Consents.EXPECT().Append(gomock.Any(), record)
	return w.Audit.EXPECT().Append(gomock.Any(), w.Event(id, "consent_withdrawn", payload)).After(appended)
}

func TestAnErasureEndsEachConsentInForce(t *testing.T) {
	known, err := domain.NewPurposes(domain.Purpose{Name: "news"})
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		purposes domain.Purposes
		news     domain.Payload
	}{
		"any purpose":       {domain.Purposes{}, domain.Payload{"source": "erasure"}},
		"declared purposes": {known, domain.Payload{"source": "erasure", "purpose": "news", "policy_version": "v3"}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorldWith(t, test.purposes, []string{"desk"}, ref("desk", "d-1"))
			w.allowStoresExceptLedgers()
			gomock.InOrder(
				w.locks(), w.requested("id-1", 1, 1), w.applies(0, 0, 0), w.succeeded(0, 0, 0),
				w.Consents.EXPECT().InForce(gomock.Any(), w.ID).Return(w.inForce(), nil),
				w.expectWithdrawal("id-5", "news", "v3", test.news),
				w.expectWithdrawal("id-6", "zoe's", "v2", domain.Payload{"source": "erasure"}), // a purpose that is not declared
				w.Restrictions.EXPECT().ClearReasons(gomock.Any(), w.ID),
				w.Outbox.EXPECT().Enqueue(gomock.Any(), gomock.Any()),
				w.completed("id-8", 0, 0, 0, 1, ""),
			)
			if _, err := w.Erase(t.Context(), w.Session, w.Subject); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestAConsentThatCannotBeEndedFailsTheErasure(t *testing.T) {
	for name, fails := range map[string]func(w world){
		"in force": func(w world) { w.Consents.EXPECT().InForce(gomock.Any(), gomock.Any()).Return(nil, errBoom) },
		"append": func(w world) {
			w.Consents.EXPECT().InForce(gomock.Any(), gomock.Any()).Return(w.inForce(), nil)
			w.Consents.EXPECT().Append(gomock.Any(), gomock.Any()).Return(errBoom)
		},
		"audit": func(w world) {
			w.Consents.EXPECT().InForce(gomock.Any(), gomock.Any()).Return(w.inForce(), nil)
			w.Consents.EXPECT().Append(gomock.Any(), gomock.Any())
			w.Audit.EXPECT().Append(gomock.Any(), gomock.Any()).Return(errBoom)
		},
		"reasons": func(w world) {
			w.Consents.EXPECT().InForce(gomock.Any(), gomock.Any())
			w.Restrictions.EXPECT().ClearReasons(gomock.Any(), gomock.Any()).Return(errBoom)
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, nil)
			w.allowStoresExceptLedgers()
			w.locks()
			w.requested("id-1", 0, 0)
			w.applies(0, 0, 0)
			w.succeeded(0, 0, 0)
			fails(w)
			if _, err := w.Erase(t.Context(), w.Session, w.Subject); !errors.Is(err, errBoom) {
				t.Errorf("got %v", err)
			}
		})
	}
}
