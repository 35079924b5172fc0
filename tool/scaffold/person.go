package scaffold

import (
	"slices"
	"strings"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
)

// markErased makes sure that an erasure leaves a surrogate in the person's row that no application writes itself. By
// this surrogate, a later erasure, a sweep or a replay knows that the row is of an erased person.
func (d *draft) markErased() {
	columns := d.subject.columns
	anonymized := func(c datamap.Column) bool {
		return c.Personal != nil && c.Personal.Strategy == domain.StrategyAnonymize && c.Type == datamap.TypeText
	}
	if slices.ContainsFunc(columns, func(c datamap.Column) bool { return anonymized(c) && c.Unique() }) {
		return
	}
	i := slices.IndexFunc(columns, func(c datamap.Column) bool {
		return anonymized(c) && c.Surrogate == datamap.EmptySurrogate && with(c, "").Unique() &&
			len(d.subject.checksOf(c.Name)) == 0
	})
	if i >= 0 {
		columns[i].Surrogate = ""
	}
}

// askForKey asks whether the key of the subject may stay if people choose it, such as a user name. Ledgers and the
// audit trail name a person by the key.
func (d *draft) askForKey() {
	for _, name := range d.subjectID {
		m, personal := d.subject.found[name]
		if c, _ := d.subject.Column(name); !personal || c.Type != datamap.TypeText {
			continue
		}
		d.subject.asked = slices.DeleteFunc(d.subject.asked, func(asked Decision) bool { return asked.Column == name })
		d.subject.ask(name, "People seem to choose this key ("+m.Means+"). It stays in the row, in the rows that refer to"+
			" it, in the ledgers and in the audit trail. May it stay there?", "keep the value", "give the table another key")
	}
}

// whyNoKey returns the reason why no key of the table can identify a subject, as a clause.
func (t *table) whyNoKey() string {
	switch {
	case t.Kind != datamap.KindTable && t.Kind != datamap.KindPartitioned:
		return "it is a " + t.Kind.InWords()
	case len(t.Inherits) > 0:
		return "its rows are also rows of " + strings.Join(t.Inherits, ", ")
	}
	var reasons []string
	explain := func(columns []string) {
		for _, name := range columns {
			c, _ := t.Column(name)
			switch {
			case c.Nullable:
				reasons = append(reasons, name+" can be NULL")
			case family(c.Type) == "":
				reasons = append(reasons, name+" has the type "+c.Declared)
			}
		}
	}
	explain(t.PrimaryKey)
	for _, u := range t.Uniques {
		switch {
		case u.Partial:
			reasons = append(reasons, u.Name+" covers some of the rows only")
		case u.Expressions:
			reasons = append(reasons, u.Name+" covers expressions")
		case u.Exclusion:
			reasons = append(reasons, u.Name+" is an exclusion constraint")
		default:
			explain(u.Columns)
		}
	}
	if len(reasons) == 0 {
		return "it has no primary key and no unique key"
	}
	slices.Sort(reasons)
	return strings.Join(slices.Compact(reasons), ", ")
}
