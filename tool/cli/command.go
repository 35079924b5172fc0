package cli

import (
	"cmp"
	"context"
	"errors"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/habeas-data/habeas/domain"
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

// subcommand describes a command of the tree. It has either a function run, or further subcommands.
type subcommand struct {
	use           string
	args          arguments
	needsOperator bool  // --operator is required, because the audit trail records the operator
	readsOnly     *bool // if this flag is set, the command only reads and does not need --operator
	needs         need  // of the application
	flags         func(*cobra.Command)
	run           func(context.Context, *call) error
	subcommands   []subcommand
}

// need is the part of the application that a command needs.
type need int

const (
	everything  need = iota
	onlyTables       // the tables of habeas and the database, not the data map; see Openers.WithoutDataMap
	onlyDataMap      // see Openers.WithoutDatabase
	nothing          // the command does not open the application
)

// arguments describes the positional arguments of a command: their minimum and maximum number. Without a maximum, the
// field most is -1.
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

	operator func() (string, error) // the id of the operator, or "" if none is given
	manifest bool                   // see Openers.Manifest
}

// command returns a command with its page. The parent is that of a command of a group, such as outbox.
func (t *tree) command(s subcommand, parent string) *cobra.Command {
	word, _, _ := strings.Cut(s.use, " ")
	c := documented(parent + word)
	c.Use, c.SilenceUsage, c.DisableAutoGenTag, c.DisableFlagsInUseLine = s.use, true, true, true
	c.SuggestionsMinimumDistance = 2
	if s.flags != nil {
		s.flags(c)
	}
	c.Args = func(command *cobra.Command, args []string) error { return s.args.check(command, args) }
	c.RunE = func(command *cobra.Command, args []string) error { return t.run(s, command, args) }
	if s.args.words != "" && c.ValidArgs == nil {
		c.ValidArgsFunction = completes() // no completion: arguments are ids
	}
	for _, part := range s.subcommands {
		below := word + "-"
		if word == "habeas" {
			below = ""
		}
		c.AddCommand(t.command(part, below))
	}
	if len(s.subcommands) > 0 {
		c.Args, c.RunE = unknownCommand, missingCommand
	}
	return c
}

// run runs a subcommand. Every error that it returns is an *Error.
func (t *tree) run(s subcommand, command *cobra.Command, args []string) error {
	ctx := command.Context()
	if ctx == nil {
		ctx = context.Background()
	}
	c := &call{
		args: args, command: command, out: newPrinter(command.OutOrStdout(), global(command, "output")),
		operator: func() (string, error) { return t.operator(command) }, manifest: t.openers.Manifest,
	}
	if s.needsOperator && (s.readsOnly == nil || !*s.readsOnly) {
		operator, err := t.operator(command)
		if err != nil {
			return explain(err)
		}
		if operator == "" {
			return usage(command, "--operator is missing: the audit trail records the operator. "+
				"Set the flag or HABEAS_OPERATOR")
		}
		acting, err := domain.WithOperator(ctx, operator)
		if err != nil {
			return usage(command, "--operator must have 1 to 255 characters, and no control characters")
		}
		ctx = acting
	}
	if s.needs != nothing {
		application, err := t.opener(s.needs)(ctx)
		if err != nil {
			return explain(err)
		}
		c.Application = application
	}
	var failure *Error
	err := s.run(ctx, c)
	if errors.As(err, &failure) && failure.Code == ExitFindings {
		return cmp.Or(c.out.end(), err) // a failed write takes precedence over findings
	}
	if err != nil {
		return c.withMigrateUp(ctx, explain(err))
	}
	return c.out.end()
}

// operator returns the id of the operator, or "" if none is given.
func (t *tree) operator(command *cobra.Command) (string, error) {
	operator := cmp.Or(global(command, "operator"), os.Getenv("HABEAS_OPERATOR"))
	if operator == "" && t.openers.Operator != nil {
		return t.openers.Operator()
	}
	return operator, nil
}

// global returns the value of a flag that all commands have.
func global(command *cobra.Command, name string) string {
	if flag := command.Flag(name); flag != nil {
		return flag.Value.String()
	}
	return ""
}

// check returns an error if the number of arguments is wrong. The text of the error does not repeat an argument,
// because an argument may be an id.
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

// unknownCommand returns an error for a subcommand that does not exist. The text of the error does not repeat the
// argument, because the argument may be an id.
func unknownCommand(command *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	message := "unknown command"
	if near := command.SuggestionsFor(args[0]); len(near) > 0 {
		message += ", did you mean " + strings.Join(near, ", ")
	}
	return usage(command, message)
}

func missingCommand(command *cobra.Command, _ []string) error {
	var names []string
	for _, part := range command.Commands() {
		if part.IsAvailableCommand() && part.Name() != "help" {
			names = append(names, part.Name())
		}
	}
	return usage(command, "needs a command: "+strings.Join(names, ", "))
}

// choice is the value of a flag that has a fixed set of possible values.
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

// Text is the value of a flag for a text that must not be empty. An empty text mostly comes from a variable of a script
// that is not set. It must not mean the same as a missing flag, because the command would then do more than the script
// wants.
type Text string

// String implements the interface of flags.
func (t *Text) String() string { return string(*t) }

// Type implements the interface of flags. Error messages contain it.
func (*Text) Type() string { return "a text that is not empty" }

// Set implements the interface of flags. It returns domain.ErrInvalid for an empty text.
func (t *Text) Set(text string) error {
	if text == "" {
		return domain.ErrInvalid
	}
	*t = Text(text)
	return nil
}
