package consent_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/habeas-data/habeas/adapters/persistence/memory"
	"github.com/habeas-data/habeas/adapters/system"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/consent"
	"github.com/habeas-data/habeas/ports"
)

// Zoe subscribes to a newsletter. A decision that does not say which text she saw is refused.
func ExampleLedger_Record() {
	store, ledger := openStore(), consent.NewLedger(system.Clock{}, &system.IDs{})
	zoe, err := domain.NewSubjectID("42")
	check(err)

	err = store.Do(context.Background(), func(ctx context.Context, s ports.Session) error {
		record, err := ledger.Record(ctx, s, zoe, domain.ConsentDecision{
			Purpose: "newsletter", PolicyVersion: "2024-03", Granted: true, Source: "sign-up form",
		})
		fmt.Println(record.Purpose, record.PolicyVersion, record.Granted)
		return err
	})
	check(err)

	err = store.Do(context.Background(), func(ctx context.Context, s ports.Session) error {
		_, err := ledger.Record(ctx, s, zoe, domain.ConsentDecision{Purpose: "newsletter", Granted: true, Source: "api"})
		return err
	})
	fmt.Println(errors.Is(err, domain.ErrInvalid))
	// Output:
	// newsletter 2024-03 true
	// true
}

// Before a newsletter is sent, the consent in force decides. Without a record it is not granted.
func ExampleLedger_Status() {
	ledger := consent.NewLedger(system.Clock{}, &system.IDs{})
	zoe, err := domain.NewSubjectID("42")
	check(err)

	err = openStore().Do(context.Background(), func(ctx context.Context, s ports.Session) error {
		status, err := ledger.Status(ctx, s, zoe, "newsletter")
		fmt.Println("may write:", status.Granted, status.PolicyVersion == nil)
		return err
	})
	check(err)
	// Output: may write: false true
}

// Was the newsletter of 15 March lawful? Zoe consented on the 1st, and withdrew on the 20th.
func ExampleLedger_StatusAsOf() {
	today := &calendar{}
	ledger := consent.NewLedger(today, &system.IDs{})
	zoe, err := domain.NewSubjectID("42")
	check(err)

	err = openStore().Do(context.Background(), func(ctx context.Context, s ports.Session) error {
		decision := domain.ConsentDecision{Purpose: "newsletter", PolicyVersion: "2024-03", Source: "api"}
		for _, day := range []int{1, 20} {
			today.Time, decision.Granted = march(day), day == 1
			if _, err := ledger.Record(ctx, s, zoe, decision); err != nil {
				return err
			}
		}
		then, err := ledger.StatusAsOf(ctx, s, zoe, "newsletter", march(15))
		if err != nil {
			return err
		}
		now, err := ledger.Status(ctx, s, zoe, "newsletter")
		fmt.Println("then:", then.Granted, "now:", now.Granted)
		return err
	})
	check(err)
	// Output: then: true now: false
}

// The ledger is the proof that Art. 7(1) GDPR asks for: nothing in it is ever changed or removed.
func ExampleLedger_History() {
	today := &calendar{}
	ledger := consent.NewLedger(today, &system.IDs{})
	zoe, err := domain.NewSubjectID("42")
	check(err)

	err = openStore().Do(context.Background(), func(ctx context.Context, s ports.Session) error {
		decision := domain.ConsentDecision{Purpose: "newsletter", PolicyVersion: "2024-03", Source: "api"}
		for _, day := range []int{1, 20} {
			today.Time, decision.Granted = march(day), day == 1
			if _, err := ledger.Record(ctx, s, zoe, decision); err != nil {
				return err
			}
		}
		history, err := ledger.History(ctx, s, zoe, "newsletter")
		for _, record := range history {
			fmt.Println(record.RecordedAt.Format(time.DateOnly), record.PolicyVersion, record.Granted)
		}
		return err
	})
	check(err)
	// Output:
	// 2024-03-01 2024-03 true
	// 2024-03-20 2024-03 false
}

// openStore returns a store in memory; an application has a database, and package bunstore.
func openStore() *memory.Store {
	dataMap, err := domain.NewDataMap(domain.Table{
		Name: "users", PrimaryKey: []string{"id"}, SubjectKey: []string{"id"},
		Columns: []domain.Column{{Name: "id", Type: domain.TypeBigInt}},
	})
	check(err)
	store, err := memory.New(dataMap, memory.Options{})
	check(err)
	return store
}

// calendar is a clock that stands still.
type calendar struct{ time.Time }

func (c *calendar) Now() time.Time { return c.Time }

func march(day int) time.Time { return time.Date(2024, time.March, day, 9, 0, 0, 0, time.UTC) }

func check(err error) {
	if err != nil {
		panic(err)
	}
}
