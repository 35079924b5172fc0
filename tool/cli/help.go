package cli

import (
	"context"
	"embed"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"
)

// pageWidth is the maximum width of a help page, in characters.
const pageWidth = 80

// exitCodes is the key of the cobra annotation with the meanings of a command's exit codes.
const exitCodes = "exit codes"

// pages has a file for each command and topic. Its first line is the summary, and the examples and the meanings of the
// exit codes follow the description.
//
//go:embed help
var pages embed.FS

// documented returns a command with the texts of the page.
func documented(name string) *cobra.Command {
	text, _ := pages.ReadFile("help/" + name + ".txt") // a test reads all pages
	rest, codes, _ := strings.Cut(string(text), "\nEXIT CODES\n")
	rest, example, _ := strings.Cut(rest, "\nEXAMPLES\n")
	short, long, _ := strings.Cut(rest, "\n\n")
	return &cobra.Command{
		Use: name, Short: short, Long: strings.TrimSuffix(long, "\n"), Example: strings.TrimSuffix(example, "\n"),
		Annotations: map[string]string{exitCodes: codes},
	}
}

func help() subcommand {
	return subcommand{
		use:   "help [COMMAND...]",
		args:  arguments{0, -1, "a command or a topic"},
		needs: nothing,
		run: func(_ context.Context, c *call) error {
			found := c.command.Parent()
			for _, name := range c.args {
				next := child(found, name)
				if next == nil {
					return usage(c.command, "unknown command or topic")
				}
				found = next
			}
			_, _ = c.out.Write([]byte(pageOf(found)))
			return nil
		},
	}
}

func child(parent *cobra.Command, name string) *cobra.Command {
	for _, c := range parent.Commands() {
		if c.Name() == name && !c.Hidden {
			return c
		}
	}
	return nil
}

// writePage implements the flag --help.
func writePage(command *cobra.Command, _ []string) {
	_, _ = newPrinter(command.OutOrStdout(), formats[0]).Write([]byte(pageOf(command)))
}

// pageOf returns the help page of a command. Its layout is that of a man page.
func pageOf(command *cobra.Command) string {
	var page strings.Builder
	section := func(title, text string) {
		if text = strings.Trim(text, "\n"); text != "" {
			page.WriteString("\n" + title + "\n" + text + "\n")
		}
	}
	page.WriteString(command.CommandPath() + " - " + command.Short + "\n")
	if !command.IsAdditionalHelpTopicCommand() {
		section("USAGE", "  "+useOf(command))
	}
	section("DESCRIPTION", indented(command.Long))
	var commands, topics strings.Builder
	for _, part := range command.Commands() {
		entry := "  " + part.Name() + strings.Repeat(" ", max(14-len(part.Name()), 1)) + part.Short + "\n"
		switch {
		case part.Hidden:
		case part.IsAdditionalHelpTopicCommand():
			topics.WriteString(entry)
		default:
			commands.WriteString(entry)
		}
	}
	section("COMMANDS", commands.String())
	section("TOPICS", topics.String())
	if command.IsAdditionalHelpTopicCommand() {
		return page.String()
	}
	section("FLAGS", command.LocalNonPersistentFlags().FlagUsagesWrapped(pageWidth))
	section("GLOBAL FLAGS", globalFlags(command))
	section("EXAMPLES", indented(strings.ReplaceAll(command.Example, "habeas ", top(command).CommandPath()+" ")))
	section("EXIT CODES", indented(command.Annotations[exitCodes]))
	return page.String()
}

// globalFlags describes the flags that a command shares with its subcommands or inherits from its parents. If another
// program has added the command to its own tree, the command also inherits flags of that program.
func globalFlags(command *cobra.Command) string {
	return command.PersistentFlags().FlagUsagesWrapped(pageWidth) +
		command.InheritedFlags().FlagUsagesWrapped(pageWidth)
}

func useOf(command *cobra.Command) string {
	_, rest, _ := strings.Cut(command.Use, " ")
	use := command.CommandPath()
	if command.HasSubCommands() {
		rest = "COMMAND"
	}
	if rest != "" {
		use += " " + rest
	}
	return use + " [FLAG...]"
}

// top returns the root of the commands of this package. All commands of this package have the annotation onFine.
// Therefore the root is the first ancestor whose parent lacks this annotation, even if another program has added the
// root to its own command tree.
func top(command *cobra.Command) *cobra.Command {
	for command.HasParent() {
		if _, ours := command.Parent().Annotations[exitCodes]; !ours {
			break
		}
		command = command.Parent()
	}
	return command
}

func indented(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if line != "" {
			lines[i] = "  " + line
		}
	}
	return strings.Join(lines, "\n")
}

// wrap breaks a text into lines of at most width characters. It breaks the text between words. A word that is longer
// than a line is a line of its own, because a person may search for it.
func wrap(text string, width int) (lines []string) {
	line := ""
	for _, word := range strings.Fields(text) {
		switch {
		case line == "":
			line = word
		case utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) <= width:
			line += " " + word
		default:
			lines, line = append(lines, line), word
		}
	}
	return append(lines, line)
}
