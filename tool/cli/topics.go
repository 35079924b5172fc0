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
		"environment", "environment variables", `HABEAS_OPERATOR
    The id of the operator. The flag --operator takes precedence.

HABEAS_DATA_MAP, HABEAS_DATABASE_URL
    The data map and the database of the stand-alone program. The flags
    --data-map and --database-url take precedence. Put a URL with a password
    into the variable, because other users of the machine can read command
    lines.

COLUMNS
    The width of output that is not on a terminal. The default is 80.

NO_COLOR
    If it is not empty, output has no colours. By default, output on a
    terminal has colours.`,
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
	{
		"data-map", "the data map in JSON", `A data map is a JSON document, a manifest. The page docs/datamap.md explains
each member:

    https://github.com/habeas-data/habeas/blob/main/docs/datamap.md#manifests

Messages of habeas write options as in Go struct tags. In JSON, each option is a
member:

    erasure:null             "personal": {"erasure": "null", ...}
    surrogate:'x'            "surrogate": "x", next to "personal"
    pii:"none"               "not_personal": true
    subject:"path"           "path": true of the relation
    subject:"owned"          "owned": true of the table
    subject:"owned,via:A"    "owned": true and "via": "A" of the table
    subject:"erasure:null"   "erasure": "null" of the relation
    subject:"same"           "same_person": true of the relation`,
	},
	{
		"output", "results for people and for scripts",
		`Results go to the standard output, and everything else to the standard error.

With --output text, which is the default, results are texts and tables. Texts are
wrapped at the width of the output. Control characters are replaced.

With --output json, a result is one JSON document on one line. Commands for
several subjects or entries write one line for each of them. The names of fields
are the same as in the HTTP API. New versions may add fields, but do not rename
fields.

If the standard error is a terminal, it shows a progress bar.`,
	},
}
