package cli_test

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/habeas-data/habeas/tool/cli"
)

var update = flag.Bool("update", false, "rewrite the golden pages")

// forEach calls visit for a command and for all commands below it.
func forEach(command *cobra.Command, visit func(*cobra.Command)) {
	visit(command)
	for _, part := range command.Commands() {
		forEach(part, visit)
	}
}

// page returns the output of a command with the argument --help. The parameter path contains the names of the command
// and of its parents, without the root.
func page(t *testing.T, root *cobra.Command, path ...string) string {
	t.Helper()
	var out bytes.Buffer
	root.SetOut(&out)
	root.SetArgs(append(path, "--help"))
	if code := cli.Execute(t.Context(), root); code != 0 {
		t.Fatalf("%q ends with %d", path, code)
	}
	return out.String()
}

// tree returns all commands of this package, including the commands that New does not add.
func tree() *cobra.Command {
	root := cli.New(nil)
	root.AddCommand(cli.Scaffold(nil), cli.Decide(cli.Deciding{}))
	return root
}

func TestPagesAreThoseOfTheGoldenFiles(t *testing.T) {
	written := map[string]bool{}
	forEach(tree(), func(command *cobra.Command) {
		path := strings.Fields(command.CommandPath())
		if command.Name() == "rules" { // a list that package check generates
			return
		}
		got := page(t, tree(), path[1:]...)
		name := filepath.Join("testdata", "help", strings.Join(path, "-")+".txt")
		written[name] = true
		for line := range strings.Lines(got) {
			if line = strings.TrimSuffix(line, "\n"); utf8.RuneCountInString(line) > 80 || strings.HasSuffix(line, " ") {
				t.Errorf("%s: a line is too wide or ends with a space: %q", name, line)
			}
		}
		if *update {
			must(t, os.WriteFile(name, []byte(got), 0o600))
			return
		}
		want, err := os.ReadFile(name)
		must(t, err)
		if got != string(want) {
			t.Errorf("%s has changed; run the test with -update:\n%s", name, got)
		}
	})
	files, err := filepath.Glob(filepath.Join("testdata", "help", "*"))
	must(t, err)
	for _, file := range files {
		if !written[file] {
			t.Errorf("%s belongs to no command", file)
		}
	}
}

func TestEveryCommandIsDocumentedAndRefusesUnknownFlags(t *testing.T) {
	forEach(tree(), func(command *cobra.Command) {
		path := strings.Fields(command.CommandPath())
		topic := command.IsAdditionalHelpTopicCommand()
		if command.Short == "" || command.Long == "" || command.Example == "" && !topic {
			t.Errorf("%q lacks a section of its help page", path)
		}
		for line := range strings.Lines(page(t, tree(), path[1:]...)) {
			line = strings.TrimSpace(line)
			if strings.HasPrefix(line, "-") && len(strings.Fields(line)) < 3 {
				t.Errorf("%q: a flag is not documented: %s", path, line)
			}
		}
		for _, unknown := range []string{"--colour", "--colour=42", "-x", "-4711"} {
			var out, complaint bytes.Buffer
			root := tree()
			root.SetOut(&out)
			root.SetErr(&complaint)
			root.SetArgs(append(path[1:], unknown))
			code := cli.Execute(t.Context(), root)
			if code != 2 || out.Len() > 0 || strings.Contains(complaint.String(), "47") {
				t.Errorf("%q %s ends with %d: %s%s", path, unknown, code, out.String(), complaint.String())
			}
			complains(t, complaint.String(), "unknown flag")
		}
	})
}

// A variable of a script that is not set must not mean the same as a missing flag.
func TestAnEmptyTextOfAFlagIsRefused(t *testing.T) {
	w := newWorld(t)
	t.Setenv("HABEAS_OPERATOR", "dpo")
	for _, args := range [][]string{
		{"outbox", "requeue", "--system"},
		{"outbox", "discard", "a", "--reason"},
		{"outbox", "purge", "--operator"}, // HABEAS_OPERATOR does not replace it
		{"consents", "1", "--purpose"},
		{"consents", "1", "--purpose", "news", "--as-of"},
		{"export", "1", "--file"},
		{"journal", "--file"},
		{"journal", "--since"},
		{"replay", "-", "--yes", "--restored-to"},
	} {
		_, stderr := w.want(2, append(args, "")...)
		complains(t, stderr, args[len(args)-1]+" is not valid, it must be a text that is not empty")
	}
}

func TestHelpShowsThePageOfACommandOrATopic(t *testing.T) {
	for _, path := range [][]string{{}, {"erase"}, {"outbox", "requeue"}, {"exit-codes"}, {"help"}} {
		var out, complaint bytes.Buffer
		code := run(t.Context(), nil, nil, &out, &complaint, append([]string{"help"}, path...)...)
		if code != 0 || out.String() != page(t, cli.New(nil), path...) {
			t.Errorf("help %q ends with %d: %s%s", path, code, out.String(), complaint.String())
		}
	}
	var out, complaint bytes.Buffer
	if code := run(t.Context(), nil, nil, &out, &complaint, "help", "c1@example.org"); code != 2 {
		t.Errorf("ends with %d", code)
	}
	complains(t, complaint.String(), "unknown command or topic")
}

// If another program adds the commands to its own tree, the examples on the help pages must have the name of this
// program.
func TestATreeOfAnotherProgramHasItsNameInExamples(t *testing.T) {
	host := func() *cobra.Command {
		host := &cobra.Command{Use: "shop"}
		host.PersistentFlags().String("config", "", "`file` with the settings")
		tree := cli.New(nil)
		tree.Use = "gdpr"
		host.AddCommand(tree)
		return host
	}
	got := page(t, host(), "gdpr", "erase")
	for _, want := range []string{
		"shop gdpr erase - erase", "\n  shop gdpr erase SUBJECT", "\n  shop gdpr erase 42 --operator dpo\n", "--config file",
		"--operator id",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("the page lacks %q:\n%s", want, got)
		}
	}
	if got = page(t, host(), "gdpr"); !strings.Contains(got, "--config file") || !strings.Contains(got, "--operator id") {
		t.Errorf("the page lacks flags:\n%s", got)
	}

	root := host()
	root.SetArgs([]string{"gdpr", "erase", "42"})
	root.SetErr(&bytes.Buffer{})
	err := root.Execute()
	if cli.ExitCode(err) != 2 || !strings.HasPrefix(err.Error(), "gdpr erase: --operator is missing") {
		t.Errorf("got %d, %v", cli.ExitCode(err), err)
	}
}
