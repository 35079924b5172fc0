package bunstore_test

import (
	"context"
	"encoding/json"
	"maps"
	"testing"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/internal/tests/databases"
	"github.com/habeas-data/habeas/ports"
)

func asText(row map[string]any) string {
	text, _ := json.Marshal(row)
	return string(text)
}

// equalPayload reports whether two payloads are equal. It ignores the operation id in got.
func equalPayload(got, want domain.Payload) bool {
	got = maps.Clone(got)
	delete(got, domain.PayloadOperationID)
	return maps.Equal(got, want)
}

func TestErasuresOfDifferentSubjectsDoNotWaitForEachOther(t *testing.T) {
	t.Parallel()
	s := newShop(t, databases.PostgreSQL(t), 1)
	s.do(t, func(ctx context.Context, session ports.Session) error {
		if _, err := s.eraser.Erase(ctx, session, s.alice); err != nil {
			return err
		}
		_, err := s.erase(s.bob) // in another session, while the first session is open
		return err
	})
}
