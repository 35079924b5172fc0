package lives_test

import (
	"context"
	"testing"
	"time"

	"github.com/golang/mock/gomock"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/lives"
	"github.com/habeas-data/habeas/internal/tests/fixture"
	"github.com/habeas-data/habeas/ports"
	"github.com/habeas-data/habeas/ports/mocks"
)

func TestARetriedSessionCountsEveryMark(t *testing.T) {
	ctrl := gomock.NewController(t)
	session, erased := mocks.NewMockSession(ctrl), mocks.NewMockErasedStore(ctrl)
	session.EXPECT().Erased().Return(erased).AnyTimes()
	sessions := mocks.NewMockSessionFactory(ctrl)
	sessions.EXPECT().Do(gomock.Any(), gomock.Any()).DoAndReturn(
		func(ctx context.Context, fn func(context.Context, ports.Session) error) error {
			_ = fn(ctx, session) // fails at Lives
			return fn(ctx, session)
		})
	marks := []domain.ErasureMark{{Intake: 1}}
	erased.EXPECT().Marks(gomock.Any(), domain.MarkQuery{Limit: 500}).Return(marks, nil).Times(2)
	erased.EXPECT().Lives(gomock.Any(), marks).Return(nil, domain.ErrUnavailable)
	erased.EXPECT().Lives(gomock.Any(), marks).Return([]domain.Life{domain.LifeUnknown}, nil)
	if unknown, err := lives.Count(t.Context(), sessions); err != nil || unknown != 1 {
		t.Errorf("got %d, %v", unknown, err)
	}
}

// All sessions share the installation. A session that waited for it and held a person could deadlock.
func TestTheFirstRegistrationIsRecordedBeforeThePersonIsLocked(t *testing.T) {
	ctrl := gomock.NewController(t)
	session, installation := mocks.NewMockSession(ctrl), mocks.NewMockInstallationStore(ctrl)
	subjects, id := mocks.NewMockSubjectStore(ctrl), fixture.MustID(t, "1")
	session.EXPECT().Installation().Return(installation).AnyTimes()
	session.EXPECT().Subjects().Return(subjects).AnyTimes()
	gomock.InOrder(
		installation.EXPECT().Registers(gomock.Any()).Return(nil),
		subjects.EXPECT().Register(gomock.Any(), id, time.Time{}).Return(nil),
	)
	if err := lives.Register(t.Context(), session, id, time.Time{}); err != nil {
		t.Error(err)
	}
}
