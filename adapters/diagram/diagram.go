// Package diagram draws a data map. The diagram shows the tables, the effect of an erasure on their rows, the external
// systems, and the paths (chains of references) from each table to the table of subjects. A box names each of its links
// that leads to the subject. An arrow leads from a table without such a link to the next table on its shortest path.
// The tables that a decision leaves out are beside the others, with the reason.
//
//	svg := diagram.SVG(gdpr.DataMap(), gdpr.Plan())
//	err := os.WriteFile("datamap.svg", []byte(svg), 0o644)
//
// [DOT] and [Mermaid] return the same diagram as text for Graphviz and Mermaid. A diagram has names of tables, columns
// and external systems. It has no values of rows. The same data map and plan always give the same diagram.
package diagram

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
)

// effect is the effect of an erasure on the rows of a table. The value external is for external systems, which have no
// rows.
type effect string

const (
	deleted    effect = "deleted"
	nulled     effect = "nulled" // columns become NULL, and nothing is overwritten
	anonymized effect = "anonymized"
	retained   effect = "retained"
	untouched  effect = "untouched" // the table only connects other tables to the table of subjects
	leftOut    effect = "leftout"   // the table is not in the data map
	external   effect = "external"
)

// effects has all effects in the order of the legend.
var effects = []effect{deleted, nulled, anonymized, retained, untouched, leftOut, external}

// words returns the effect as a text for readers.
func (e effect) words() string {
	switch e { //nolint:exhaustive // the words of the others are their names
	case nulled:
		return "becomes NULL"
	case leftOut:
		return "left out"
	default:
		return string(e)
	}
}

// box represents a table or an external system.
type box struct {
	title  string // the name of the table or the system
	effect effect // selects the colour
	says   string // the effects of an erasure on the rows, as text
	cells  []cell
	parent int // the index of the box to which the arrow of this box leads, or -1
}

// cell is one line of a box. It represents a column: a reference on a path, a column with an annotation, or a column
// with keys of an external system. Or it is a legal basis with a purpose, or a part of a reason.
type cell struct {
	name, says string
	leads      bool // to the subject
}

// arrow is an arrow from a table to another table that it references.
type arrow struct {
	from, to int    // indexes of boxes
	label    string // the name of the relation, if it has one
}

type picture struct {
	boxes  []box
	arrows []arrow
}

// pictureOf returns the boxes and arrows of a data map. The first box is the table of subjects. If only has names of
// tables, the picture has only these tables, the tables on their paths, and the tables whose paths lead through them.
func pictureOf(m datamap.DataMap, plan datamap.Plan, only []string) picture {
	var p picture
	index := map[string]int{}
	for _, table := range m.Tables() {
		if isShown(m, table.Name, only) {
			index[table.Name] = len(p.boxes)
			p.boxes = append(p.boxes, boxOf(m, plan, table))
		}
	}
	for _, table := range m.Tables() {
		if i, shown := index[table.Name]; shown {
			p.link(m, table, i, index)
		}
	}
	if len(only) == 0 {
		p.addLeftOut(m)
	}
	for _, step := range plan.Steps {
		if step.External {
			p.addSystem(m, step.Target, index)
		}
	}
	p.clean()
	return p
}

func isShown(m datamap.DataMap, table string, only []string) bool {
	leads := func(from, through string) bool {
		return slices.ContainsFunc(m.Paths(from), func(p datamap.Path) bool {
			return slices.ContainsFunc(p.Relations, func(r datamap.Relation) bool { return r.References == through })
		})
	}
	return len(only) == 0 || table == m.SubjectTable().Name || slices.Contains(only, table) ||
		slices.ContainsFunc(only, func(name string) bool { return leads(name, table) || leads(table, name) })
}

// link adds the references of a table on its paths: a cell for each, and the arrow to the next table on the shortest
// path. A table that refers to the table of subjects has no arrow.
func (p *picture) link(m datamap.DataMap, table datamap.Table, i int, index map[string]int) {
	begins := slices.DeleteFunc(slices.Clone(table.Relations), func(r datamap.Relation) bool {
		return !slices.ContainsFunc(m.Paths(table.Name), func(path datamap.Path) bool {
			return len(path.Relations) > 0 && path.Relations[0].Equals(r)
		})
	})
	subject, nearest := m.SubjectTable().Name, -1
	for j, relation := range begins {
		if nearest < 0 || distance(m, relation.References) < distance(m, begins[nearest].References) {
			nearest = j
		}
	}
	var cells []cell
	for j, relation := range begins {
		to, shown := index[relation.References]
		name := strings.Join(relation.Columns, ", ")
		says := "→ " + relation.References
		switch {
		case relation.References == subject:
		case j == nearest && shown:
			p.boxes[i].parent = to
			p.arrows = append(p.arrows, arrow{from: i, to: to, label: relation.Name})
			continue
		}
		if relation.Name != "" {
			says += ", " + relation.Name
		}
		cells = append(cells, cell{name, says, relation.References == subject})
	}
	p.boxes[i].cells = append(cells, p.boxes[i].cells...)
}

// distance returns the length of the shortest path from a table to the table of subjects.
func distance(m datamap.DataMap, table string) int {
	paths := m.Paths(table)
	if len(paths) == 0 {
		return 0
	}
	return len(slices.MinFunc(paths, func(a, b datamap.Path) int { return len(a.Relations) - len(b.Relations) }).Relations)
}

