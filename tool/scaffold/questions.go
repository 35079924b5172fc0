package scaffold

import (
	"cmp"
	"slices"
	"strings"

	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/tool/internal/dictionary"
	"github.com/habeas-data/habeas/tool/internal/facts"
)

// The names of the options that leave a table out.
const (
	notAboutPeople = "not-about-people"
	elsewhere      = "elsewhere"
)

// ask asks one question about each table that is neither in the data map nor decided, and lists the tables that need no
// decision.
func (d *draft) ask() {
	schemas := map[string]bool{}
	for _, t := range d.tables {
		if _, isMapped := d.mappedTable(t); isMapped || d.isAnswered(t) {
			continue
		}
		switch object := d.Object(t.CatalogTable); {
		case d.Exempt(t.CatalogTable):
			d.leaveOut(t, "Its rows are also rows of "+strings.Join(t.Inherits, ", ")+".")
		case object != t.Name:
			if !schemas[object] {
				schemas[object] = true
				d.askForSchema(object)
			}
		case d.Harmless(t.CatalogTable):
			d.leaveOut(t, "It is about nobody: no reference leads to people, no column could hold the key of a person, and "+
				"it has no texts.")
		default:
			d.askForRows(t)
		}
	}
}

func (d *draft) leaveOut(t *table, reason string) {
	d.leftOut = append(d.leftOut, LeftOut{t.Name, reason})
}

// askForSchema asks about all tables of another schema.
func (d *draft) askForSchema(object string) {
	decision := datamap.Decision{
		Object: object, Question: "No foreign key leads from the tables of this schema to " + d.subject.Name +
			". Do they hold data of the same people?",
		Options: leaving(),
	}
	for _, t := range d.tables {
		if d.Object(t.CatalogTable) == object {
			decision.Seen = append(decision.Seen, t.Name)
		}
	}
	d.decisions, d.danger[object] = append(d.decisions, decision), 1
}

// leaving returns the options that leave a table out.
func leaving() []datamap.Option { return []datamap.Option{{Name: elsewhere}, {Name: notAboutPeople}} }

// askForRows asks about the rows of a table.
func (d *draft) askForRows(t *table) {
	decision := datamap.Decision{
		Object: t.Name, Seen: facts.Seen(t.CatalogTable), Options: d.optionsFor(t), Proposed: notAboutPeople,
	}
	harms := d.harms(t)
	decision.Question = strings.Join(slices.Concat(d.about(t), harms), " ")
	d.several[t.Name] = len(harms) > 0 || strings.Contains(decision.Options[0].Name, ":")
	d.danger[t.Name] = d.dangerOf(t)
	if former, ok := d.formerDecision(t); ok { // it was answered, but the table has changed
		decision.Question = "Its answer was " + former.Answer + ", but these are new: " +
			strings.Join(facts.Changed(t.CatalogTable, d.seen(t)), "; ") + ". " + decision.Question
		decision.Because = former.Because
	}
	d.decisions = append(d.decisions, decision)
}

func (d *draft) dangerOf(t *table) (danger int) {
	for _, l := range t.links {
		danger |= 1
		if l.Likely {
			danger |= 4
		}
	}
	for _, c := range t.Columns {
		if _, ok := dictionary.Column(c.Name, c.Type); ok {
			danger |= 2
		}
	}
	return danger
}

// optionsFor returns the options of the question about the rows of a table. An option that needs the other rows least
// comes first.
func (d *draft) optionsFor(t *table) (options []datamap.Option) {
	kinds := []string{"overwrite", "without", "delete", "keep"}
	switch {
	case dictionary.IsBook(t.Name):
		kinds = []string{"keep", "overwrite", "without", "delete"}
	case slices.ContainsFunc(t.links, func(l facts.Link) bool {
		return l.References == d.subject.Name && l.OnDelete == datamap.ActionSetNull
	}):
		kinds = []string{"without", "overwrite", "delete", "keep"} // the schema says that the rows outlive the person
	}
	paths := d.pathsOf(t)
	plausible := slices.DeleteFunc(slices.Clone(paths), func(l facts.Link) bool { return !l.Plausible() })
	add := func(name, kind string, tables []datamap.Table, links ...facts.Link) {
		option := datamap.Option{Name: name}
		option.Edit.Tables = append(tables, d.mapAs(t, kind, links...))
		if d.applies(d.mapped, datamap.Decision{Object: t.Name, Options: []datamap.Option{option}}, name) != nil {
			options = append(options, option)
		}
	}
	for _, kind := range kinds {
		for _, link := range paths {
			if !d.suits(t, kind, link) {
				continue
			}
			name, tables := kind, []datamap.Table(nil)
			if len(paths) > 1 && (len(plausible) != 1 || !link.Plausible()) {
				name += ":" + link.Column() // the only column that is named like a key needs no name
			}
			tables, _ = d.chain(link, t.Name)
			add(name, kind, tables, link)
		}
	}
	direct := slices.DeleteFunc(slices.Clone(paths), func(l facts.Link) bool {
		return !l.Likely || l.References != d.subject.Name
	})
	if len(direct) > 1 && len(d.overwrites(t)) > 0 {
		add("several", "several", nil, direct...)
	}
	return append(options, leaving()...)
}

