package scaffold

import (
	"slices"
	"strings"

	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/tool/internal/names"
)

// stray is a column that may hold data of people, in a table from which no relation leads to them.
type stray struct {
	table  *table
	column string
}

// askForStrays asks about data of people in tables from which no relation leads to them: the arguments of jobs,
// messages that wait to be sent, the addresses that tokens were sent to, the names of files, JSON documents, and
// columns that only seem to refer to people.
func (d *draft) askForStrays() {
	var documents, arguments, agents, lists []stray
	for _, t := range d.tables {
		if t.distance != unreachable || len(t.asked) > 0 || t.Kind != datamap.KindTable && t.Kind != datamap.KindPartitioned {
			continue
		}
		last := lastWord(t.base)
		for _, c := range t.Columns {
			isDocument := c.Type == datamap.TypeJSON || c.Type == datamap.TypeText && lastWord(c.Name) == "payload" ||
				t.isStored(c)
			isText := c.Type == datamap.TypeText || c.Type == datamap.TypeJSON || c.Type == datamap.TypeBytes
			at := stray{t, c.Name}
			switch {
			case isText && d.holdsArguments(t, c):
				arguments = append(arguments, at)
			case isText && t.isOutbox() && slices.Contains(ofMessages, flat(c.Name)):
				t.ask(c.Name, "Messages that wait to be sent may hold data of people. Are they deleted soon after they are sent?",
					"yes: leave it out", "no: delete the messages of the person in the hook BeforeErasure")
			case isText && slices.Contains(ofUploads, last) && slices.Contains(namesOfFiles, flat(c.Name)):
				t.ask(c.Name, "People may have chosen the names of the files. Whose are they?", "leave it out", "add a relation")
			case isText && t.holdsFile(c):
				t.ask(c.Name, "People may have chosen the files. Whose are they?", "leave it out", "add a relation")
			case c.Type == datamap.TypeText && t.isForPerson(c):
				t.ask(c.Name, "The column "+c.Name+" seems to say to whom the token was given, but no relation leads to "+
					d.subject.Name+". Do the rows name people?", "no: leave the table out",
					"yes: delete the person's rows in the hook BeforeErasure")
			case isDocument && !d.isAboutNone(t) && !t.isOfApplication(c) && !isJob(t) && !d.isBesideJobs(t):
				documents = append(documents, at)
			case d.mayBeAgent(t, c), c.Type == datamap.TypeText && d.namesAgent(t, c):
				agents = append(agents, at)
			case t.listsPeople(c), t.holdsAccount(c):
				lists = append(lists, at)
			}
		}
	}
	d.askForDocuments(documents)
	const ofArguments = "The arguments of jobs may hold data of people. Are the jobs deleted soon after they have run?"
	d.askAbout(arguments, func(string) string { return ofArguments }, ofArguments,
		"yes: leave it out", "no: delete the jobs of the person in the hook BeforeErasure")
	agents = slices.DeleteFunc(agents, func(at stray) bool { return len(at.table.asked) > 0 })
	lists = slices.DeleteFunc(lists, func(at stray) bool {
		isOfTable := func(other stray) bool { return other.table == at.table }
		return len(at.table.asked) > 0 || slices.ContainsFunc(documents, isOfTable) || slices.ContainsFunc(agents, isOfTable)
	})
	for _, at := range lists {
		at.table.ask(at.column, "The table seems to list people, but no relation leads to "+d.subject.Name+
			". Must an erasure remove the person from it?", "no: leave the table out", eraseInHook)
	}
	d.askAbout(agents, func(column string) string {
		return "The name of " + column + " may mean a person, but no foreign key leads to " + d.subject.Name +
			". Do the rows belong to that person?"
	}, "The names may mean people, but no foreign key leads to "+d.subject.Name+". Do the rows belong to these people?",
		"no: leave it out", "yes: add a relation")
}

// askForDocuments asks about JSON documents. The question has all of them, unless each needs its own: see draft.single.
func (d *draft) askForDocuments(list []stray) {
	if d.single {
		d.askAbout(list, func(column string) string {
			return "No relation leads from the JSON document " + column + " to " + d.subject.Name +
				". Does it hold data or ids of people?"
		}, "", "no", eraseInHook+", or add a relation")
		return
	}
	if len(list) > 0 {
		d.subject.ask("", "No relation leads from these JSON documents to "+d.subject.Name+": "+
			strings.Join(placesOf(list), ", ")+". Do they hold data or ids of people?", "no", eraseInHook+", or add a relation")
	}
}

