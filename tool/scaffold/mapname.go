package scaffold

import (
	"cmp"
	"strings"

	"github.com/habeas-data/habeas/tool/internal/names"
)

// MapName returns a name for the data map whose subject's table has the given name (app.Config.Name, --name). It is the
// name of the table without its schema, and without all characters that the name of a data map cannot have. For
// example, the name for hr.staff_members is staffmembers. datamap.CheckMapName accepts the result.
func MapName(table string) string {
	name := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return -1
	}, strings.ToLower(names.BaseName(table)))
	const most = 20 // see datamap.CheckMapName
	return cmp.Or(name[:min(most, len(name))], "other")
}

// naming returns the sentence in which a decision proposes the name of the data map of a subject's table.
func naming(table string) string {
	name := MapName(table)
	return " its name would be " + name + " (Config.Name, --name " + name + ")."
}

// askForRows asks for the owners of the rows of a table with columns that look personal, from which no path leads to
// the subject's table. If the table may be the subject's table of another data map, the question has the name of
// that data map.
func (t *table) askForRows(d *draft) {
	list := t.personalItself()
	for _, c := range t.Columns {
		if d.namesPerson(t, c) {
			list = append(list, c.Name)
		}
	}
	question := ofColumns + strings.Join(list, ", ") + "), but no relation leads to " + d.subject.Name + whose
	option := "make it part of another data map"
	if t.isPeople() {
		question += " If they are other people, make another data map of them:" + naming(t.Name)
		option = "make it the subject's table of another data map"
	}
	t.ask("", question, "leave it out", "add a relation", option)
}

// isPeople reports whether the table seems to hold people who may be the subjects of a data map.
func (t *table) isPeople() bool {
	return subjectKey(t) != nil && !names.Is(t.Name, names.Machinery) && names.IsPeople(t.Name)
}

// askForName asks for the name of the proposed data map if the database seems to hold other people, too. Two data maps
// in one database need different names, because equal ids are different people in them. The caller has chosen the
// subject's table.
func (d *draft) askForName() {
	relatives := related(d.subject)
	var others []string
	for _, t := range d.tables {
		if t != d.subject && t.byAddress == "" && t.isPeople() && summarize(t).personal > 0 && !relatives[t] {
			others = append(others, t.Name)
		}
	}
	if len(others) > 0 {
		d.subject.ask("", "Other people seem to be in "+strings.Join(others, ", ")+". Does another data map in this database"+
			" describe them? Then give this data map a name:"+naming(d.subject.Name), "no", "yes, so this data map has a name")
	}
}
