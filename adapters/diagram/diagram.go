// Package diagram draws a data map. The diagram shows the tables, the effect of an erasure on their rows, the external
// systems, and the paths (chains of references) from each table to the table of subjects.
//
//	svg := diagram.SVG(gdpr.DataMap(), gdpr.Plan())
//	err := os.WriteFile("datamap.svg", []byte(svg), 0o644)
//
// [DOT] and [Mermaid] return the same diagram as text for Graphviz and Mermaid. A diagram has names of tables, columns
// and external systems. It has no values of rows. The same data map and plan always give the same diagram.
package diagram

import (
	"slices"
	"strings"
	"unicode"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
)

// effect is the effect of an erasure on the rows of a table. The value external is for external systems, which have no
// rows.
type effect string

const (
	deleted    effect = "deleted"
	anonymized effect = "anonymized"
	retained   effect = "retained"
	untouched  effect = "untouched" // the table only connects other tables to the table of subjects
	external   effect = "external"
)

// effects has all effects in the order of the legend.
var effects = []effect{deleted, anonymized, retained, untouched, external}

// box represents a table or an external system.
type box struct {
	title  string // the name of the table or the system
	effect effect // selects the colour
	says   string // the effects of an erasure on the rows, as text
	cells  []cell
	layer  int // the largest number of relations on a path from the table to the table of subjects
}

// cell is one line of a box. It represents a column with an annotation.
type cell struct{ name, says string }

// arrow is an arrow from a table to another table that it references, or to an external system.
type arrow struct {
	from, to int    // indexes of boxes
	label    string // the names of the paths, if there are several paths
	dashed   bool   // true for an external system
}

type picture struct {
	boxes  []box
	arrows []arrow
}

// pictureOf returns the boxes and arrows of a data map. The first box is the table of subjects.
func pictureOf(m datamap.DataMap, plan datamap.Plan) picture {
	var p picture
	index, last := map[string]int{}, 0 // last is the last layer of tables
	for _, table := range m.Tables() {
		index[table.Name] = len(p.boxes)
		p.boxes = append(p.boxes, boxOf(m, plan, table))
		last = max(last, p.boxes[len(p.boxes)-1].layer)
	}
	systems := map[string]int{}
	for _, step := range plan.Steps {
		if !step.External {
			continue
		}
		systems[step.Target] = len(p.boxes)
		p.boxes = append(p.boxes, box{
			title: step.Target, effect: external, says: "external system", layer: last + 1,
		})
		if !slices.Contains(m.Refs(), step.Target) { // the application provides the ref of this system
			p.arrows = append(p.arrows, arrow{from: 0, to: systems[step.Target], dashed: true})
		}
	}
	for _, table := range m.Tables() {
		p.arrows = append(p.arrows, arrowsOf(m, table, index, systems)...)
	}
	p.clean()
	return p
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
	b := box{title: table.Name, effect: untouched}
	for _, path := range m.Paths(table.Name) {
		b.layer = max(b.layer, len(path.Relations))
	}
	var all []string
	for _, step := range plan.Local() {
		if step.Target != table.Name || step.Self { // a step with Self concerns rows of other people
			continue
		}
		next := map[domain.Strategy]effect{
			domain.StrategyDelete: deleted, domain.StrategyAnonymize: anonymized, domain.StrategyRetain: retained,
		}[step.Strategy]
		if slices.Index(effects, next) > slices.Index(effects, b.effect) || b.effect == untouched {
			b.effect = next
		}
		word := string(next)
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
	return b
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
		says = append(says, "NULL")
	default:
		says = append(says, "overwritten")
	}
	if personal.Export == datamap.ExportNo {
		says = append(says, "not exported")
	}
	return cell{column.Name, strings.Join(says, ", ")}
}

// arrowsOf returns the arrows that start at a table. One arrow leads to each table to which the given table refers on a
// path to the table of subjects. One arrow leads to each external system whose keys are in a column of the table.
func arrowsOf(m datamap.DataMap, table datamap.Table, index, systems map[string]int) []arrow {
	var arrows []arrow
	paths := m.Paths(table.Name)
	for _, relation := range table.Relations {
		if !slices.ContainsFunc(paths, func(p datamap.Path) bool {
			return len(p.Relations) > 0 && p.Relations[0].Equals(relation)
		}) {
			continue
		}
		to := index[relation.References]
		i := slices.IndexFunc(arrows, func(a arrow) bool { return a.to == to })
		switch {
		case i < 0:
			arrows = append(arrows, arrow{from: index[table.Name], to: to, label: relation.Name})
		case relation.Name != "":
			arrows[i].label += ", " + relation.Name
		}
	}
	for _, system := range m.Refs() {
		if to, ok := systems[system]; ok && len(table.RefColumns(system)) > 0 {
			arrows = append(arrows, arrow{from: index[table.Name], to: to, dashed: true})
		}
	}
	return arrows
}