// askAbout asks one question, all, about the columns of several tables, or the question one about each column if there
// is one table, or if each table needs its own question.
func (d *draft) askAbout(list []stray, one func(column string) string, all, chosen, other string) {
	isOne := !slices.ContainsFunc(list, func(at stray) bool { return at.table != list[0].table })
	if !isOne && !d.single {
		d.askTogether(list, all, chosen, other)
		return
	}
	for _, at := range list {
		at.table.ask(at.column, one(at.column), chosen, other)
	}
}

// askTogether asks one question about the columns of several tables.
func (d *draft) askTogether(list []stray, question, chosen, other string) {
	d.subject.ask("", "Columns "+strings.Join(placesOf(list), ", ")+": "+question, chosen, other)
}

func placesOf(list []stray) []string {
	var texts []string
	for _, at := range list {
		texts = append(texts, at.table.Name+"."+at.column)
	}
	return texts
}

// isStored reports whether a column holds documents of a store, such as value beside key in kv_store.
func (t *table) isStored(c datamap.CatalogColumn) bool {
	isText := c.Type == datamap.TypeText && c.Length == 0 || c.Type == datamap.TypeBytes
	return isText && slices.Contains([]string{"store", "storage", "cache"}, lastWord(t.base)) &&
		slices.Contains([]string{"value", "data", "content"}, flat(c.Name))
}

// lastWord returns the last word of a name in the singular, or "".
func lastWord(name string) string {
	parts := names.Words(name)
	if len(parts) == 0 {
		return ""
	}
	return names.Singular(parts[len(parts)-1])
}

// isJob reports whether each row is a job that a program has to run.
func isJob(t *table) bool {
	return slices.Contains([]string{"job", "queue", "task"}, lastWord(t.base)) ||
		slices.ContainsFunc(t.Columns, func(c datamap.CatalogColumn) bool {
			return slices.Contains([]string{"jobclass", "queuename", "workerclass", "taskname"}, flat(c.Name))
		})
}

// isBesideJobs reports whether the table is named after a table of jobs with arguments, as job_batches is after jobs.
func (d *draft) isBesideJobs(t *table) bool {
	return slices.ContainsFunc(d.tables, func(jobs *table) bool {
		return jobs != t && isJob(jobs) && strings.HasPrefix(snakeCase(t.base), snakeCase(names.Singular(jobs.base))+"_") &&
			slices.ContainsFunc(jobs.Columns, jobs.isArgument)
	})
}

// holdsArguments reports whether a column holds the arguments of a job, also in a table beside the jobs.
func (d *draft) holdsArguments(t *table, c datamap.CatalogColumn) bool {
	isSerialized := strings.HasPrefix(flat(c.Name), "serialized")
	return isJob(t) && t.isArgument(c) || isSerialized && d.isBesideJobs(t)
}

// isArgument reports whether the name of a column of a table of jobs means arguments.
func (t *table) isArgument(c datamap.CatalogColumn) bool {
	name := flat(c.Name)
	isNamed := slices.Contains([]string{"job", "queue", "task"}, lastWord(t.base))
	return slices.Contains(ofJobs, name) || strings.HasPrefix(name, "serialized") ||
		isNamed && slices.Contains([]string{"data", "body"}, name)
}

// isOutbox reports whether the rows are messages that wait to be sent.
func (t *table) isOutbox() bool {
	has := func(list ...string) bool {
		return slices.ContainsFunc(names.Words(t.base), func(word string) bool {
			return slices.Contains(list, names.Singular(word))
		})
	}
	return has("outbox", "outgoing") ||
		has("mail", "email", "sms", "message", "mailer") && has("queue", "spool", "pending")
}

