package cli

import "github.com/spf13/cobra"

// topic is a help page that does not describe a command.
type topic struct{ name, short, long string }

func (t topic) command() *cobra.Command {
	return &cobra.Command{Use: t.name, Short: t.short, Long: t.long, Annotations: exits{}.annotations()}
}

var topics = []topic{
	{
		"exit-codes", "the exit codes of commands",
		`0  Success. The command did its work, and found nothing that needs a
   person.

1  Findings. The command did its work, and a person has to look into the
   result. Examples are an entry that was given up, a system that did not
   respond, and a pending migration. The page of each command lists its
   findings.

2  Failure. The command could not do its work, or was called incorrectly. The
   standard error has one line with the reason and the remedy. Either nothing
   was changed, or the line says how many items were done.

If the reader of the output closes the pipe early, as head does, the exit code
stays the same. The exception is export, because its copy is then incomplete.`,
	},
	{
		"subjects", "how to specify subjects", `A subject is specified by its id in the database of the application.

    42                      the id itself
    '["de","42"]'           a composite id: its parts as a JSON array
    '"de\u001f42"'          an id from a result in JSON, as a JSON string

With the argument -, the command reads the standard input, which has one subject
on each line. The id is then not in the history of the shell, and other users of
the machine cannot see it. A line has one of the forms above, or it is a JSON
object with the refs of the subject. A ref is the id of the subject in an
external system:

    {"subject_id":"42","refs":[{"kind":"supportdesk","value":"c-17"}]}

If an id begins with a hyphen, put -- before it, or use the standard input.
Commands check all lines before they process the first line.`,
	},
}
