package health_test

import (
	"context"
	"fmt"
	"time"

	"github.com/habeas-data/habeas/adapters/persistence/memory"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/domain/health"
)

// machine is the machine's clock.
type machine struct{}

func (machine) Now() time.Time { return time.Now() }

// The process runs no worker.
func ExampleNew() {
	dataMap, err := datamap.NewDataMap(datamap.Table{
		Name: "users", PrimaryKey: []string{"id"}, SubjectKey: []string{"id"},
		Columns: []datamap.Column{{Name: "id", Type: datamap.TypeBigInt}},
	})
	check(err)
	store, err := memory.New(dataMap, memory.Options{})
	check(err)
	checker, err := health.New(health.Config{Sessions: store, Clock: machine{}})
	check(err)
	state := checker.Check(context.Background())
	fmt.Println("ready:", state.Ready, "degraded:", state.Degraded)
	for _, check := range state.Checks {
		fmt.Println(check.Name, check.Status)
	}
	// Output:
	// ready: true degraded: false
	// database ok
	// migrations ok
	// worker off
	// abandoned_entries ok
	// late_entries ok
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
