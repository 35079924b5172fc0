package cli

import (
	"context"
	"slices"

	"github.com/spf13/cobra"
)

// New returns the command tree of an application. The root command is named habeas. To rename it, set the field Use of
// the returned command.
func New(application Application) *cobra.Command {
	return Open(func(context.Context) (Application, error) { return application, nil })
}

// Open returns the command tree of an application that is opened before the first command that needs it. Help therefore
// works without a database. A caller can add flags for the opener to the returned command.
func Open(open Opener) *cobra.Command {
	t := &tree{open: open}
	output, operator := formats[0], ""
	root := t.command(verb{
		use:   "habeas",
		short: "data subject requests, for operators",
		long: `Serves the requests of data subjects (GDPR) on the database of an application, and
shows open work. A command and the HTTP route for the same request have the same
effect, and record the same events on the audit trail.

Before the first erasure, lint checks the data map, migrate up creates the tables of
habeas, and rehearse shows the effect of an erasure. After an erasure, verify checks
that no data is left.`,
		example: `habeas lint
habeas migrate up
habeas rehearse 42
habeas erase 42 --operator dpo
habeas verify 42 --operator dpo`,
		parts: verbs(),
	})
	flags := root.PersistentFlags()
	flags.VarP(choice{&output, formats}, "output", "o", "`format` of results: text or json")
	flags.StringVar(&operator, "operator", "",
		"`id` of the operator, for the audit trail\n(environment: HABEAS_OPERATOR)")
	flags.BoolP("help", "h", false, "show the help page of the command")
	_ = root.RegisterFlagCompletionFunc("output", completes(formats...))
	root.SetFlagErrorFunc(flagError)
	root.SetHelpFunc(writePage)
	for _, topic := range append(topics, rulesTopic()) {
		root.AddCommand(topic.command())
	}
	help := t.command(help())
	root.SetHelpCommand(help)
	root.AddCommand(help)
	root.CompletionOptions.DisableDefaultCmd = true
	return root
}

// verbs returns the commands of the tree in the order of the help page.
func verbs() []verb {
	return []verb{
		status(), rehearse(), erase(), verify(), find(), export(), trail(), consents(), sweep(), journal(), replaying(),
		outbox(), lint(), picture(), migrate(), completion(), version(),
	}
}

// tree has the state that the commands of a tree share.
type tree struct{ open Opener }

// completes returns a shell completion function for a flag with a fixed set of values.
func completes(words ...string) func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return slices.Clone(words), cobra.ShellCompDirectiveNoFileComp
	}
}
