package cli

import (
	"context"
	"slices"

	"github.com/spf13/cobra"
)

// New returns the commands for an application, as a tree. The name of the root command is habeas. To rename the root
// command, set the field Use of the result.
func New(application Application) *cobra.Command {
	return Open(func(context.Context) (Application, error) { return application, nil })
}

// Open returns the same commands as New, but calls open only before the first command that needs the application. The
// help pages therefore work without a database. A caller can add flags to the result, and read their values in open.
func Open(open Opener) *cobra.Command { return OpenParts(Openers{Application: open}) }

// OpenParts returns the same commands as Open, for a program in which some commands work without a part of the
// application.
func OpenParts(openers Openers) *cobra.Command {
	t := &tree{openers: openers}
	output, operator := formats[0], ""
	root := t.command(subcommand{
		use:         "habeas",
		subcommands: subcommands(),
	}, "")
	flags := root.PersistentFlags()
	flags.VarP(choice{&output, formats}, "output", "o", "`format` of results: text or json")
	flags.Var((*Text)(&operator), "operator",
		"`id` of the operator, for the audit trail\n(environment: HABEAS_OPERATOR)")
	flags.BoolP("help", "h", false, "show the help page of the command")
	_ = root.RegisterFlagCompletionFunc("output", completes(formats...))
	root.Flags().Bool("version", false, "print the version")
	found := versionOfBuild()
	root.Version = found.Version
	root.SetVersionTemplate(found.String() + "\n")
	root.SetFlagErrorFunc(flagError)
	root.SetHelpFunc(writePage)
	root.AddCommand(documented("exit-codes"), documented("subjects"), rulesTopic())
	help := t.command(help(), "")
	root.SetHelpCommand(help)
	root.AddCommand(help)
	root.CompletionOptions.DisableDefaultCmd = true
	return root
}

func subcommands() []subcommand {
	return []subcommand{
		status(), rehearse(), erase(), verify(), find(), export(), trail(), consents(), sweep(), journaling(), replaying(),
		outbox(), lint(), coverage(), picture(), migrate(), privileges(), installation(), completion(), version(),
	}
}

// tree is the state that a root command and its subcommands share.
type tree struct{ openers Openers }

// opener returns the function that opens the part of the application that a command needs.
func (t *tree) opener(needs need) Opener {
	switch {
	case needs == onlyTables && t.openers.WithoutDataMap != nil:
		return t.openers.WithoutDataMap
	case needs == onlyDataMap && t.openers.WithoutDatabase != nil:
		return t.openers.WithoutDatabase
	default:
		return t.openers.Application
	}
}

// completes returns a shell completion function for a flag with a fixed set of values.
func completes(words ...string) func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return slices.Clone(words), cobra.ShellCompDirectiveNoFileComp
	}
}
