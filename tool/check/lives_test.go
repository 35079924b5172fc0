package check_test

import (
	"context"
	"errors"
	"testing"

	"github.com/habeas-data/habeas/domain/datamap"
)

var lifeCases = cases{
	"key-reused": {func(w *world) { w.column("users", "id").Reused = true }, []string{"key-reused users.id"}},
	"key-reused although there is a creation time": {
		deletingUsers(func(w *world) { w.column("users", "id").Reused = true }), []string{"key-reused users.id"},
	},
	"key-reused not if people are registered": {
		func(w *world) { w.column("users", "id").Reused, w.registers = true, people }, nil,
	},
	"key-reused not for other tables": {func(w *world) { w.column("orders", "id").Reused = true }, nil},
	"key-reused not for other columns": {
		func(w *world) {
			w.addToBoth("users", datamap.Column{Name: "number", Type: datamap.TypeBigInt})
			w.column("users", "number").Reused = true
		}, nil,
	},
	"life-unknown": {
		deletingUsers(func(w *world) { w.withoutCreationTime() }), []string{"life-unknown users"},
	},
	"life-unknown not for a random key": {
		deletingUsers(func(w *world) {
			w.withoutCreationTime()
			w.field("users", "id").Type, w.column("users", "id").Type = datamap.TypeUUID, datamap.TypeUUID
		}), []string{"key-type sessions.user_id"}, // which refers to the key
	},
	"life-unknown not if people are registered": {
		deletingUsers(func(w *world) { w.withoutCreationTime(); w.registers = people }), nil,
	},
	"life-unknown of a row that stays with short texts": {
		func(w *world) { w.field("users", "email").Length = 8 }, []string{"life-unknown users"},
	},
}

// people is the answer of an application that registers people.
func people(context.Context) (bool, error) { return true, nil }

// withoutCreationTime removes the creation time of "users" from the data map.
func (w *world) withoutCreationTime() {
	users := w.table("users")
	users.Columns = users.Columns[:len(users.Columns)-1]
}

func TestKeysAreReportedWithoutTheTablesOfHabeas(t *testing.T) {
	w := newWorld()
	w.column("users", "id").Reused = true
	w.registers = func(context.Context) (bool, error) { return true, errors.New("there is no such table") }
	if found := w.findings(t); len(found) != 1 || found[0].Code != "key-reused" ||
		found[0].Severity != datamap.SeverityError {
		t.Errorf("found %v", found)
	}
}

func TestACheckEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	w := newWorld()
	w.registers = func(ctx context.Context) (bool, error) {
		cancel()
		return false, ctx.Err()
	}
	if _, err := w.check(ctx, t); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}
