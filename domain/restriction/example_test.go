package restriction_test

import (
	"context"
	"fmt"

	"github.com/habeas-data/habeas/adapters/persistence/memory"
	"github.com/habeas-data/habeas/app/stack"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports"
)

// Zoe disputes a bill, and until that is settled nothing of hers is to be processed.
func ExampleLedger_Record() {
	engines := shop()
	zoe, err := domain.NewSubjectID("42")
	check(err)
	reason := "the accuracy of the bill is contested" // stays in the ledger

	err = engines.Sessions.Do(context.Background(), func(ctx context.Context, s ports.Session) error {
		record, err := engines.Restriction.Record(ctx, s, zoe, domain.RestrictionDecision{
			Restricted: true, Reason: &reason, Source: "support", // and no purpose, which means all of them
		})
		fmt.Println("restricted:", record.Restricted, "for all purposes:", record.Purpose == nil)
		return err
	})
	check(err)
	// Output: restricted: true for all purposes: true
}

// Before it processes anything, the application asks. Lifting one purpose does not undo a restriction of all.
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

// The history of one purpose; a nil purpose gives that of the restrictions of all processing.
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

// shop returns the engines on a store in memory; an application has a database, and package app.
func shop() stack.Stack {
	dataMap, err := domain.NewDataMap(domain.Table{
		Name: "users", PrimaryKey: []string{"id"}, SubjectKey: []string{"id"},
		Columns: []domain.Column{{Name: "id", Type: domain.TypeBigInt}},
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
