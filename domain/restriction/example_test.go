package restriction_test

import (
	"context"
	"fmt"

	"github.com/habeas-data/habeas/adapters/persistence/memory"
	"github.com/habeas-data/habeas/app/stack"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/ports"
)

// Zoe disputes a bill. Until the dispute is settled, none of her data may be processed.
func ExampleLedger_Record() {
	engines := shop()
	zoe, err := domain.NewSubjectID("42")
	check(err)
	reason := "the accuracy of the bill is contested" // is stored only in the ledger

	err = engines.Sessions.Do(context.Background(), func(ctx context.Context, s ports.Session) error {
		record, err := engines.Restriction.Record(ctx, s, zoe, domain.RestrictionDecision{
			Restricted: true, Reason: &reason, Source: "support", // a nil Purpose means all purposes
		})
		fmt.Println("restricted:", record.Restricted, "for all purposes:", record.Purpose == nil)
		return err
	})
	check(err)
	// Output: restricted: true for all purposes: true
}

// The application checks the status before it processes data. Lifting the restriction of one purpose does not lift a
// restriction of all purposes.
func ExampleLedger_Status() {
	engines := shop()
	zoe, err := domain.NewSubjectID("42")
	check(err)
	profiling := "profiling"

	err = engines.Sessions.Do(context.Background(), func(ctx context.Context, s ports.Session) error {
		for _, decision := range []domain.RestrictionDecision{
			{Restricted: true, Source: "support"},
			{Restricted: false, Purpose: &profiling, Source: "support"},
		} {
			if _, err := engines.Restriction.Record(ctx, s, zoe, decision); err != nil {
				return err
			}
		}
		status, err := engines.Restriction.Status(ctx, s, zoe, &profiling)
		if err != nil {
			return err
		}
		fmt.Println("restricted:", status.Restricted, "scope:", *status.Scope)
		return nil
	})
	check(err)
	// Output: restricted: true scope: all
}

// A restriction of profiling is placed and then lifted. History returns both decisions. For global decisions (all
// purposes at once), call History with nil as the purpose.
func ExampleLedger_History() {
	engines := shop()
	zoe, err := domain.NewSubjectID("42")
	check(err)
	profiling := "profiling"

	err = engines.Sessions.Do(context.Background(), func(ctx context.Context, s ports.Session) error {
		for _, restricted := range []bool{true, false} {
			decision := domain.RestrictionDecision{Restricted: restricted, Purpose: &profiling, Source: "api"}
			if _, err := engines.Restriction.Record(ctx, s, zoe, decision); err != nil {
				return err
			}
		}
		history, err := engines.Restriction.History(ctx, s, zoe, &profiling)
		for _, record := range history {
			fmt.Println(*record.Purpose, "restricted:", record.Restricted)
		}
		return err
	})
	check(err)
	// Output:
	// profiling restricted: true
	// profiling restricted: false
}

// shop returns the engines on a store in memory. An application uses a database and package app instead.
func shop() stack.Stack {
	dataMap, err := datamap.NewDataMap(datamap.Table{
		Name: "users", PrimaryKey: []string{"id"}, SubjectKey: []string{"id"},
		Columns: []datamap.Column{{Name: "id", Type: datamap.TypeBigInt}},
	})
	check(err)
	store, err := memory.New(dataMap, memory.Options{})
	check(err)
	engines, err := stack.New(stack.Config{Sessions: store, DataMap: dataMap})
	check(err)
	return engines
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
