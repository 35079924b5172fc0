// Habeas is the command line tool of operators as a separate program. It is for an application whose data map is a
// manifest in JSON (see package manifest):
//
//	go run ./tool/habeas help
//	export HABEAS_DATA_MAP=datamap.json HABEAS_DATABASE_URL=postgres://...
//	go run ./tool/habeas status
//
// The program has no resolvers and runs no hooks. It erases only in the database and adds no outbox entries for
// external systems. If the worker of the application has recorded resolvers or hooks, the commands erase and replay
// are refused, unless --without-hooks is given. If an application has external systems, add the commands of package
// cli to the application's own program instead.
package main

import (
	_ "embed"
	"os"
	_ "time/tzdata" // zones of data maps, also in a container without a zone database

	"github.com/spf13/cobra"

	"github.com/habeas-data/habeas/tool/cli"
)

// programText and incomplete are the ends of the page of the program, and of those of the commands that erase.
var (
	//go:embed help/program.txt
	programText string
	//go:embed help/incomplete.txt
	incomplete string
)

func main() { os.Exit(cli.Main(newCommand(os.Getenv))) }

// newCommand returns the command tree. The environment is read when a command needs the application or its database.
func newCommand(env func(string) string) *cobra.Command {
	s := &settings{env: env}
	root := cli.OpenParts(cli.Openers{
		Application: s.open, WithoutDataMap: s.openUnmapped, WithoutDatabase: s.openMap, Operator: s.operator,
		Manifest: true,
	})
	root.AddCommand(cli.Scaffold(s.openCatalog), cli.Decide(cli.Deciding{
		File: s.dataMapFile, Open: s.openRows, Operator: s.operator,
	}))
	s.stderr = root.ErrOrStderr
	root.Long += programText
	for _, command := range root.Commands() {
		if command.Name() == "erase" || command.Name() == "replay" {
			command.Long += incomplete
		}
	}
	flags := root.PersistentFlags()
	flags.Var(&s.dataMap, "data-map", "`file` with the data map in JSON (environment: HABEAS_DATA_MAP)")
	flags.Var(&s.databaseURL, "database-url",
		"`url` of the database: postgres://... or sqlite:FILE\n(environment: HABEAS_DATABASE_URL)")
	flags.Var(&s.schema, "schema", "PostgreSQL `schema` of the tables of habeas")
	flags.Var(&s.name, "name",
		"`name` of the data map, if the database has several\n(environment: HABEAS_NAME)")
	flags.BoolVar(&s.trustEncoding, "trust-encoding", false,
		"all texts of a PostgreSQL database with the encoding SQL_ASCII are in UTF-8")
	flags.BoolVar(&s.withoutHooks, "without-hooks", false,
		"erase and replay although the application calls external systems or runs hooks")
	return root
}
