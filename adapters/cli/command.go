package cli

import (
	"context"
	"slices"

	"github.com/spf13/cobra"
)

// New returns the command tree of an application. Its root is called habeas. A caller that adds the tree to another one
// may change the name by the field Use.
func New(application Application) *cobra.Command {
	return Open(func(context.Context) (Application, error) { return application, nil })
}

// Open is New for an application that is opened when a verb first needs it, so that help works without a database. The
// flags that the opener needs can be added to the returned command.
func Open(open Opener) *cobra.Command {
	t := &tree{open: open}
	output, operator := formats[0], ""
	root := t.command(verb{
		use:   "habeas",
		short: "the rights of data subjects, for operators",
		long: `Carries out the rights of data subjects (GDPR) on the database of an application,
and shows what is left to be done. Verbs do what the routes of the application
do, and leave the same events on the audit trail.`,
		example: `habeas status
habeas export 42 --operator dpo > copy.json
habeas erase 42 --operator dpo`,
		parts: verbs(),
	})
	flags := root.PersistentFlags()
	flags.VarP(choice{&output, formats}, "output", "o", "`format` of results: text or json")
	flags.StringVar(&operator, "operator", "",
		"`id` of the person who acts, for the audit trail\n(environment: HABEAS_OPERATOR)")
	flags.BoolP("help", "h", false, "show the page of the verb")
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

// verbs are the verbs of the tree in the order of their list.
func verbs() []verb {
	return []verb{
		status(), rehearse(), erase(), verify(), find(), export(), trail(), consents(), sweep(), journal(), replaying(),
		outbox(), lint(), picture(), migrate(), completion(), version(),
	}
}

// tree has what the verbs of a tree share.
type tree struct{ open Opener }

// completes completes a flag with fixed words.
func completes(words ...string) func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return slices.Clone(words), cobra.ShellCompDirectiveNoFileComp
	}
}
