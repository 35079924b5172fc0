package conformance_test

import (
	"context"
	"errors"
	"reflect"
	"testing"
	"time"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/internal/tests/fixture"
	"github.com/habeas-data/habeas/ports"
	"github.com/habeas-data/habeas/ports/porttest"
	"github.com/habeas-data/habeas/tests/internal/conformance"
)

// The conformance suites call functions of the harness, such as Insert and Rows. These tests check those functions.

func TestRowsComeBackAsTheyWereInserted(t *testing.T) {
	forEachKind(t, func(t *testing.T, store porttest.Store) {
		instant := time.Date(2024, 2, 29, 23, 59, 58, 123456000, time.UTC)
		person := porttest.Row{
			"tenant": "shop'1", "number": int64(1) << 40, "name": "Ä?$1", "email": nil, "nickname": "N", "born": instant,
			"score": 12.5, "level": int64(-3), "visits": int64(7), "active": true,
			"token":    "6ba7b810-9dad-11d1-80b4-00c04fd430c8",
			"settings": domain.JSON(`{"theme": "dark"}`), "photo": []byte{0, 1, 0xff, '\''}, "remark": "",
		}
		store.Insert(t, "people", person)
		store.Insert(t, "people", porttest.Row{"tenant": "a", "number": int64(2)})
		rows := store.Rows(t, "people")
		if len(rows) != 2 {
			t.Fatalf("%d rows, want 2", len(rows))
		}
		for column, want := range person {
			if got := rows[1][column]; !reflect.DeepEqual(got, want) {
				t.Errorf("%s came back as %#v, want %#v", column, got, want)
			}
			if got := rows[0][column]; column != "tenant" && column != "number" && got != nil {
				t.Errorf("%s came back as %#v, want nil", column, got)
			}
		}
	})
}

func TestForeignKeysHold(t *testing.T) {
	forEachKind(t, func(t *testing.T, store porttest.Store) {
		store.Insert(t, "people", porttest.Row{"tenant": "a", "number": int64(1)})
		store.Insert(t, "orders", porttest.Row{"id": int64(1), "tenant": "a", "person": int64(1)})
		id := fixture.MustID(t, "a", "1")
		err := store.Sessions.Do(t.Context(), func(ctx context.Context, s ports.Session) error {
			_, err := s.Subjects().Apply(ctx, id, []datamap.Step{{Target: "people", Strategy: domain.StrategyDelete}})
			return err
		})
		if !errors.Is(err, domain.ErrConflict) {
			t.Errorf("a row to which another one refers could be deleted: %v", err)
		}
	})
}

func TestStatementsAndConnectionsAreTheStoresOwn(t *testing.T) {
	forEachKind(t, func(t *testing.T, store porttest.Store) {
		if store.Statements == nil {
			t.Skip("this store sends no statements")
		}
		store.Insert(t, "people", porttest.Row{"tenant": "a", "number": int64(1)})
		if n := store.Statements(); n != 0 {
			t.Errorf("%d statements before the store did anything", n)
		}
		err := store.Sessions.Do(t.Context(), func(ctx context.Context, s ports.Session) error {
			if _, err := s.Subjects().Lock(ctx, domain.SubjectID{}, time.Time{}); err == nil {
				t.Error("nobody was locked")
			}
			id, err := domain.NewSubjectID("a", "1")
			if err != nil {
				return err
			}
			if _, err := s.Subjects().Lock(ctx, id, time.Now()); err != nil {
				return err
			}
			if n := store.Connections(); n != 1 {
				t.Errorf("%d connections in a session, want 1", n)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if store.Statements() == 0 || store.Connections() != 0 {
			t.Errorf("%d statements, %d connections afterwards", store.Statements(), store.Connections())
		}
	})
}

// forEachKind runs a test on an open store of each kind.
func forEachKind(t *testing.T, run func(t *testing.T, store porttest.Store)) {
	t.Helper()
	for _, kind := range conformance.Kinds() {
		t.Run(kind.Name, func(t *testing.T) { run(t, kind.Harness(t).Open(t)) })
	}
}
