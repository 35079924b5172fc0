package cli

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"runtime/debug"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
)

// Main runs a command with the arguments of the process, and returns the exit code. The first interrupt signal cancels
// the context of the command, so that an open transaction is rolled back. The second interrupt signal ends the process.
// If the reader of the output closes its pipe, the command continues without output.
func Main(root *cobra.Command) (code int) {
	signal.Ignore(syscall.SIGPIPE) // a write to a closed pipe then returns EPIPE instead of ending the process
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop)
	return Execute(ctx, root)
}

// Execute runs a command, prints its error and returns the exit code. Main calls Execute with a context that an
// interrupt signal cancels.
func Execute(ctx context.Context, root *cobra.Command) (code int) {
	root.SilenceErrors, root.SilenceUsage = true, true
	err := root.ExecuteContext(ctx)
	if err == nil {
		return ExitOK
	}
	var failure *Error
	if !errors.As(err, &failure) {
		failure = &Error{Code: ExitFailed, Text: oneLine(err.Error())} // err is from a command that the application has added
	}
	if failure.Text != "" {
		out := newPrinter(root.ErrOrStderr(), formats[0])
		text := root.Name() + ": " + failure.Text
		if isTerminal(root.ErrOrStderr()) { // elsewhere, an error is one line for other programs
			text = strings.Join(wrap(text, out.width), "\n")
		}
		out.line(strings.Replace(text, root.Name()+":", out.paint("error", root.Name()+":"), 1))
		out.problems(failure.problems)
	}
	return failure.Code
}

// module is the path of the module whose version is printed.
const module = "github.com/habeas-data/habeas"

// versions is the result of version.
type versions struct {
	Version string `json:"version"`
	Go      string `json:"go"`
}

func version() subcommand {
	return subcommand{
		use:   "version",
		needs: nothing,
		run: func(_ context.Context, c *call) error {
			found := versionOfBuild()
			return c.out.show(found, func() { c.out.line(found.String()) })
		},
	}
}

func (v versions) String() string { return "habeas " + v.Version + " (" + v.Go + ")" }

func versionOfBuild() versions {
	if build, ok := debug.ReadBuildInfo(); ok {
		return versionsOf(build)
	}
	return versions{Version: "(devel)", Go: "unknown"}
}

// versionsOf returns the version of the module habeas. The module is the main module of the program, or one of its
// dependencies.
func versionsOf(build *debug.BuildInfo) versions {
	found := versions{Version: "(devel)", Go: build.GoVersion}
	for _, linked := range append([]*debug.Module{&build.Main}, build.Deps...) {
		if linked.Path != module {
			continue
		}
		if linked.Replace != nil {
			linked = linked.Replace
		}
		if linked.Version != "" {
			found.Version = linked.Version
		}
	}
	return found
}

// shells has the shells with completion scripts.
var shells = []string{"bash", "zsh", "fish", "powershell"}

func completion() subcommand {
	s := subcommand{
		use:   "completion SHELL",
		args:  arguments{1, 1, "a shell: bash, zsh, fish or powershell"},
		needs: nothing,
		run: func(_ context.Context, c *call) error {
			root := c.command.Root()
			switch c.args[0] {
			case "bash":
				return root.GenBashCompletionV2(c.out, true)
			case "zsh":
				return root.GenZshCompletion(c.out)
			case "fish":
				return root.GenFishCompletion(c.out, true)
			case "powershell":
				return root.GenPowerShellCompletionWithDesc(c.out)
			default:
				return usage(c.command, "needs a shell: bash, zsh, fish or powershell")
			}
		},
	}
	s.flags = func(c *cobra.Command) { c.ValidArgs = shells }
	return s
}
