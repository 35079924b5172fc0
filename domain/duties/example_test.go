package duties_test

import (
	"context"
	"fmt"
	"time"

	"github.com/habeas-data/habeas/adapters/persistence/memory"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/domain/duties"
	"github.com/habeas-data/habeas/ports"
)

// at is a clock that stands still.
type at time.Time

func (a at) Now() time.Time { return time.Time(a) }

// The journal of the worker cannot be written.
func ExampleBook() {
	dataMap, err := datamap.NewDataMap(datamap.Table{
		Name: "users", PrimaryKey: []string{"id"}, SubjectKey: []string{"id"},
		Columns: []datamap.Column{{Name: "id", Type: datamap.TypeBigInt}},
	})
	check(err)
	store, err := memory.New(dataMap, memory.Options{})
	check(err)
	noon := time.Date(2024, 3, 1, 12, 0, 0, 0, time.UTC)
	book, err := duties.New(duties.Config{
		Sessions: store, Clock: at(noon), Duties: map[domain.DutyName]time.Duration{domain.DutyJournal: time.Minute},
	})
	check(err)
	check(book.Ended(context.Background(), domain.DutyJournal, domain.OutcomeTimeout))
	check(store.Do(context.Background(), func(ctx context.Context, s ports.Session) error {
		all, err := book.Read(ctx, s)
		for _, finding := range duties.Findings(all, noon) {
			fmt.Println(finding.Code, finding.Severity)
		}
		return err
	}))
	// Output:
	// journal-failing error
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
