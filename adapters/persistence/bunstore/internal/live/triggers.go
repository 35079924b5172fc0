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

// warnOfCopies logs a warning if a trigger of a table writes to another table that is not in the data map. The other
// table may hold copies of old values that no erasure reaches. warnOfCopies also logs a warning for each trigger whose
// target tables cannot be determined. Each warning is logged only once.
func (c *Cache) warnOfCopies(ctx context.Context, mapped datamap.Table, triggers []datamap.CatalogTrigger) {
	warn := func(message, key, name string) {
		if _, warned := c.warned.LoadOrStore(mapped.Name+"\x00"+key+"\x00"+name, true); !warned {
			c.logger.LogAttrs(context.WithoutCancel(ctx), slog.LevelWarn, "habeas: a trigger "+message,
				slog.String("table", mapped.Name), slog.String(key, name))
		}
	}
	for _, trigger := range triggers {
		for _, copied := range trigger.Writes {
			if !slices.ContainsFunc(c.dataMap.Tables(), func(t datamap.Table) bool { return sameTable(t.Name, copied) }) {
				warn("writes to a table that is not in the data map: old values there outlive an erasure", "writes_to", copied)
			}
		}
		if trigger.Unread {
			warn("builds its statements at run time, or is not in SQL: the tables to which it writes could not be determined,"+
				" and old values there outlive an erasure", "trigger", trigger.Name)
		}
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

	early bool     // BEFORE ... FOR EACH ROW: the code can change or skip the row
	of    Tokens   // the columns of UPDATE OF, or none
	when  []Tokens // the conditions under which the database fires the trigger
}

// routine is a function, a procedure, or the code of a trigger.
type routine struct {
	Name     string `json:"name"`
	Language string `json:"language"`
	Text     string `json:"text"`

	parsed  bool
	writes  []string // the tables to which the routine writes
	deletes []string // the tables from which it deletes rows
	unread  bool     // these cannot be determined completely
	calls   []*routine
}

// readWrites sets the tables to which a routine writes, and those from which it deletes rows.
func (r *routine) readWrites(quotes map[byte]byte) {
	switch {
	case r.Language == "internal": // built-in functions, which write only to the table of the trigger
	case r.Language == "c" && r.Name == unlinker: // deletes large objects
	case r.Language == "sql", r.Language == "plpgsql":
		r.writes, r.deletes, r.unread = TokensOf(r.Text, quotes).targetTables()
	default:
		r.unread = true
	}
}

// completeTrigger adds the tables to which a trigger writes or from which it deletes rows, directly or through the
// routines that its code calls.
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
		trigger.Unread = trigger.Unread || runs[i].unread
		for _, name := range runs[i].writes {
			trigger.Writes = append(trigger.Writes, l.fullName(table, name))
		}
		for _, name := range runs[i].deletes {
			trigger.Deletes = append(trigger.Deletes, l.fullName(table, name))
		}
	}
	slices.Sort(trigger.Writes)
	slices.Sort(trigger.Deletes)
	trigger.Writes, trigger.Deletes = slices.Compact(trigger.Writes), slices.Compact(trigger.Deletes)
	if l.scope == nil {
		l.readHeader(trigger)
		l.addAssignments(table, trigger, first)
		l.addEffects(table, trigger, runs)
	}
	return trigger.CatalogTrigger
}

// parse finds the tables that a routine writes to and the routines that it calls. It parses each routine only once.
func (l *reader) parse(r *routine) {
	if r.parsed {
		return
	}
	quotes := l.own.quotes()
	r.parsed = true
	r.readWrites(quotes)
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
	trigger.early = text.Is(i, "before") && slices.ContainsFunc(text, func(t Token) bool {
		return strings.EqualFold(t.Text, "row")
	})
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
