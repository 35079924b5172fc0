package cli_test

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/spf13/cobra"

	"github.com/habeas-data/habeas/adapters/persistence/memory"
	"github.com/habeas-data/habeas/app"
	"github.com/habeas-data/habeas/app/stack"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/tool/cli"
)

// This program is the command line tool for operators. In this example, the database is in memory.
func ExampleNew() {
	root := cli.New(newApplication().Operator())
	root.SetArgs([]string{"erase", "7", "--operator", "dpo", "--yes", "--output", "json"})
	root.SetOut(&discarded{}) // the result has the current time
	fmt.Println("exit code", cli.Execute(context.Background(), root))

	root.SetArgs([]string{"erase", "8"})
	root.SetErr(os.Stdout)
	fmt.Println("exit code", cli.Execute(context.Background(), root))
	// Output:
	// exit code 0
	// habeas: the database has no subject with this id, and no erasure of it: check the id
	// exit code 2
}

// A program can add the commands to its own command tree. In this example, the program runs: shop gdpr erase 7.
func ExampleOpen() {
	shop := &cobra.Command{Use: "shop"}
	gdpr := cli.Open(func(context.Context) (cli.Application, error) { return newApplication().Operator(), nil })
	gdpr.Use = "gdpr"
	shop.AddCommand(gdpr)

	shop.SetArgs([]string{"gdpr", "outbox", "counts"})
	shop.SetOut(os.Stdout)
	os.Exit(cli.Main(shop))
}

// discarded is an output that drops everything.
type discarded struct{}

func (discarded) Write(text []byte) (int, error) { return len(text), nil }

// newApplication returns a shop with one user, in memory. An application with a database calls app.New with its models
// instead.
func newApplication() *app.Integration {
	users := datamap.Table{
		Name: "users", PrimaryKey: []string{"id"}, SubjectKey: []string{"id"},
		Columns: []datamap.Column{
			{Name: "id", Type: datamap.TypeBigInt},
			{Name: "email", Type: datamap.TypeText, Personal: &datamap.Annotation{
				Category: domain.CategoryContact, Strategy: domain.StrategyAnonymize,
			}},
		},
	}
	dataMap, err := datamap.NewDataMap(users)
	check(err)
	store, err := memory.New(dataMap, memory.Options{})
	check(err)
	check(store.Insert("users", memory.Row{"id": 7, "email": "jane@example.org"}))
	engines, err := stack.New(stack.Config{Sessions: store, DataMap: dataMap})
	check(err)
	gdpr, err := app.New(app.Config{Stack: &engines})
	check(err)
	return gdpr
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
