package replay_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/habeas-data/habeas/adapters/persistence/memory"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/erasure"
	"github.com/habeas-data/habeas/domain/replay"
)

// The backup is from before the erasure of customer 42, which the journal knows of.
func ExampleReplayer_Replay() {
	dataMap, err := domain.NewDataMap(domain.Table{
		Name: "users", PrimaryKey: []string{"id"}, SubjectKey: []string{"id"},
		Columns: []domain.Column{
			{Name: "id", Type: domain.TypeBigInt},
			{Name: "email", Type: domain.TypeText, Surrogate: "erased", Personal: &domain.Annotation{
				Category: domain.CategoryContact, Strategy: domain.StrategyAnonymize,
			}},
		},
	})
	check(err)
	restored, err := memory.New(dataMap, memory.Options{})
	check(err)
	check(restored.Insert("users", memory.Row{"id": int64(42), "email": "zoe@example.org"}))
	names := &ids{}
	eraser, err := erasure.NewEraser(erasure.Config{Clock: clock{}, IDs: names, DataMap: dataMap})
	check(err)
	replayer, err := replay.NewReplayer(replay.Config{
		Sessions: restored, Clock: clock{}, IDs: names, Erase: eraser.Erase,
	})
	check(err)
	lines := `{"v":1,"subject":["42"],"erased_at":"2024-03-01T12:00:00Z"}` + "\n"
	for range 2 {
		report, err := replayer.Replay(context.Background(), strings.NewReader(lines), nil)
		check(err)
		rows, err := restored.Rows("users")
		check(err)
		fmt.Println(report.Erased, report.Current, rows[0]["email"])
	}
	// Output:
	// 1 0 erased
	// 0 1 erased
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
