package scaffold

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/internal/words"
	"github.com/habeas-data/habeas/tool/internal/names"
)

// makerLength is the length of a reference such as created_by in a path. All other references have the length 1. The
// person in a reference such as created_by only worked on the row. makerLength is greater than the length of each chain
// of other references. Therefore, a path uses such a reference only if the table has no other path.
const makerLength = 1000

// maxPaths is the maximum number of paths from a table to the subject's table that datamap.NewDataMap accepts.
const maxPaths = 16

// length returns the length of the reference in a path: makerLength for a reference such as created_by, otherwise 1.
func (r *reference) length(subject *table) int {
	if r.to == subject && r.role == names.Maker && !r.from.isOfActors(subject) {
		return makerLength
	}
	return 1
}

// isOfActors reports whether the caller includes the table, and its references to people lead to those who acted or
// wrote. A row then does not belong to the person of a thing on which they acted, or for which they wrote.
func (t *table) isOfActors(subject *table) bool {
	acts := false
	for _, r := range t.out {
		if r.to == subject && r.role != names.Maker {
			return false
		}
		acts = acts || r.to == subject && (names.Acts(r.label()) || names.Writes(r.label()))
	}
	return acts && t.included
}

// measurePaths sets the distance of each table: the length of the shortest chain of references to the subject's table.
func (d *draft) measurePaths() {
	d.subject.distance, d.subject.isSubject = 0, true
	for _, r := range d.subject.in {
		stem, _ := names.Stem(r.label())
		if r.role == names.Party && d.subject.isMeantBy(stem) {
			r.role = names.Holder // contact_id shows no role if contacts are the people
		}
		if names.Invites(r.label()) && slices.ContainsFunc(r.from.out, func(other *reference) bool {
			return other.to == d.subject && other.role == names.Holder && !names.Invites(other.label())
		}) {
			r.role = names.Maker // a membership belongs to the member
		}
	}
	for changed := true; changed; {
		changed = false
		for _, t := range d.tables {
			for _, r := range t.out {
				if t == d.subject || r.to == t || r.to.distance == unreachable || r.to.reversed || !r.isRelation() {
					continue
				}
				if distance := r.length(d.subject) + r.to.distance; distance < t.distance {
					t.distance, changed = distance, true
				}
			}
		}
	}
}

// reversePaths adds paths in the reverse direction of a reference. For example, if each user refers to a row of details
// by a unique column, the row belongs to this user. Only a table without another path, to which no other table refers,
// gets such a path. reversePaths adds a question to the proposal: the developer has to confirm it.
func (d *draft) reversePaths() {
	for _, t := range d.tables {
		if t.distance != unreachable || len(t.personal()) == 0 || len(t.in) != 1 {
			continue
		}
		r := t.in[0]
		back := &reference{from: t, to: r.from, columns: r.referenced, referenced: r.columns}
		if r.from == d.subject && r.isUnique() && slices.Equal(r.referenced, t.key) && back.isRelation() {
			t.out, t.reversed = append(t.out, back), true
			t.ask("", "Rows of "+r.from.Name+" refer to it. Does each of its rows belong to only one person?", "yes",
				"no: leave it out")
		}
	}
	d.measurePaths()
}

