package cli

import (
	"context"

	"github.com/spf13/cobra"
)

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
