package mocks_test

import (
	"context"
	"fmt"
	"time"

	"github.com/golang/mock/gomock"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/consent"
	"github.com/habeas-data/habeas/ports"
	"github.com/habeas-data/habeas/ports/mocks"
)

// campaign is a service of the application. It writes only to people who have consented.
type campaign struct{ consents *consent.Ledger }

func (c campaign) recipients(ctx context.Context, s ports.Session, everybody []domain.SubjectID) (
	willing []domain.SubjectID, err error,
) {
	for _, id := range everybody {
		status, err := c.consents.Status(ctx, s, id, "newsletter")
		if err != nil {
			return nil, err
		}
		if status.Granted {
			willing = append(willing, id)
		}
	}
	return willing, nil
}

// A unit test of a service that uses a session. It needs no store. An unexpected call fails the test.
func ExampleMockSession() {
	ctrl := gomock.NewController(t) // t is the test's *testing.T
	zoe, bob := subject("42"), subject("43")

	ledger := mocks.NewMockConsentStore(ctrl)
	ledger.EXPECT().Latest(gomock.Any(), zoe, "newsletter", nil).Return(&domain.ConsentRecord{
		SubjectID: zoe, Purpose: "newsletter", PolicyVersion: "2024-03", Granted: true,
	}, nil)
	ledger.EXPECT().Latest(gomock.Any(), bob, "newsletter", nil).Return(nil, nil) // no record
	session := mocks.NewMockSession(ctrl)
	session.EXPECT().Consents().Return(ledger).Times(2)

	service := campaign{consents: consent.NewLedger(mocks.NewMockClock(ctrl), mocks.NewMockIDSource(ctrl))}
	willing, err := service.recipients(context.Background(), session, []domain.SubjectID{zoe, bob})
	fmt.Println(len(willing), willing[0] == zoe, err)
	ctrl.Finish() // not necessary with a *testing.T
	// Output: 1 true <nil>
}

// A session factory that passes a mock session to its function, and a clock that always returns the same instant.
func ExampleMockSessionFactory() {
	ctrl := gomock.NewController(t)
	noon := time.Date(2024, 3, 1, 12, 0, 0, 0, time.UTC)
	clock, ids := mocks.NewMockClock(ctrl), mocks.NewMockIDSource(ctrl)
	clock.EXPECT().Now().Return(noon).AnyTimes()
	ids.EXPECT().NewID().Return("event-1")

	session, consents, audit := mocks.NewMockSession(ctrl), mocks.NewMockConsentStore(ctrl), mocks.NewMockAuditLog(ctrl)
	session.EXPECT().Consents().Return(consents)
	session.EXPECT().Audit().Return(audit)
	gomock.InOrder(
		consents.EXPECT().Append(gomock.Any(), gomock.Any()).Return(nil),
		audit.EXPECT().Append(gomock.Any(), gomock.Any()).Return(nil),
	)
	sessions := mocks.NewMockSessionFactory(ctrl)
	sessions.EXPECT().Do(gomock.Any(), gomock.Any()).DoAndReturn(
		func(ctx context.Context, fn func(context.Context, ports.Session) error) error {
			return fn(ctx, session)
		})

	err := sessions.Do(context.Background(), func(ctx context.Context, s ports.Session) error {
		record, err := consent.NewLedger(clock, ids).Record(ctx, s, subject("42"), domain.ConsentDecision{
			Purpose: "newsletter", PolicyVersion: "2024-03", Granted: true, Source: "api",
		})
		fmt.Println(record.RecordedAt, err)
		return err
	})
	fmt.Println(err)
	ctrl.Finish()
	// Output:
	// 2024-03-01 12:00:00 +0000 UTC <nil>
	// <nil>
}

func subject(id string) domain.SubjectID {
	subject, err := domain.NewSubjectID(id)
	if err != nil {
		panic(err)
	}
	return subject
}

// t replaces the *testing.T, because an example has none.
var t reporter

type reporter struct{}

func (reporter) Errorf(format string, values ...any) { panic(fmt.Sprintf(format, values...)) }
func (reporter) Fatalf(format string, values ...any) { panic(fmt.Sprintf(format, values...)) }