// choosePaths chooses, for each table, the references that begin its paths. Each chosen reference refers to a table
// that is closer to the subject's table, so that paths form no cycle.
func (d *draft) choosePaths() {
	for i, t := range slices.Concat(d.tables, d.tables) {
		direct := i < len(d.tables) // first the tables with a direct reference, by which groups are found
		if i == len(d.tables) {
			d.findShared()
		}
		if t.distance == unreachable || t == d.subject || direct != (t.distance == 1 || t.reversed) {
			continue
		}
		shortest := slices.DeleteFunc(slices.Clone(t.out), func(r *reference) bool {
			return r.to == t || !r.isRelation() || r.to.distance == unreachable || r.to.reversed ||
				r.length(d.subject)+r.to.distance != t.distance
		})
		if direct {
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

// takePeople makes each direct reference to the subject's table a path, because the row concerns each person that it
// refers to. The person who has sent or written something comes before others, such as user_id. A person whom each row
// has comes before one whom a row may lack.
func (t *table) takePeople(direct []*reference) {
	direct = t.withoutDoubtful(direct)
	if owner := t.ownerOfCopy(direct); owner != nil {
		direct, t.ofTwo = []*reference{owner}, true
	}
	slices.SortStableFunc(direct, func(a, b *reference) int {
		return cmp.Or(cmp.Compare(a.role, b.role),
			cmp.Compare(boolRank(names.Sends(a.label())), boolRank(names.Sends(b.label()))),
			cmp.Compare(boolRank(!a.nullable()), boolRank(!b.nullable())))
	})
	if len(direct) > maxPaths {
		t.ask("", "The rows refer to more than "+strconv.Itoa(maxPaths)+" people. To which people do they belong?",
			"the first "+strconv.Itoa(maxPaths), "others")
		direct = direct[:maxPaths]
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

// ownerOfCopy returns the reference to the owner of a message, beside those to its sender and its recipient. Both have
// a copy of the message, so that an erasure of one must not delete the copy of the other. It returns nil if there is no
// such reference, and for other rows, such as tickets: their owner works on what the sender has written.
func (t *table) ownerOfCopy(direct []*reference) *reference {
	last, ends := lastWord(t.base), 3
	if !strings.HasSuffix(last, "mail") && last != "message" || len(direct) != ends {
		return nil
	}
	var owner *reference
	sent, received := false, false
	for _, r := range direct {
		stem, _ := names.Stem(r.label())
		switch {
		case names.Same(stem, "owner"):
			owner = r
		case names.Sends(r.label()):
			sent = true
		case names.Receives(r.label()):
			received = true
		}
	}
	if !sent || !received {
		return nil
	}
	return owner
}

// withoutDoubtful returns the references without the doubtful ones if others lead to a person, too. It asks about
// those.
func (t *table) withoutDoubtful(direct []*reference) []*reference {
	sure := slices.DeleteFunc(slices.Clone(direct), func(r *reference) bool { return r.doubtful })
	if len(sure) == 0 || len(sure) == len(direct) {
		return direct
	}
	for _, r := range direct {
		if r.doubtful {
			t.askForSecondPerson(r.label(), r.to)
		}
	}
	return sure
}

// askForSecondPerson asks whether a row also belongs to the person that a column without a foreign key seems to name.
func (t *table) askForSecondPerson(column string, person *table) {
	t.ask(column, "It has no foreign key, but seems to refer to "+person.Name+". Does the row belong to that person, too?",
		"no", "yes: add a relation")
}

// takeOne chooses the best of several references that begin equally short paths. It makes this reference the only path
// of the table, and asks a person to confirm it.
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
			weigh(func(r *reference) bool { return names.Creates(r.label()) }),
			weigh(func(r *reference) bool { return r.owns() && !r.to.shared }),
			weigh(func(r *reference) bool { return !r.nullable() }),
			weigh(func(r *reference) bool { return isPartOf(r.to, t) }),
		)
	})
	t.paths = shortest[:1]
	if leadToOnePerson(shortest) || len(shortest) == 1 {
		return
	}
	var others []string
	for _, r := range shortest[1:] {
		others = append(others, r.label())
	}
	t.ask("", "Several relations lead to a person. Which relation determines the owner of a row?", shortest[0].label(),
		others...)
}

// isPartOf reports whether the name of the table child suggests that its rows are parts of rows of the table parent.
// For example, order_items begins with order, the singular of orders.
func isPartOf(parent, child *table) bool {
	return strings.HasPrefix(child.base, names.Singular(parent.base))
}

// keepRelations selects further references that become relations of the data map. No path begins with such a reference,
// but both of its tables have a path. keepRelations leaves out a reference that would form a cycle of tables.
func (d *draft) keepRelations() {
	for _, t := range d.tables {
		for _, r := range t.out {
			inside := t.distance != unreachable && r.to.distance != unreachable && r.isRelation()
			if inside && (r.to == t || t != d.subject && !leadsTo(r.to, t, map[*table]bool{})) {
				r.kept = true
			}
		}
	}
}

// leadsTo reports whether a chain of references leads from the first table to the second. It follows only references
// that the data map has as relations.
func leadsTo(from, to *table, seen map[*table]bool) bool {
	if from == to {
		return true
	}
	seen[from] = true
	return slices.ContainsFunc(from.out, func(r *reference) bool {
		return r.kept && !seen[r.to] && leadsTo(r.to, to, seen)
	})
}

// relationName returns the name of a relation. For example, the column sent_by_id gives SentBy.
func relationName(r *reference) string {
	stem, _ := names.Stem(r.label())
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
		for _, rest := range r.to.vias() {
			list = append(list, strings.TrimSuffix(r.name+"."+rest, "."))
		}
	}
	return list
}

// askForVia asks, once for each table, which person the columns belong to.
func (t *table) askForVia() {
	vias := t.vias()
	personal := slices.ContainsFunc(t.columns, func(c datamap.Column) bool { return c.Personal != nil })
	if len(vias) > 1 && personal && !t.reversed {
		t.ask("", "The rows are about several people. To which of them do the columns belong? (via)", vias[0], vias[1:]...)
	}
}
