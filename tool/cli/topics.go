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
		"data-map", "the data map in JSON", `A data map is a JSON document. This table has all its members. An object
is the document itself, or an element of one of its members.

  object    member             meaning
  document  manifest_version   the version of the format: 2
  document  zone               the time zone of from, such as Europe/Berlin;
                               the default is UTC
  document  tables             the tables of the data map
  document  accepted           findings of lint that a person has accepted
  document  schema             the tables that the database had when
                               scaffold wrote the manifest
  table     name               the name, with a schema if the database
                               needs it: shop.orders
  table     primary_key        the columns of the primary key
  table     subject_key        the columns of the id of a subject; in the
                               table of subjects only
  table     owned              true: all columns of a row belong to the
                               subject
  table     via                the paths on which an erasure deletes the
                               rows of an owned table
  table     trusted            true: the table is a view that habeas uses
                               although it is not plain
  table     relations          the relations to other tables
  table     columns            the columns, also those without personal
                               data
  table     note               a text for people
  column    name               the name
  column    type               text, smallint, integer, bigint, number,
                               boolean, time, uuid, json, array or bytes
  column    length             the maximum number of characters of a text
  column    surrogate          the value that overwrites a personal value;
                               {} beside other characters, as in anon-{},
                               becomes random digits, different in each
                               cell; {} alone is written unchanged
  column    always             true: the surrogate overwrites NULL, too, which
                               otherwise stays
  column    personal           the annotation of a column with personal
                               data
  column    not_personal       true: the column holds no personal data
                               although its name suggests it
  column    note               a text for people
  personal  category           contact, identity, financial, behavioral,
                               technical, location, communication or
                               special
  personal  erasure            erase (default), anonymize, null, delete or
                               retain; see below
  personal  basis              the legal basis: consent, contract,
                               legal_obligation, vital_interests,
                               public_task or legitimate_interests
  personal  purpose            the purpose of the processing
  personal  reason             the reason for keeping the value; required
                               with retain
  personal  retain             the retention period, such as 10y
  personal  since              the column with the start of the retention
                               period
  personal  from               year_end: the period counts from the end of
                               the calendar year of since
  personal  export             no: exports omit the value
  personal  via                the path to the person that the value
                               belongs to, if the table has several paths
  personal  ref                the resolver of the external system whose
                               keys the column holds
  relation  name               the name, for via
  relation  columns            the columns of the reference
  relation  references         the other table
  relation  referenced_columns the columns of the other table that it
                               refers to
  relation  path               true: the relation leads to a person that
                               the row is about
  relation  erasure            what happens when this person is erased:
                               delete the row, or null the columns
  relation  when               restricts the relation to some of the rows
  relation  sets_null          true: the foreign key has ON DELETE SET NULL
  relation  same_person        true: both rows always belong to the same
                               person; otherwise a foreign key
                               makes the erasure fail
  when      column             the column that decides
  when      value              the value of the column, as text
  accepted  rule               the rule of the finding
  accepted  table              the table of the finding
  accepted  column             the column of the finding; missing if it has
                               none
  accepted  object             the object of the finding, such as an index,
                               or all for a finding about many tables
  accepted  reason             why the finding is accepted
  accepted  until              the last day, such as 2027-03-31; then lint
                               shows the finding again
  schema    name               the name of the table
  schema    columns            the names of its columns
  schema    note               why the data map does not have the table

The values of erasure in personal:

    erase      the value is deleted with its row if the erasure deletes the
               row, otherwise a surrogate overwrites it
    anonymize  a surrogate, a value without personal data, overwrites it
    null       the value becomes NULL
    delete     the value is deleted with its row; refused if the row stays
    retain     the value stays; needs a reason

Messages of habeas write options as in Go struct tags. In JSON, each option is a
member:

    erasure:null             "personal": {"erasure": "null", ...}
    surrogate:'x'            "surrogate": "x", next to "personal"
    pii:"none"               "not_personal": true
    subject:"path"           "path": true of the relation
    subject:"owned"          "owned": true of the table
    subject:"owned,via:A"    "owned": true and "via": "A" of the table
    subject:"erasure:null"   "erasure": "null" of the relation
    subject:"same"           "same_person": true of the relation

The command lint reports the questions (DECIDE) of all notes in one warning. DECIDED
instead of DECIDE ends a question. The command scaffold --update reads schema: it
adds only tables and columns that schema does not have. Rule, table and column of
an accepted finding must be those of the finding.`,
	},
	{
		"output", "results for people and for scripts",
		`Results go to the standard output, and everything else to the standard error.

With --output text, which is the default, results are tables with a width of at
most 60 characters. Control characters are replaced.

With --output json, a result is one JSON document on one line. Commands for
several subjects or entries write one line for each of them. The names of fields
are the same as in the HTTP API. New versions may add fields, but do not rename
fields.

If the standard error is a terminal, it shows a progress bar.`,
	},
}