// reasonWidth is the number of characters of a line of a reason.
const reasonWidth = 34

// addLeftOut adds the tables that are left out, each with its answer, its reason, and its links to tables of the data
// map.
func (p *picture) addLeftOut(m datamap.DataMap) {
	for _, decision := range m.Decisions() {
		if _, mapped := m.Table(decision.Object); mapped || len(decision.Columns) > 0 {
			continue
		}
		b := box{title: decision.Object, effect: leftOut, says: cmp.Or(decision.Answer, "open question"), parent: -1}
		for _, seen := range decision.Seen {
			name, to, _ := strings.Cut(seen, " -> ")
			if _, mapped := m.Table(to); mapped {
				b.cells = append(b.cells, cell{name, "→ " + to, to == m.SubjectTable().Name})
			}
		}
		line := ""
		for _, word := range append(strings.Fields(decision.Because), "") {
			if line != "" && (word == "" || utf8.RuneCountInString(line+word) >= reasonWidth) {
				b.cells, line = append(b.cells, cell{name: line}), ""
			}
			line = strings.TrimSpace(line + " " + word)
		}
		p.boxes = append(p.boxes, b)
	}
}

// addSystem adds an external system with the columns that hold its keys. It leaves out a system whose keys are only in
// tables that are not shown.
func (p *picture) addSystem(m datamap.DataMap, system string, index map[string]int) {
	b := box{title: system, effect: external, says: "external system", parent: -1}
	for _, table := range m.Tables() {
		if _, shown := index[table.Name]; shown {
			for _, column := range table.RefColumns(system) {
				b.cells = append(b.cells, cell{name: table.Name + "." + column.Name, says: "keys"})
			}
		}
	}
	if !slices.Contains(m.Refs(), system) { // the application provides the ref of this system
		b.cells = append(b.cells, cell{name: "ref", says: "of the application"})
	}
	if len(b.cells) > 0 {
		p.boxes = append(p.boxes, b)
	}
}

// clean replaces the characters that the formats do not allow, or that break a line, in all texts of the picture. XML
// 1.0 allows few control characters, not even as references.
func (p picture) clean() {
	for i := range p.boxes {
		box := &p.boxes[i]
		box.title, box.says = visible(box.title), visible(box.says)
		for j := range box.cells {
			box.cells[j].name, box.cells[j].says = visible(box.cells[j].name), visible(box.cells[j].says)
		}
	}
	for i := range p.arrows {
		p.arrows[i].label = visible(p.arrows[i].label)
	}
}

// visible returns the text with a space for each tab and line break, and with the replacement character U+FFFD for each
// other character that is not visible.
func visible(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case unicode.IsGraphic(r):
			return r
		case unicode.IsSpace(r):
			return ' '
		default:
			return unicode.ReplacementChar
		}
	}, text)
}

func boxOf(m datamap.DataMap, plan datamap.Plan, table datamap.Table) box {
	b := box{title: table.Name, effect: untouched, parent: -1}
	var all []string
	for _, step := range plan.Local() {
		if step.Target != table.Name || step.Self { // a step with Self concerns rows of other people
			continue
		}
		next := map[domain.Strategy]effect{
			domain.StrategyDelete: deleted, domain.StrategyAnonymize: anonymized, domain.StrategyRetain: retained,
		}[step.Strategy]
		if next == anonymized && isNulling(table, step) {
			next = nulled
		}
		if slices.Index(effects, next) > slices.Index(effects, b.effect) || b.effect == untouched {
			b.effect = next
		}
		word := next.words()
		if step.Via != "" {
			word = step.Via + ": " + word
		}
		if !slices.Contains(all, word) {
			all = append(all, word)
		}
	}
	b.says = strings.Join(all, ", ")
	if b.says == "" {
		b.says = string(untouched)
	}
	for _, column := range table.Personal() {
		b.cells = append(b.cells, cellOf(m, table, column))
	}
	for _, column := range table.Personal() {
		basis := cell{name: string(column.Personal.Basis), says: column.Personal.Purpose}
		if basis != (cell{}) && !slices.Contains(b.cells, basis) {
			b.cells = append(b.cells, basis)
		}
	}
	return b
}

// isNulling reports whether a step only sets columns to NULL.
func isNulling(table datamap.Table, step datamap.Step) bool {
	return len(step.Expired) == 0 && !slices.ContainsFunc(step.Columns, func(name string) bool {
		column, _ := table.Column(name)
		return column.Personal != nil && column.Personal.Strategy != domain.StrategyNull
	})
}

func cellOf(m datamap.DataMap, table datamap.Table, column datamap.Column) cell {
	personal := column.Personal
	says := []string{string(personal.Category)}
	goes := !slices.ContainsFunc(m.Paths(table.Name), func(p datamap.Path) bool { return !m.RowsDeleted(table, p) })
	switch {
	case goes:
	case personal.Strategy == domain.StrategyRetain && personal.Since != "":
		says = append(says, "retained "+personal.Retain.String())
	case personal.Strategy == domain.StrategyRetain:
		says = append(says, "retained")
	case personal.Strategy == domain.StrategyNull:
		says = append(says, nulled.words())
	default:
		says = append(says, "overwritten")
	}
	if personal.Export == datamap.ExportNo {
		says = append(says, "not exported")
	}
	return cell{name: column.Name, says: strings.Join(says, ", ")}
}
