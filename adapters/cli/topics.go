package cli

import "github.com/spf13/cobra"

// topic is a page that is about no verb.
type topic struct{ name, short, long string }

func (t topic) command() *cobra.Command {
	return &cobra.Command{Use: t.name, Short: t.short, Long: t.long, Annotations: exits{}.annotations()}
}

var topics = []topic{
	{
		"exit-codes", "what the exit codes mean", `0  The verb did its work, and nothing that it looks at needs
   a person.

1  Findings. The verb did its work, and a person has to look into
   something: an entry that was given up, a system that did not respond, a
   migration that is pending. The page of a verb says which.

2  The verb could not do its work, or was not called as it must be. The
   standard error has one line with the reason and the remedy. A verb that
   changes something has changed nothing, or says how far it got.

A reader that closes the pipe of the output early (head, for one) does not
change the exit code, except for export, whose copy is then incomplete.`,
	},
	{
		"environment", "environment variables", `HABEAS_OPERATOR
    The person who acts, if --operator is not given.

HABEAS_DATA_MAP, HABEAS_DATABASE_URL
    The data map and the database of the stand-alone program, if --data-map
    and --database-url are not given. A password belongs here and not on the
    command line, where other users of the machine can read it.

NO_COLOR
    If it is not empty, nothing is coloured. Without it, results on a terminal
    are.`,
	},
	{
		"subjects", "how to name subjects", `A subject is named by its id in the database of the application.

    42                      the id itself
    '["de","42"]'           a composite id: its parts as an array in JSON
    '"de\u001f42"'          an id as results in JSON have it: a text in JSON

The argument - stands for the standard input, which has one subject on each
line. An id then stands in no history of a shell, and no other user of the
machine sees it. A line is one of the above, or an object in JSON with the refs
of the subject in external systems:

    {"subject_id":"42","refs":[{"kind":"supportdesk","value":"c-17"}]}

An id that begins with a hyphen is given after --, or by the standard input.
All lines are checked before the first one is worked on.`,
	},
	{
		"output", "results for people and for scripts",
		`Results go to the standard output, and everything else to the standard error.

With --output text, the default, results are tables that fit 60 columns.
Characters that could control a terminal are replaced.

With --output json a result is a document in JSON on one line, with a line for
each subject or entry. Its fields are named as in the HTTP API. New fields may
be added; no field is renamed.

A bar on the standard error shows how far a verb has got, if it is a terminal.`,
	},
}
