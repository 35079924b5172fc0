package lives_test

import (
	"context"
	"fmt"
	"time"

	"github.com/habeas-data/habeas/adapters/persistence/memory"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/domain/lives"
	"github.com/habeas-data/habeas/ports"
)

// Account 1 is erased, and its row is deleted. Later, a row with the same number is there. The table has no creation
// time, so nothing tells whether the row was restored or belongs to a new person.
func ExampleCount() {
	dataMap, err := datamap.NewDataMap(datamap.Table{
		Name: "accounts", PrimaryKey: []string{"id"}, SubjectKey: []string{"id"}, Owned: true,
		Columns: []datamap.Column{{Name: "id", Type: datamap.TypeBigInt}},
	})
	check(err)
	store, err := memory.New(dataMap, memory.Options{})
	check(err)
	account, err := domain.NewSubjectID("1")
	check(err)
	check(store.Do(context.Background(), func(ctx context.Context, s ports.Session) error {
		_, err := s.Subjects().Lock(ctx, account, time.Date(2024, 3, 1, 12, 0, 0, 0, time.UTC))
		return err
	}))
	count(store)
	check(store.Insert("accounts", memory.Row{"id": 1}))
	count(store)
	// Output:
	// 0
	// 1 lives-unknown
}

// Registers tells whether the application ever called Register.
func ExampleRegister() {
	dataMap, err := datamap.NewDataMap(datamap.Table{
		Name: "accounts", PrimaryKey: []string{"id"}, SubjectKey: []string{"id"}, Owned: true,
		Columns: []datamap.Column{{Name: "id", Type: datamap.TypeBigInt}},
	})
	check(err)
	store, err := memory.New(dataMap, memory.Options{})
	check(err)
	account, err := domain.NewSubjectID("1")
	check(err)
	check(store.Insert("accounts", memory.Row{"id": 1}))
	before, err := lives.Registers(context.Background(), store)
	check(err)
	check(store.Do(context.Background(), func(ctx context.Context, s ports.Session) error {
		return lives.Register(ctx, s, account, time.Date(2024, 3, 1, 12, 0, 0, 0, time.UTC))
	}))
	after, err := lives.Registers(context.Background(), store)
	check(err)
	fmt.Println(before, after)
	// Output:
	// false true
}

func count(store *memory.Store) {
	unknown, err := lives.Count(context.Background(), store)
	check(err)
	if finding, found := lives.Finding(unknown); found {
		fmt.Println(unknown, finding.Code)
		return
	}
	fmt.Println(unknown)
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
