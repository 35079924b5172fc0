// Package diagram draws a data map. The picture shows the tables, the effect of an erasure on their rows, the paths to
// the subject, and the external systems.
//
//	svg := diagram.SVG(gdpr.DataMap(), gdpr.Plan())
//	err := os.WriteFile("datamap.svg", []byte(svg), 0o644)
//
// [DOT] and [Mermaid] return the same picture as text for Graphviz and Mermaid. A picture has names of tables, columns
// and systems, and no values of rows. Equal data maps and plans give equal pictures.
package diagram

import (
	"slices"
	"strings"

	"github.com/habeas-data/habeas/domain"
)

// fate is the effect of an erasure on the rows of a table, or marks an external system.
type fate string

const (
	deleted    fate = "deleted"
	anonymized fate = "anonymized"
	retained   fate = "retained"
	untouched  fate = "untouched" // the table only connects other tables to the subject
	external   fate = "external"
)

// fates has all fates in the order of the legend.
var fates = []fate{deleted, anonymized, retained, untouched, external}

// box is a table or an external system.
type box struct {
	title string // the name of the table or the system
	fate  fate   // selects the colour
	says  string // the effects of an erasure on the rows, as text
	cells []cell
	layer int // the number of relations to the subject
}

// cell is a line of a box: an annotated column.
type cell struct{ name, says string }

// arrow leads from a table to the table that it references, or to an external system.
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
func pictureOf(m domain.DataMap, plan domain.Plan) picture {
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
			title: step.Target, fate: external, says: "external system", layer: last + 1,
		})
		if !slices.Contains(m.Refs(), step.Target) { // its ref comes from the subject provider
			p.arrows = append(p.arrows, arrow{from: 0, to: systems[step.Target], dashed: true})
		}
	}
	for _, table := range m.Tables() {
		p.arrows = append(p.arrows, arrowsOf(m, table, index, systems)...)
	}
	return p
}

func boxOf(m domain.DataMap, plan domain.Plan, table domain.Table) box {
	b := box{title: table.Name, fate: untouched}
	for _, path := range m.Paths(table.Name) {
		b.layer = max(b.layer, len(path.Relations))
	}
	var all []string
	for _, step := range plan.Local() {
		if step.Target != table.Name {
			continue
		}
		next := map[domain.Strategy]fate{
			domain.StrategyDelete: deleted, domain.StrategyAnonymize: anonymized, domain.StrategyRetain: retained,
		}[step.Strategy]
		if slices.Index(fates, next) > slices.Index(fates, b.fate) || b.fate == untouched {
			b.fate = next
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

func cellOf(m domain.DataMap, table domain.Table, column domain.Column) cell {
	personal := column.Personal
	says := []string{string(personal.Category)}
	goes := !slices.ContainsFunc(m.Paths(table.Name), func(p domain.Path) bool { return !m.RowsDeleted(table, p) })
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
	if personal.Export == domain.ExportNo {
		says = append(says, "not exported")
	}
	return cell{column.Name, strings.Join(says, ", ")}
}

// arrowsOf returns one arrow for each table that the paths of table lead to, and one for each system whose keys are in
// table.
func arrowsOf(m domain.DataMap, table domain.Table, index, systems map[string]int) []arrow {
	var arrows []arrow
	paths := m.Paths(table.Name)
	for _, relation := range table.Relations {
		if !slices.ContainsFunc(paths, func(p domain.Path) bool {
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
		if to, ok := systems[system]; ok && len(table.KeysOf(system)) > 0 {
			arrows = append(arrows, arrow{from: index[table.Name], to: to, dashed: true})
		}
	}
	return arrows
}
