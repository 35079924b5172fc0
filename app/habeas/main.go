// Habeas is the command of operators as a program of its own, for an application whose data map is a manifest in JSON
// (see package manifest):
//
//	go run ./app/habeas help
//	export HABEAS_DATA_MAP=datamap.json HABEAS_DATABASE_URL=postgres://...
//	go run ./app/habeas status
//
// It knows no external system: it erases in the database alone, and what it enqueues is nothing. An application that
// has systems adds package cli to a program of its own.
package main

import (
	"os"

	"github.com/spf13/cobra"

	"github.com/habeas-data/habeas/adapters/cli"
)

func main() { os.Exit(cli.Main(newCommand(os.Getenv))) }

// newCommand returns the command tree. It reads the environment when a verb first needs the application.
func newCommand(env func(string) string) *cobra.Command {
	s := &settings{env: env}
	root := cli.Open(s.open)
	root.Long += `

This program takes the data map from a manifest in JSON. It knows no external
system: where an application has some, its own program erases and exports.`
	flags := root.PersistentFlags()
	flags.StringVar(&s.dataMap, "data-map", "", "`file` with the data map in JSON (environment: HABEAS_DATA_MAP)")
	flags.StringVar(&s.databaseURL, "database-url", "",
		"`url` of the database: postgres://... or sqlite:FILE\n(environment: HABEAS_DATABASE_URL)")
	flags.StringVar(&s.schema, "schema", "", "PostgreSQL `schema` of the tables of habeas")
	return root
}
