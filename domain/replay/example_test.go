package replay_test

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/habeas-data/habeas/adapters/persistence/memory"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/domain/erasure"
	"github.com/habeas-data/habeas/domain/replay"
	"github.com/habeas-data/habeas/ports"
)

// The backup was made before the erasure of customer 42. The journal lists the erasure.
func ExampleReplayer_Replay() {
	dataMap, err := datamap.NewDataMap(datamap.Table{
		Name: "users", PrimaryKey: []string{"id"}, SubjectKey: []string{"id"},
		Columns: []datamap.Column{
			{Name: "id", Type: datamap.TypeBigInt},
			{Name: "email", Type: datamap.TypeText, Personal: &datamap.Annotation{
				Category: domain.CategoryContact, Strategy: domain.StrategyAnonymize,
			}},
		},
	})
	check(err)
	restored, err := memory.New(dataMap, memory.Options{})
	check(err)
	check(restored.Insert("users", memory.Row{"id": int64(42), "email": "zoe@example.org"}))
	names := &exampleIDs{}
	eraser, err := erasure.NewEraser(erasure.Config{Clock: exampleClock{}, IDs: names, DataMap: dataMap})
	check(err)
	replayer, err := replay.NewReplayer(replay.Config{
		Sessions: restored, Clock: exampleClock{}, IDs: names, Erase: eraser.Repeat,
	})
	check(err)
	var own datamap.Installation
	check(restored.Do(context.Background(), func(ctx context.Context, s ports.Session) (err error) {
		own, err = s.Installation().Read(ctx)
		return err
	}))
	lines := `{"v":2,"installation":"` + own.ID + `","number":1,"after":0,"subject":["42"],` +
		`"erased_at":"2024-03-01T12:00:00Z"}` + "\n"
	for range 2 {
		report, err := replayer.Replay(context.Background(), strings.NewReader(lines), nil)
		check(err)
		rows, err := restored.Rows("users")
		check(err)
		fmt.Println(report.Erased, report.Current, rows[0]["email"] == "zoe@example.org")
	}
	// Output:
	// 1 0 false
	// 0 1 false
}

// exampleClock is the clock of the example.
type exampleClock struct{}

func (exampleClock) Now() time.Time { return time.Date(2024, 4, 1, 12, 0, 0, 0, time.UTC) }

// exampleIDs makes consecutive ids.
type exampleIDs struct{ n int }

func (i *exampleIDs) NewID() string {
	i.n++
	return "id-" + strconv.Itoa(i.n)
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
