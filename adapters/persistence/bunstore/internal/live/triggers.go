package live

import (
	"context"
	"log/slog"
	"slices"
	"strings"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/syntax"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/internal/sqltext"
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

// liveTrigger is a trigger or a rule. Routine is the key of the function that it executes. It is empty if the
// definition has the code itself.
type liveTrigger struct {
	datamap.CatalogTrigger
	Routine string `json:"routine"`
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
	case r.Language == "c" && r.Name == "lo_manage": // deletes large objects
	case r.Language == "sql", r.Language == "plpgsql":
		r.writes, r.deletes, r.unread = targetTables(sqltext.TokensOf(r.Text, quotes))
	default:
		r.unread = true
	}
}

// completeTrigger adds the tables to which a trigger writes or from which it deletes rows, directly or through the
// routines that its code calls.
func (l *reader) completeTrigger(table *Table, trigger *liveTrigger) datamap.CatalogTrigger {
	first := &routine{Name: trigger.Name, Language: "sql", Text: trigger.Definition}
	if called := l.routines[trigger.Routine]; called != nil {
		first, trigger.Language, trigger.Code = called, called.Language, called.Text
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
	if table.FoldsCase {
		l.readEvent(trigger)
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
	text := sqltext.TokensOf(r.Text, quotes)
	for i := range text {
		if isCall(text, i) {
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
func (t *Table) Statements(d syntax.Dialect) (all []sqltext.Tokens) {
	for _, trigger := range t.triggers {
		all = append(all, sqltext.TokensOf(trigger.Definition, dialectOf(d).quotes()).Body())
	}
	return all
}

// readEvent reads the event of a trigger of SQLite from its definition, such as CREATE TRIGGER name INSTEAD OF UPDATE.
func (l *reader) readEvent(trigger *liveTrigger) {
	text := sqltext.TokensOf(trigger.Definition, l.own.quotes())
	for i := text.AfterCreate("trigger"); i < len(text); i++ {
		switch {
		case text.Is(i, "instead"):
			trigger.Instead = true
		case text.Is(i, "insert", "update", "delete"):
			trigger.Events = []string{strings.ToUpper(text[i].Text)}
			return
		}
	}
}