// isForPerson reports whether a column of a table of tokens seems to say to whom a token was given, such as credential
// beside token and expires_at.
func (t *table) isForPerson(c datamap.CatalogColumn) bool {
	isSecured := slices.ContainsFunc(t.Columns, func(other datamap.CatalogColumn) bool {
		return other.Name != c.Name && (t.found[other.Name].Secret || isEnd(other.Name))
	})
	return isSecured && (names.Is(t.Name, names.Sessions) || names.Is(t.Name, names.Settings)) &&
		slices.Contains(ofReceivers, flat(c.Name)) && !t.IsChoice(c)
}

// isOfApplication reports whether a JSON document seems to be about the application and not about people: keys, a
// configuration, or a document in a table of templates.
func (t *table) isOfApplication(c datamap.CatalogColumn) bool {
	isOf := func(list []string) func(string) bool {
		return func(word string) bool { return slices.Contains(list, names.Singular(word)) }
	}
	parts := names.Words(t.base)
	isPerson := slices.ContainsFunc(parts, func(word string) bool { return names.IsPeople(word) })
	return !isPerson && (isOf(documentsOfThings)(lastWord(c.Name)) || slices.ContainsFunc(parts, isOf(tablesOfThings)))
}

// mayBeAgent reports whether a column without a foreign key is named after someone who does something, such as
// pusher_id and comment_by, or only user, and could hold the key of a person: see also twinOf. No table has the name of
// a doer.
func (d *draft) mayBeAgent(t *table, c datamap.CatalogColumn) bool {
	if d.twinOf(t, c) != nil {
		return true
	}
	stem, isReference := names.Stem(c.Name)
	if !isReference && c.Type != datamap.TypeText && (d.isWordForPerson(stem) || names.MeansMaker(c.Name)) {
		return d.hasTypeOfKey(c) && !t.refers(c.Name) && !slices.Equal(t.key, []string{c.Name})
	}
	return d.hasTypeOfKey(c) && d.namesAgent(t, c)
}

// namesAgent reports whether a column without a foreign key is named like a reference to someone who does something. A
// text may be the id of a person in another system, as payer_id is.
func (d *draft) namesAgent(t *table, c datamap.CatalogColumn) bool {
	stem, isReference := names.Stem(c.Name)
	return isReference && names.MeansAgent(stem) && !t.refers(c.Name) && !t.hasType(c.Name) &&
		!slices.Equal(t.key, []string{c.Name}) && !slices.ContainsFunc(d.tables, func(other *table) bool {
		return names.EndsIn(stem, other.base) || names.Same(lastWord(other.base), lastWord(stem))
	})
}

// listsPeople reports whether a table is a list of addresses or names of people, and the column holds them, as the name
// does in reserved_usernames.
func (t *table) listsPeople(c datamap.CatalogColumn) bool {
	m, ok := names.Find("", names.Singular(t.base), datamap.TypeText)
	return ok && (m.Means == names.Email || isHandle(m)) && c.Type == datamap.TypeText && !t.IsChoice(c) &&
		!slices.ContainsFunc(t.Columns, func(other datamap.CatalogColumn) bool {
			return other.Type == datamap.TypeText && other.Name != c.Name
		})
}

// holdsAccount reports whether a text column holds the account of a person in another network, such as discord_id. In a
// table of things, such as channels, it is the id of the thing.
func (t *table) holdsAccount(c datamap.CatalogColumn) bool {
	return c.Type == datamap.TypeText && slices.Contains(ofAccounts, flat(c.Name)) &&
		!names.Is(t.Name, names.Things) && !names.Is(t.Name, names.Groups)
}

var (
	ofJobs = []string{
		"handler", "args", "arguments", "kwargs", "payload", "params", "parameters", "jobdata", "jobargs", "jobparams",
	}
	ofMessages = strings.Fields(`
		rcpt recipient recipients to toaddress toaddr toemail mailto sendto receiver destination body payload message data
		raw mime content`)
	ofAccounts   = strings.Fields("discordid discorduserid telegramid telegramuserid slackuserid twitterid steamid")
	ofReceivers  = strings.Fields("credential identifier subject target destination recipient receiver login principal")
	ofUploads    = []string{"blob", "attachment", "upload", "file", "document", "media", "asset"}
	namesOfFiles = []string{"filename", "originalname", "originalfilename"}

	documentsOfThings = strings.Fields(`
		jwk config configuration setting schema permission policy rule feature translation layout style theme`)
	tablesOfThings = strings.Fields("prompt template setting config configuration translation feature")
)
