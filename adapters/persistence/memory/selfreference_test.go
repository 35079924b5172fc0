package memory_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/habeas-data/habeas/adapters/persistence/memory"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
)

// letters returns the tables people and letters. A letter goes with its sender and with its recipient. It may answer
// another letter.
func letters(answered domain.Strategy) []datamap.Table {
	number := func(name string) datamap.Column { return datamap.Column{Name: name, Type: datamap.TypeBigInt} }
	relation := func(name, column, to string, strategy domain.Strategy) datamap.Relation {
		return datamap.Relation{
			Name: name, Columns: []string{column}, References: to, ReferencedColumns: []string{"id"},
			Path: to == "people", OnErasure: strategy,
		}
	}
	return []datamap.Table{
		{
			Name: "people", PrimaryKey: []string{"id"}, SubjectKey: []string{"id"}, Columns: []datamap.Column{number("id")},
		},
		{
			Name: "letters", PrimaryKey: []string{"id"},
			Columns: []datamap.Column{number("id"), number("sender"), number("recipient"), number("answers")},
			Relations: []datamap.Relation{
				relation("Sender", "sender", "people", domain.StrategyDelete),
				relation("Recipient", "recipient", "people", domain.StrategyDelete),
				relation("Answered", "answers", "letters", answered),
			},
		},
	}
}

func TestReferencesToDeletedRowsOfTheSameTableAreCleared(t *testing.T) {
	steps := []datamap.Step{
		{Target: "letters", Strategy: domain.StrategyAnonymize, ClearedColumns: []string{"answers"}, Self: true},
		{Target: "letters", Strategy: domain.StrategyDelete, Via: "Sender"},
		{Target: "letters", Strategy: domain.StrategyDelete, Via: "Recipient"},
	}
	for _, strategy := range []domain.Strategy{"", domain.StrategyNull} {
		store := newStore(t, memory.Options{}, letters(strategy)...)
		insert(t, store, "people", memory.Row{"id": 1}, memory.Row{"id": 2}, memory.Row{"id": 3})
		insert(t, store, "letters", memory.Row{"id": 1, "sender": 1, "recipient": 2},
			memory.Row{"id": 2, "sender": 2, "recipient": 3, "answers": 1}, // of other people
			memory.Row{"id": 3, "sender": 3, "recipient": 1, "answers": 1}, // goes with the recipient
			memory.Row{"id": 4, "sender": 2, "recipient": 3, "answers": 2},
			memory.Row{"id": 5, "answers": 1}) // of no person
		counts, err := apply(store, subject(t, "1"), steps...)
		if strategy == "" {
			if !errors.Is(err, domain.ErrManifest) {
				t.Errorf("a reference that the data map does not clear: got %v, %v", counts, err)
			}
			continue
		}
		if err != nil || !slices.Equal(counts, []int64{3, 1, 1}) {
			t.Fatalf("got %v, %v", counts, err)
		}
		left := rows(t, store, "letters")
		if len(left) != 3 || left[0]["answers"] != nil || left[1]["answers"] != int64(2) || left[2]["answers"] != nil {
			t.Errorf("left are %v", left)
		}
	}
}
