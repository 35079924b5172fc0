package sweep_test

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/habeas-data/habeas/adapters/persistence/memory"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/domain/erasure"
	"github.com/habeas-data/habeas/domain/sweep"
	"github.com/habeas-data/habeas/ports"
)

// The address of an invoice is retained for ten years. The erasure keeps it, and a later sweep overwrites it.
func ExampleSweeper_RunAll() {
	ctx := context.Background()
	dataMap, err := datamap.NewDataMap(datamap.Table{
		Name: "invoices", PrimaryKey: []string{"id"}, SubjectKey: []string{"id"},
		Columns: []datamap.Column{
			{Name: "id", Type: datamap.TypeBigInt},
			{Name: "email", Type: datamap.TypeText, Personal: &datamap.Annotation{
				Category: domain.CategoryContact, Strategy: domain.StrategyAnonymize,
			}},
			{Name: "address", Type: datamap.TypeText, Surrogate: "erased", Personal: &datamap.Annotation{
				Category: domain.CategoryFinancial, Strategy: domain.StrategyRetain, Reason: "§147 AO",
				Retain: datamap.Period{Years: 10}, Since: "issued_at",
			}},
			{Name: "issued_at", Type: datamap.TypeTime},
		},
	})
	check(err)
	store, err := memory.New(dataMap, memory.Options{})
	check(err)
	check(store.Insert("invoices", memory.Row{
		"id": int64(1), "email": "zoe@example.org", "address": "Main Street 1",
		"issued_at": time.Date(2014, 5, 1, 0, 0, 0, 0, time.UTC),
	}))
	now := &exampleClock{time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)}
	eraser, err := erasure.NewEraser(erasure.Config{Clock: now, IDs: &exampleIDs{}, DataMap: dataMap})
	check(err)
	zoe, err := domain.NewSubject("1")
	check(err)
	check(store.Do(ctx, func(ctx context.Context, s ports.Session) error {
		_, err := eraser.Erase(ctx, s, zoe)
		return err
	}))
	sweeper, err := sweep.NewSweeper(sweep.Config{
		Sessions: store, Clock: now, IDs: &exampleIDs{n: 100}, DataMap: dataMap, Plan: eraser.Plan(),
	})
	check(err)
	for _, year := range []int{2023, 2024} {
		now.now = time.Date(year, 6, 1, 0, 0, 0, 0, time.UTC)
		report, err := sweeper.RunAll(ctx, nil)
		check(err)
		rows, err := store.Rows("invoices")
		check(err)
		fmt.Println(year, report.Rows, rows[0]["address"])
	}
	// Output:
	// 2023 map[] Main Street 1
	// 2024 map[invoices:1] erased
}

// exampleClock is the clock of the example.
type exampleClock struct{ now time.Time }

func (c *exampleClock) Now() time.Time { return c.now }

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
