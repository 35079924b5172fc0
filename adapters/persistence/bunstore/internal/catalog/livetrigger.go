package catalog

import (
	"slices"
	"strings"

	"github.com/habeas-data/habeas/domain/datamap"
)

// liveTrigger is a trigger or a rule. Either Text is its code, or Routine is the key of the function that it calls.
type liveTrigger struct {
	datamap.CatalogTrigger
	Routine string `json:"routine"`
	Text    string `json:"text"`
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
func (l *live) completeTrigger(table *liveTable, trigger *liveTrigger) datamap.CatalogTrigger {
	first := l.routines[trigger.Routine]
	if first == nil {
		first = &routine{Name: trigger.Name, Language: "sql", Text: trigger.Text}
	}
	if trigger.Events == nil {
		l.readHeader(trigger)
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
	return trigger.CatalogTrigger
}

// parse finds the tables that a routine writes to and the routines that it calls. It parses each routine only once.
func (l *live) parse(r *routine) {
	if r.parsed {
		return
	}
	quotes := l.dialect.Quotes()
	r.parsed, r.writes = true, writesOf([]trigger{{r.Name, r.Language, r.Text}}, quotes)
	if l.named == nil {
		l.named = map[string][]*routine{}
		for _, r := range l.routines {
			l.named[strings.ToLower(r.Name)] = append(l.named[strings.ToLower(r.Name)], r)
		}
	}
	text := tokensOf(r.Text, quotes)
	for i := range text {
		if text.isCall(i) {
			r.calls = append(r.calls, l.named[strings.ToLower(text[i].text)]...)
		}
	}
}

// fullName returns the full name of a table that occurs in the code of a trigger. On SQLite, such a table is usually in
// the database of the trigger's table, so fullName searches that database first.
func (l *live) fullName(triggerTable *liveTable, nameInCode string) string {
	if named := l.tables[triggerTable.Schema+"."+lower(nameInCode)]; named != nil {
		return named.Name
	}
	if named := l.names[lower(nameInCode)]; named != nil {
		return named.Name
	}
	return nameInCode
}

// readHeader reads the events of a trigger of SQLite from its text, such as CREATE TRIGGER name INSTEAD OF UPDATE ON
// table.
func (l *live) readHeader(trigger *liveTrigger) {
	text := tokensOf(trigger.Text, l.dialect.Quotes())
	i := slices.IndexFunc(text, func(t token) bool { return strings.EqualFold(t.text, "trigger") }) + 1
	if text.is(i, "if") {
		i += 3
	}
	for i++; text.isSign(i, "."); i++ { // skip the name
		i++
	}
	for ; i < len(text) && !text.is(i, "insert", "update", "delete"); i++ {
		trigger.Instead = trigger.Instead || text.is(i, "instead")
	}
	if i < len(text) {
		trigger.Events = []string{strings.ToUpper(text[i].text)}
	}
}
