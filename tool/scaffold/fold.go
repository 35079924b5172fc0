package scaffold

import (
	"slices"
	"strings"

	"github.com/habeas-data/habeas/domain/datamap"
)

// complete returns the proposal with one decision for equal questions about several columns of a table, and with the
// decisions in the notes.
func (p Proposal) complete() Proposal {
	p.Decisions = folded(p.Decisions)
	p.Tables = slices.Clone(p.Tables)
	for i, table := range p.Tables {
		p.Tables[i].Columns = slices.Clone(table.Columns)
		for _, d := range p.Decisions {
			if d.Table != table.Name {
				continue
			}
			note := &p.Tables[i].Note
			if d.Column != "" {
				at := slices.IndexFunc(table.Columns, func(c datamap.Column) bool { return c.Name == d.Column })
				if at < 0 {
					continue // a new column that a person has to add
				}
				note = &p.Tables[i].Columns[at].Note
			}
			*note = strings.TrimSpace(*note + " " + d.String())
		}
	}
	return p
}

// folded returns the decisions without those that ask the same about further columns of a table.
func folded(decisions []Decision) []Decision {
	list := []Decision{}
	for _, d := range decisions {
		i := slices.IndexFunc(list, func(other Decision) bool {
			return other.Column != "" && d.Column != "" && other.Table == d.Table && other.Question == d.Question &&
				other.Chosen == d.Chosen && slices.Equal(other.Options, d.Options)
		})
		if i < 0 {
			list = append(list, d)
		} else {
			list[i].Further = append(list[i].Further[:len(list[i].Further):len(list[i].Further)], d.Column)
		}
	}
	return list
}
