package register_test

import (
	"context"
	"fmt"
	"time"

	"github.com/habeas-data/habeas/adapters/persistence/memory"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/domain/register"
	"github.com/habeas-data/habeas/domain/request"
	"github.com/habeas-data/habeas/internal/system"
	"github.com/habeas-data/habeas/ports"
)

// A letter arrives on a Monday, and is entered on Thursday.
func ExampleRegister_Open() {
	dataMap, err := datamap.NewDataMap(people)
	panicOn(err)
	store, err := memory.New(dataMap, memory.Options{})
	panicOn(err)
	requests, err := register.New(register.Config{
		Clock: fixed(thursday), IDs: &system.IDs{}, Secrets: system.Secrets{}, Rules: request.Rules{Zone: time.UTC},
	})
	panicOn(err)
	panicOn(store.Do(context.Background(), func(ctx context.Context, s ports.Session) error {
		opened, isNew, err := requests.Open(ctx, s, register.Opening{
			Kind: request.Access, Channel: request.Operator, ReceivedAt: thursday.AddDate(0, 0, -3),
		})
		fmt.Println(isNew, opened.State, opened.DueOn)
		return err
	}))
	// Output: true received 2026-04-02
}

var thursday = time.Date(2026, time.March, 5, 12, 0, 0, 0, time.UTC)

var people = datamap.Table{
	Name: "people", PrimaryKey: []string{"id"}, SubjectKey: []string{"id"},
	Columns: []datamap.Column{{Name: "id", Type: datamap.TypeBigInt}},
}

type fixed time.Time

func (f fixed) Now() time.Time { return time.Time(f) }

func panicOn(err error) {
	if err != nil {
		panic(err)
	}
}
