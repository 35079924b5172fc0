package readme_test

import (
	"context"
	"database/sql"
	"fmt"
	"testing"
	"time"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect/sqlitedialect"

	"github.com/habeas-data/habeas/app"
	"github.com/habeas-data/habeas/app/stack"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/saga"
	"github.com/habeas-data/habeas/internal/tests/databases"
	"github.com/habeas-data/habeas/ports"
)

type Account struct {
	bun.BaseModel `bun:"table:accounts"`

	ID    int64  `bun:"id,pk" subject:"id"`
	Name  string `bun:"name,unique" pii:"contact"`
	Phone string `bun:"phone,type:varchar(20)" pii:"contact"`
}

func TestTheConfigurationIsValid(t *testing.T) {
	if _, err := app.New(configOf(databases.SQLite(t), []any{(*Account)(nil)}, nil, func(string) {})); err != nil {
		t.Error(err)
	}
}

func configOf(db *bun.DB, models []any, resolvers []ports.Resolver, alert func(string)) app.Config {
	return app.Config{
		DB: db, Models: models, Resolvers: resolvers,
		Purposes: []domain.Purpose{{Name: "newsletter"}, {Name: "profiling"}},
		OnAbandoned: func(_ context.Context, entry domain.OutboxEntry) {
			// SubjectID and Ref identify a person: leave them out of logs and messages.
			alert(string(entry.Operation) + " at " + entry.Resolver + " needs an operator: entry " + entry.EntryID)
		},
		Options: stack.Options{Saga: saga.Options{CallTimeout: 10 * time.Second}},
	}
}

func printPlan(gdpr *app.Integration) {
	for _, step := range gdpr.Plan().Steps {
		fmt.Println(step.Strategy, step.Target, step.Columns, step.Via)
	}
}

func Example_plan() {
	gdpr, err := app.New(app.Config{
		DB: bun.NewDB(new(sql.DB), sqlitedialect.New()), Models: []any{(*Account)(nil)},
	})
	if err != nil {
		panic(err)
	}
	printPlan(gdpr)
	// Output: delete accounts []
}
