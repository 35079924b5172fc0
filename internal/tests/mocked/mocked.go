// Package mocked has what the tests of a service begin with: a session with mocks of its stores, a clock, ids and a
// subject.
package mocked

import (
	"maps"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/golang/mock/gomock"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/internal/tests/fixture"
	"github.com/habeas-data/habeas/ports"
	"github.com/habeas-data/habeas/ports/mocks"
)

// Bundle is a session with mocks of its stores. The session hands out each store any number of times. An unexpected
// call of a store fails the test.
type Bundle struct {
	Session      *mocks.MockSession
	Consents     *mocks.MockConsentStore
	Restrictions *mocks.MockRestrictionStore
	Subjects     *mocks.MockSubjectStore
	Erased       *mocks.MockErasedStore
	Duties       *mocks.MockDutyStore
	Outbox       *mocks.MockOutbox
	Audit        *mocks.MockAuditLog

	Clock   *fixture.Clock
	IDs     *fixture.IDs
	Subject domain.Subject
	ID      domain.SubjectID // of the subject

	began time.Time
}

// New returns a bundle whose clock stands at the instant, and whose subject 42 has the refs.
func New(tb testing.TB, now time.Time, refs ...domain.SubjectRef) Bundle {
	tb.Helper()
	ctrl := gomock.NewController(tb)
	subject := fixture.MustSubject(tb, "42", refs...)
	b := Bundle{
		Session: mocks.NewMockSession(ctrl), Consents: mocks.NewMockConsentStore(ctrl),
		Restrictions: mocks.NewMockRestrictionStore(ctrl), Subjects: mocks.NewMockSubjectStore(ctrl),
		Erased: mocks.NewMockErasedStore(ctrl), Duties: mocks.NewMockDutyStore(ctrl), Outbox: mocks.NewMockOutbox(ctrl),
		Audit: mocks.NewMockAuditLog(ctrl), Clock: fixture.NewClock(now), IDs: &fixture.IDs{},
		Subject: subject, ID: subject.ID, began: domain.Instant(now),
	}
	b.Session.EXPECT().Consents().Return(b.Consents).AnyTimes()
	b.Session.EXPECT().Restrictions().Return(b.Restrictions).AnyTimes()
	b.Session.EXPECT().Subjects().Return(b.Subjects).AnyTimes()
	b.Session.EXPECT().Erased().Return(b.Erased).AnyTimes()
	installation := mocks.NewMockInstallationStore(ctrl)
	installation.EXPECT().Duties().Return(b.Duties).AnyTimes()
	b.Session.EXPECT().Installation().Return(installation).AnyTimes()
	b.Session.EXPECT().Outbox().Return(b.Outbox).AnyTimes()
	b.Session.EXPECT().Audit().Return(b.Audit).AnyTimes()
	return b
}

// Event returns an event of the operation whose first event has the id id-1, at the instant at which the clock began.
func (b Bundle) Event(id string, eventType domain.EventType, payload domain.Payload) domain.AuditEvent {
	with := maps.Clone(payload)
	if with == nil {
		with = domain.Payload{}
	}
	with["operation_id"] = "id-1"
	return domain.AuditEvent{
		EventID: id, EventType: eventType, SubjectRef: b.ID, OccurredAt: b.began, Payload: with,
	}
}

// After returns the id after an id of fixture.IDs.
func After(id string) string {
	n, _ := strconv.Atoi(strings.TrimPrefix(id, "id-"))
	return "id-" + strconv.Itoa(n+1)
}

// Resolvers returns external systems that must not be called. A system whose name ends with an exclamation mark can
// rectify.
func Resolvers(tb testing.TB, names ...string) (registered []ports.Resolver) {
	tb.Helper()
	ctrl := gomock.NewController(tb)
	for _, name := range names {
		if name, can := strings.CutSuffix(name, "!"); can {
			resolver := mocks.NewMockRectifyingResolver(ctrl)
			resolver.EXPECT().Name().Return(name).AnyTimes()
			registered = append(registered, resolver)
			continue
		}
		resolver := mocks.NewMockResolver(ctrl)
		resolver.EXPECT().Name().Return(name).AnyTimes()
		registered = append(registered, resolver)
	}
	return registered
}