// pathsOf returns the links of a table by which its rows can be those of a person in the data map, those that are named
// like a key first.
func (d *draft) pathsOf(t *table) []facts.Link {
	if len(t.key) == 0 {
		return nil
	}
	var columns []string
	paths := slices.DeleteFunc(slices.Clone(t.links), func(l facts.Link) bool {
		_, ok := d.chain(l, t.Name)
		isNamed := slices.Contains(columns, l.Column())
		columns = append(columns, l.Column())
		return !ok || isNamed
	})
	slices.SortStableFunc(paths, func(a, b facts.Link) int {
		return cmp.Compare(rankOf(b.Plausible()), rankOf(a.Plausible()))
	})
	return paths
}

func rankOf(b bool) int {
	if b {
		return 1
	}
	return 0
}

// suits reports whether an option of the kind has an effect on the rows of the table that the link connects to a
// person.
func (d *draft) suits(t *table, kind string, link facts.Link) bool {
	isLink := func(c datamap.Column) bool { return slices.Contains(link.Columns, c.Name) }
	switch kind {
	case "overwrite":
		return len(slices.DeleteFunc(slices.Clone(d.overwrites(t)), isLink)) > 0
	case "keep":
		return len(slices.DeleteFunc(d.keeps(t), isLink)) > 0
	case "without":
		return link.Plausible() && d.isClearable(t, link)
	default:
		return true
	}
}

// applies returns the tables after the edit of an option, or nil if they are no valid data map.
func (d *draft) applies(tables []datamap.Table, decision datamap.Decision, option string) []datamap.Table {
	after, err := decision.Apply(tables, option)
	if err != nil || check(after) != nil {
		return nil
	}
	return after
}

// sortDecisions puts the questions about the most dangerous tables first, after those about the person's row. The first
// options of all questions together give a valid data map.
func (d *draft) sortDecisions() {
	sortBy := func(key func(datamap.Decision) int) {
		slices.SortStableFunc(d.decisions, func(a, b datamap.Decision) int {
			return cmp.Or(cmp.Compare(key(a), key(b)), strings.Compare(a.Object, b.Object))
		})
	}
	sortBy(d.turn)
	d.fitFirstOptions()
	sortBy(func(decision datamap.Decision) int {
		if decision.Object == d.mapped[0].Name {
			return -1000
		}
		return -d.danger[decision.Object]
	})
	tables := d.mapped
	for _, decision := range d.decisions {
		if first := decision.Options; decision.IsOpen() && len(first) > 0 && !decision.LeavesOut(first[0].Name) {
			if tables = d.applies(tables, decision, first[0].Name); tables == nil {
				sortBy(d.turn)
				return
			}
		}
	}
}

// turn returns when a question chooses its first option: after those about the tables to which its rows belong. Last
// are tables of which other people's rows are parts, and whose rows can only be deleted.
func (d *draft) turn(decision datamap.Decision) int {
	t := d.table(decision.Object)
	if t == nil || t == d.subject || len(t.links) == 0 {
		return 0
	}
	isDelete := len(decision.Options) > 0 && strings.HasPrefix(decision.Options[0].Name, "delete")
	if isDelete && len(d.Shared(t.CatalogTable)) > 0 {
		return len(d.tables) + 1
	}
	depth := 1
	for at := t; depth < len(d.tables) && len(at.links) > 0 && at.links[0].References != d.subject.Name; depth++ {
		at = d.table(at.links[0].References)
	}
	return depth
}

// fitFirstOptions makes that option of each question the first one that is valid together with those of the questions
// before it. If there is none, only the options that leave the table out remain.
func (d *draft) fitFirstOptions() {
	tables := d.mapped
	for n, decision := range d.decisions {
		leaving := func(o datamap.Option) bool { return decision.LeavesOut(o.Name) }
		if !decision.IsOpen() || !slices.ContainsFunc(decision.Options, func(o datamap.Option) bool { return !leaving(o) }) {
			continue
		}
		i := slices.IndexFunc(decision.Options, func(o datamap.Option) bool {
			after := d.applies(tables, decision, o.Name)
			isValid := after != nil && !leaving(o)
			if isValid {
				tables = after
			}
			return isValid
		})
		if i < 0 {
			d.decisions[n].Options = slices.DeleteFunc(decision.Options, func(o datamap.Option) bool { return !leaving(o) })
			continue
		}
		first := decision.Options[i]
		copy(decision.Options[1:i+1], decision.Options[:i])
		decision.Options[0] = first
	}
}
