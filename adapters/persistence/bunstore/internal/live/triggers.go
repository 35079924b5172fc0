package live

import (
	"cmp"
	"context"
	"log/slog"
	"slices"
	"strings"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/syntax"
	"github.com/habeas-data/habeas/domain/datamap"
)

// trigger holds a name, a language and a text of code, in this order. The code is that of a trigger or of a rule, or of
// a function that a trigger or a rule calls.
type trigger [3]string

// writeTargets holds the tables to which triggers write, and the names of triggers whose target tables cannot be
// determined.
type writeTargets struct{ tables, unreadable []string }

func writesOf(triggers []trigger, quotes map[byte]byte) (all writeTargets) {
	for _, t := range triggers {
		name, language, text := t[0], t[1], t[2]
		switch {
		case language == "internal": // built-in functions, which write only to the table of the trigger
		case language == "c" && name == unlinker: // deletes large objects
		case language == "sql", language == "plpgsql":
			tables, isDynamic := TokensOf(text, quotes).targetTables()
			all.tables = append(all.tables, tables...)
			if isDynamic {
				all.unreadable = append(all.unreadable, name)
			}
		default:
			all.unreadable = append(all.unreadable, name)
		}
	}
	slices.Sort(all.tables)
	all.tables = slices.Compact(all.tables)
	return all
}

func (w *writeTargets) add(trigger datamap.CatalogTrigger) {
	w.tables = append(w.tables, trigger.Writes...)
	if trigger.Unread {
		w.unreadable = append(w.unreadable, trigger.Name)
	}
}

// warnOfCopies logs a warning if a trigger of a table writes to another table that is not in the data map. The other
// table may hold copies of old values that no erasure reaches. warnOfCopies also logs a warning for each trigger whose
// target tables cannot be determined. Each warning is logged only once.
func (c *Cache) warnOfCopies(ctx context.Context, mapped datamap.Table, writes writeTargets) {
	warn := func(message, key, name string) {
		if _, warned := c.warned.LoadOrStore(mapped.Name+"\x00"+key+"\x00"+name, true); !warned {
			c.logger.LogAttrs(context.WithoutCancel(ctx), slog.LevelWarn, "habeas: a trigger "+message,
				slog.String("table", mapped.Name), slog.String(key, name))
		}
	}
	for _, copied := range writes.tables {
		if !slices.ContainsFunc(c.dataMap.Tables(), func(t datamap.Table) bool { return sameTable(t.Name, copied) }) {
			warn("writes to a table that is not in the data map: old values there outlive an erasure", "writes_to", copied)
		}
	}
	for _, name := range writes.unreadable {
		warn("builds its statements at run time, or is not in SQL: the tables to which it writes could not be determined,"+
			" and old values there outlive an erasure", "trigger", name)
	}
}

// sameTable reports whether two names may denote the same table. It treats a name without a schema as a name in the
// schema public (PostgreSQL) or main (SQLite).
func sameTable(a, b string) bool {
	plain := func(name string) string {
		name = strings.ToLower(name)
		return strings.TrimPrefix(strings.TrimPrefix(name, "public."), "main.")
	}
	return plain(a) == plain(b)
}

// liveTrigger is a trigger or a rule. Either Text is its code, or Routine is the key of the function that it calls.
type liveTrigger struct {
	datamap.CatalogTrigger
	Routine    string   `json:"routine"`
	Text       string   `json:"text"`
	Definition string   `json:"definition"` // the statement that creates the trigger, if Text does not have it
	Args       []string `json:"args"`       // of the routine

	of   Tokens   // the columns of UPDATE OF, or none
	when []Tokens // the conditions under which the database fires the trigger
}

// routine is a function, a procedure, or the code of a trigger.
type routine struct {
	Name     string `json:"name"`
	Language string `json:"language"`
	Text     string `json:"text"`

	parsed bool
	writes writeTargets
	calls  []*routine
}

// completeTrigger adds the tables to which a trigger writes, directly or through the routines that its code calls.
func (l *reader) completeTrigger(table *Table, trigger *liveTrigger) datamap.CatalogTrigger {
	first := l.routines[trigger.Routine]
	if first == nil {
		first = &routine{Name: trigger.Name, Language: "sql", Text: trigger.Text}
	}
	runs := []*routine{first}
	for i := 0; i < len(runs); i++ { // runs grows in the loop
		l.parse(runs[i])
		for _, called := range runs[i].calls {
			if !slices.Contains(runs, called) {
				runs = append(runs, called)
			}
		}
		trigger.Unread = trigger.Unread || len(runs[i].writes.unreadable) > 0
		for _, name := range runs[i].writes.tables {
			trigger.Writes = append(trigger.Writes, l.fullName(table, name))
		}
	}
	slices.Sort(trigger.Writes)
	trigger.Writes = slices.Compact(trigger.Writes)
	if l.scope == nil {
		l.readHeader(trigger)
		l.addAssignments(table, trigger, first)
	}
	return trigger.CatalogTrigger
}

// parse finds the tables that a routine writes to and the routines that it calls. It parses each routine only once.
func (l *reader) parse(r *routine) {
	if r.parsed {
		return
	}
	quotes := l.own.quotes()
	r.parsed, r.writes = true, writesOf([]trigger{{r.Name, r.Language, r.Text}}, quotes)
	if l.named == nil {
		l.named = map[string][]*routine{}
		for _, r := range l.routines {
			l.named[strings.ToLower(r.Name)] = append(l.named[strings.ToLower(r.Name)], r)
		}
	}
	text := TokensOf(r.Text, quotes)
	for i := range text {
		if text.isCall(i) {
			r.calls = append(r.calls, l.named[strings.ToLower(text[i].Text)]...)
		}
	}
}

// fullName returns the full name of a table that occurs in the code of a trigger.
func (l *reader) fullName(triggerTable *Table, nameInCode string) string {
	if named := l.Find(triggerTable.Schema, nameInCode); named != nil {
		return named.Name
	}
	return nameInCode
}

// Statements returns the statements of each trigger of SQLite on the table.
func (t *Table) Statements(d syntax.Dialect) (all []Tokens) {
	for _, trigger := range t.triggers {
		all = append(all, TokensOf(trigger.Text, Quotes(d)).body())
	}
	return all
}

// readHeader reads the columns and the condition of a trigger or rule from the statement that creates it, such as
// CREATE TRIGGER name BEFORE UPDATE OF column ON table WHEN condition. On SQLite, it also reads the event.
func (l *reader) readHeader(trigger *liveTrigger) {
	text := TokensOf(cmp.Or(trigger.Definition, trigger.Text), l.own.quotes())
	text = text.until(0, "begin", "execute", "do")
	i := slices.IndexFunc(text, func(t Token) bool { return strings.EqualFold(t.Text, "trigger") }) + 1
	if text.Is(i, "if") {
		i += 3
	}
	for i++; text.IsSign(i, "."); i++ { // skip the name
		i++
	}
	events := trigger.Events
	for ; i < len(text); i++ {
		switch {
		case text.Is(i, "when", "where"):
			trigger.when = append(trigger.when, text[i+1:])
			return
		case events == nil && text.Is(i, "instead"):
			trigger.Instead = true
		case events == nil && trigger.Events == nil && text.Is(i, "insert", "update", "delete"):
			trigger.Events = []string{strings.ToUpper(text[i].Text)}
		}
		if text.Is(i, "update") && text.Is(i+1, "of") {
			trigger.of = text[i+2:].until(0, "on")
		}
	}
}
