package cli

import (
	"cmp"
	"context"
	"errors"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/habeas-data/habeas/domain"
)

// verb describes a command of the tree. Either parts or run is set.
type verb struct {
	use, short, long, example string
	exits                     exits
	args                      arguments
	acts                      bool  // the audit trail records the operator, so --operator is required
	unless                    *bool // a flag with which the command only reads
	alone                     bool  // the command needs no application
	flags                     func(*cobra.Command)
	run                       func(context.Context, *call) error
	parts                     []verb
}

// exits has the meaning of each exit code of a command. An empty text selects the general meaning.
type exits struct{ fine, findings, failed string }

// arguments has the minimum and maximum number of arguments. most is -1 for any number.
type arguments struct {
	least, most int
	words       string // for an error text, such as "a subject"
}

// call is one call of a command.
type call struct {
	Application
	args    []string
	command *cobra.Command
	out     *printer
}

func (t *tree) command(v verb) *cobra.Command {
	c := &cobra.Command{
		Use: v.use, Short: v.short, Long: v.long, Example: v.example, SilenceUsage: true, DisableAutoGenTag: true,
		DisableFlagsInUseLine: true, SuggestionsMinimumDistance: 2,
	}
	c.Annotations = v.exits.annotations()
	if v.flags != nil {
		v.flags(c)
	}
	c.Args = func(command *cobra.Command, args []string) error { return v.args.check(command, args) }
	c.RunE = func(command *cobra.Command, args []string) error { return t.run(v, command, args) }
	if v.args.words != "" && c.ValidArgs == nil {
		c.ValidArgsFunction = completes() // no completion: arguments are ids
	}
	for _, part := range v.parts {
		c.AddCommand(t.command(part))
	}
	if len(v.parts) > 0 {
		c.Args, c.RunE = unknownVerb, missingVerb
	}
	return c
}

// run calls a command. Its error is an *Error.
func (t *tree) run(v verb, command *cobra.Command, args []string) error {
	ctx := command.Context()
	if ctx == nil {
		ctx = context.Background()
	}
	c := &call{args: args, command: command, out: newPrinter(command.OutOrStdout(), global(command, "output"))}
	if v.acts && (v.unless == nil || !*v.unless) {
		operator := global(command, "operator")
		if operator == "" {
			operator = os.Getenv("HABEAS_OPERATOR")
		}
		if operator == "" {
			return usage(command, "--operator is missing: the audit trail records the operator")
		}
		acting, err := domain.WithOperator(ctx, operator)
		if err != nil {
			return usage(command, "--operator must have 1 to 255 characters, and no control characters")
		}
		ctx = acting
	}
	if !v.alone {
		application, err := t.open(ctx)
		if err != nil {
			return explain(err)
		}
		c.Application = application
	}
	var failure *Error
	err := v.run(ctx, c)
	if errors.As(err, &failure) && failure.Code == ExitFindings {
		return cmp.Or(c.out.end(), err) // findings that cannot be written are no findings
	}
	if err != nil {
		return explain(err)
	}
	return c.out.end()
}

// global returns the value of a global flag.
func global(command *cobra.Command, name string) string {
	if flag := command.Flag(name); flag != nil {
		return flag.Value.String()
	}
	return ""
}

// check returns an error for a wrong number of arguments. Its text repeats no argument, because an argument may be an
// id.
func (a arguments) check(command *cobra.Command, args []string) error {
	switch {
	case a.most == 0 && len(args) > 0:
		return usage(command, "takes no argument")
	case len(args) < a.least:
		return usage(command, "needs "+a.words)
	case a.most > 0 && len(args) > a.most:
		return usage(command, "takes only "+a.words)
	default:
		return nil
	}
}

// unknownVerb returns an error for an unknown subcommand. Its text does not repeat the argument, which may be an id.
func unknownVerb(command *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	message := "unknown command"
	if near := command.SuggestionsFor(args[0]); len(near) > 0 {
		message += ", did you mean " + strings.Join(near, ", ")
	}
	return usage(command, message)
}

func missingVerb(command *cobra.Command, _ []string) error {
	var names []string
	for _, part := range command.Commands() {
		if part.IsAvailableCommand() && part.Name() != "help" {
			names = append(names, part.Name())
		}
	}
	return usage(command, "needs a command: "+strings.Join(names, ", "))
}

// choice is a flag with a fixed set of values.
type choice struct {
	value *string
	words []string
}

func (c choice) String() string {
	if c.value == nil {
		return ""
	}
	return *c.value
}

func (c choice) Type() string { return strings.Join(c.words, " or ") }

func (c choice) Set(word string) error {
	for _, known := range c.words {
		if word == known {
			*c.value = word
			return nil
		}
	}
	return domain.ErrInvalid
}
