package consent_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/habeas-data/habeas/adapters/persistence/memory"
	"github.com/habeas-data/habeas/app/stack"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/ports"
)

// Zoe subscribes to a newsletter. The ledger refuses a decision without the version of the text that she saw.
func ExampleLedger_Record() {
	engines := shop(nil)
	zoe, err := domain.NewSubjectID("42")
	check(err)

	err = engines.Sessions.Do(context.Background(), func(ctx context.Context, s ports.Session) error {
		record, err := engines.Consent.Record(ctx, s, zoe, domain.ConsentDecision{
			Purpose: "newsletter", PolicyVersion: "2024-03", Granted: true, Source: "sign-up form",
		})
		fmt.Println(record.Purpose, record.PolicyVersion, record.Granted)
		return err
	})
	check(err)

	err = engines.Sessions.Do(context.Background(), func(ctx context.Context, s ports.Session) error {
		_, err := engines.Consent.Record(ctx, s, zoe, domain.ConsentDecision{
			Purpose: "newsletter", Granted: true, Source: "api",
		})
		return err
	})
	fmt.Println(errors.Is(err, domain.ErrInvalid))
	// Output:
	// newsletter 2024-03 true
	// true
}

// The application checks the consent in force before it sends a newsletter. Without a decision, consent is not granted.
func ExampleLedger_Status() {
	engines := shop(nil)
	zoe, err := domain.NewSubjectID("42")
	check(err)

	err = engines.Sessions.Do(context.Background(), func(ctx context.Context, s ports.Session) error {
		status, err := engines.Consent.Status(ctx, s, zoe, "newsletter")
		fmt.Println("may write:", status.Granted, status.PolicyVersion == nil)
		return err
	})
	check(err)
	// Output: may write: false true
}

// A newsletter was sent on 15 March. Zoe consented on 1 March and withdrew her consent on 20 March. StatusAsOf shows
// that consent was in force on 15 March.
func ExampleLedger_StatusAsOf() {
	today := &calendar{}
	engines := shop(today)
	zoe, err := domain.NewSubjectID("42")
	check(err)

	err = engines.Sessions.Do(context.Background(), func(ctx context.Context, s ports.Session) error {
		decision := domain.ConsentDecision{Purpose: "newsletter", PolicyVersion: "2024-03", Source: "api"}
		for _, day := range []int{1, 20} {
			today.Time, decision.Granted = march(day), day == 1
			if _, err := engines.Consent.Record(ctx, s, zoe, decision); err != nil {
				return err
			}
		}
		then, err := engines.Consent.StatusAsOf(ctx, s, zoe, "newsletter", march(15))
		if err != nil {
			return err
		}
		now, err := engines.Consent.Status(ctx, s, zoe, "newsletter")
		fmt.Println("then:", then.Granted, "now:", now.Granted)
		return err
	})
	check(err)
	// Output: then: true now: false
}

// The ledger is the evidence that Art. 7(1) GDPR requires. No decision is ever changed or removed.
func ExampleLedger_History() {
	today := &calendar{}
	engines := shop(today)
	zoe, err := domain.NewSubjectID("42")
	check(err)

	err = engines.Sessions.Do(context.Background(), func(ctx context.Context, s ports.Session) error {
		decision := domain.ConsentDecision{Purpose: "newsletter", PolicyVersion: "2024-03", Source: "api"}
		for _, day := range []int{1, 20} {
			today.Time, decision.Granted = march(day), day == 1
			if _, err := engines.Consent.Record(ctx, s, zoe, decision); err != nil {
				return err
			}
		}
		history, err := engines.Consent.History(ctx, s, zoe, "newsletter")
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

// shop returns the engines on a store in memory. An application uses a database and package app instead. If the clock
// is nil, the engines use the clock of the machine.
func shop(clock ports.Clock) stack.Stack {
	dataMap, err := datamap.NewDataMap(datamap.Table{
		Name: "users", PrimaryKey: []string{"id"}, SubjectKey: []string{"id"},
		Columns: []datamap.Column{{Name: "id", Type: datamap.TypeBigInt}},
	})
	check(err)
	store, err := memory.New(dataMap, memory.Options{})
	check(err)
	engines, err := stack.New(stack.Config{Sessions: store, DataMap: dataMap, Clock: clock})
	check(err)
	return engines
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
