package saga_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/golang/mock/gomock"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports"
	"github.com/habeas-data/habeas/ports/mocks"
)

func TestAnEntryWithKeysErasesThem(t *testing.T) {
	held := []string{"a", "b", "c"}
	for name, c := range map[string]struct {
		absent  int
		err     error
		takes   bool
		status  domain.OutboxStatus
		payload any
	}{
		"some are there": {2, nil, true, domain.OutboxSucceeded, false},
		"none is there":  {3, nil, true, domain.OutboxSucceeded, true},
		"not now":        {0, errBoom, true, domain.OutboxFailed, nil},
		"later ones":     {1, domain.ErrSpared, true, domain.OutboxSpared, false},
		"never":          {0, refused, true, domain.OutboxAbandoned, nil},
		"no keys taken":  {0, nil, false, domain.OutboxAbandoned, nil},
	} {
		t.Run(name, func(t *testing.T) {
			entry := domain.OutboxEntry{
				EntryID: "e1", Resolver: "desk", Operation: domain.OperationErase, Status: domain.OutboxInFlight,
				Ref: domain.SubjectRef{Kind: "desk", Keys: slices.Clone(held)}, Attempts: 1, EnqueuedAt: noon,
			}
			ctrl := gomock.NewController(t)
			var resolver ports.Resolver
			if c.takes {
				taking := mocks.NewMockKeyResolver(ctrl)
				taking.EXPECT().Name().Return("desk").AnyTimes()
				taking.EXPECT().EraseKeys(gomock.Any(), held, callOf(entry)).DoAndReturn(
					func(_ context.Context, keys []string, _ domain.ErasureCall) (int, error) {
						keys[0] = "changed" // must not change the entry
						return c.absent, c.err
					})
				resolver = taking
			} else {
				plain := mocks.NewMockResolver(ctrl)
				plain.EXPECT().Name().Return("desk").AnyTimes()
				resolver = plain
			}
			w := newWorld(t, nil, resolver)
			w.sessions.EXPECT().Do(gomock.Any(), gomock.Any()).DoAndReturn(
				func(ctx context.Context, fn func(context.Context, ports.Session) error) error {
					return fn(ctx, w.session)
				},
			).AnyTimes()
			w.outbox.EXPECT().Claim(gomock.Any(), gomock.Any()).
				Return([]domain.OutboxEntry{entry}, nil)
			w.outbox.EXPECT().Settle(gomock.Any(), gomock.Any()).DoAndReturn(
				func(_ context.Context, settlements []domain.Settlement) ([]domain.SettleResult, error) {
					got := settlements[0]
					if got.Status != c.status || !slices.Equal(got.Entry.Ref.Keys, held) {
						t.Errorf("got %+v", got)
					}
					return make([]domain.SettleResult, 1), nil
				})
			w.audit.EXPECT().Append(gomock.Any(), gomock.Any()).DoAndReturn(
				func(_ context.Context, events ...domain.AuditEvent) error {
					if events[0].Payload["already_absent"] != c.payload {
						t.Errorf("got %v", events[0].Payload)
					}
					return nil
				})
			if n, err := w.RunOnce(t.Context()); n != 1 || err != nil && !errors.Is(err, errBoom) {
				t.Errorf("got %d, %v", n, err)
			}
		})
	}
}
