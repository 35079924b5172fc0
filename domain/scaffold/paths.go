package scaffold

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/habeas-data/habeas/domain/internal/names"
	"github.com/habeas-data/habeas/internal/words"
)

// byMaker is the length of a path over a reference to a person that worked on the row. Every other path is shorter.
const byMaker = 1000

// mostPaths is the maximum number of paths of a table in a data map.
const mostPaths = 16

// length returns the length of the reference as a part of a path to the subject's table.
func (r *reference) length(subject *table) int {
	if r.to == subject && r.role == names.Maker {
		return byMaker
	}
	return 1
}

// measure finds the shortest path from each table to the subject's table.
func (d *draft) measure() {
	d.subject.far = 0
	for changed := true; changed; {
		changed = false
		for _, t := range d.tables {
			for _, r := range t.out {
				if t == d.subject || r.to == t || r.to.far == unreachable || r.to.turned || !r.isRelation() {
					continue
				}
				if far := r.length(d.subject) + r.to.far; far < t.far {
					t.far, changed = far, true
				}
			}
		}
	}
}

// turn relates tables that do not reach the subject's table to rows that refer to them, such as the address of a user
// or an order. A row then belongs to the person whose row refers to it. Other rows that refer to it do not count.
func (d *draft) turn() {
	for _, t := range d.tables {
		if t.far != unreachable || !t.isReal() || len(t.personal()) == 0 {
			continue
		}
		var nearest []*reference
		for _, r := range t.in {
			alone := r.from == d.subject && r.from.isUnique(r.columns)
			if r.from.far == unreachable || !slices.Equal(r.referenced, t.key) || !alone && !names.Is(t.Name, names.Addresses) {
				continue
			}
			if r.from.turned { // no path leads over a table that is turned
				continue
			}
			if len(nearest) > 0 && r.from.far < nearest[0].to.far {
				nearest = nil
			}
			if len(nearest) == 0 || r.from.far == nearest[0].to.far && r.from == nearest[0].to {
				nearest = append(nearest, &reference{
					from: t, to: r.from, columns: r.referenced, referenced: r.columns,
				})
			}
		}
		nearest = slices.DeleteFunc(nearest, func(r *reference) bool { return !r.isRelation() })
		if len(nearest) > 0 {
			t.out, t.turned = append(t.out, nearest...), true
			t.ask("", "Rows of "+nearest[0].to.Name+" refer to it. Does each of its rows belong to only one person?",
				"yes", "no: leave it out")
			if names.Is(nearest[0].to.Name, names.Duties) {
				t.ask("", "A duty retains "+nearest[0].to.Name+". Does it also retain these rows?", "no", "yes: retain their "+
					"columns, with a reason")
			}
			d.measure()
		}
	}
}

// choosePaths chooses the relations by which each table reaches the subject's table. Each relation leads to a nearer
// table, so the relations form no cycle.
func (d *draft) choosePaths() {
	for _, t := range d.tables {
		if t.far == unreachable || t == d.subject {
			continue
		}
		shortest := slices.DeleteFunc(slices.Clone(t.out), func(r *reference) bool {
			return r.to == t || !r.isRelation() || r.to.far == unreachable || r.to.turned ||
				r.length(d.subject)+r.to.far != t.far
		})
		if t.far == 1 || t.turned {
			t.takePeople(shortest)
		} else {
			t.takeOne(shortest)
		}
		for _, r := range t.paths {
			r.kept = true
		}
	}
	d.keepRelations()
}

// takePeople takes the direct relations to the subject's table. The rows concern each of these people.
func (t *table) takePeople(direct []*reference) {
	slices.SortStableFunc(direct, func(a, b *reference) int { return cmp.Compare(a.role, b.role) })
	if len(direct) > mostPaths {
		t.ask("", "The rows refer to more people than a table may have paths. To which of them do they belong?",
			"the first "+strconv.Itoa(mostPaths), "others")
		direct = direct[:mostPaths]
	}
	t.paths = direct
	if len(direct) == 1 {
		return
	}
	for i, r := range direct {
		r.name = relationName(r)
		if slices.ContainsFunc(direct[:i], func(other *reference) bool { return other.name == r.name }) {
			r.name += strconv.Itoa(i + 1)
		}
	}
}

// takeOne takes one of several relations with equally short paths to the subject's table.
func (t *table) takeOne(shortest []*reference) {
	prefer := func(holds bool) int {
		if holds {
			return 0
		}
		return 1
	}
	slices.SortStableFunc(shortest, func(a, b *reference) int {
		weigh := func(by func(*reference) bool) int { return cmp.Compare(prefer(by(a)), prefer(by(b))) }
		return cmp.Or(
			weigh(func(r *reference) bool { return !r.guessed }),
			weigh(func(r *reference) bool { return names.Creates(r.columns[len(r.columns)-1]) }),
			weigh(func(r *reference) bool { return !r.nullable() }),
			weigh(func(r *reference) bool { return isPartOf(r.to.Name, t.Name) }),
		)
	})
	t.paths = shortest[:1]
	if len(shortest) == 1 {
		return
	}
	var others []string
	for _, r := range shortest[1:] {
		others = append(others, r.label())
	}
	t.ask("", "Several relations lead to a person. Which relation determines the owner of a row?", shortest[0].label(),
		others...)
}

// isPartOf reports whether a table is named after the other table, such as order_items after orders.
func isPartOf(whole, part string) bool {
	return strings.HasPrefix(names.BaseName(part), words.Singular(names.BaseName(whole)))
}

// keepRelations keeps all other relations between tables that reach the subject's table, unless they would form a
// cycle.
func (d *draft) keepRelations() {
	for _, t := range d.tables {
		for _, r := range t.out {
			inside := t.far != unreachable && r.to.far != unreachable && r.isRelation()
			if inside && (r.to == t || t != d.subject && !leadsTo(r.to, t, map[*table]bool{})) {
				r.kept = true
			}
		}
	}
}

// leadsTo reports whether kept relations lead from one table to the other.
func leadsTo(from, to *table, seen map[*table]bool) bool {
	if from == to {
		return true
	}
	seen[from] = true
	return slices.ContainsFunc(from.out, func(r *reference) bool {
		return r.kept && !seen[r.to] && leadsTo(r.to, to, seen)
	})
}

// relationName returns the name of a relation, such as SentBy for sent_by_id.
func relationName(r *reference) string {
	columns := r.columns
	if r.from.turned {
		columns = r.referenced
	}
	stem, _ := names.Stem(columns[len(columns)-1])
	var name strings.Builder
	for _, word := range words.Split(stem) {
		letters := []rune(word)
		letters[0] = unicode.ToUpper(letters[0])
		name.WriteString(string(letters))
	}
	if name.Len() == 0 || unicode.IsDigit([]rune(name.String())[0]) {
		return "To" + name.String()
	}
	return name.String()
}

// vias returns the names of the paths of a table. It returns one empty name if the table has one path.
func (t *table) vias() []string {
	switch len(t.paths) {
	case 0:
		return []string{""}
	case 1:
		return t.paths[0].to.vias()
	}
	var list []string
	for _, r := range t.paths {
		for _, onward := range r.to.vias() {
			list = append(list, strings.TrimSuffix(r.name+"."+onward, "."))
		}
	}
	return list
}
