package lives

import (
	"maps"
	"strings"
	"time"

	"github.com/habeas-data/habeas/domain"
)

// purpose is the purpose of all consents.
const purpose = "newsletter"

// life judges an id by the table of the life: the first line that applies.
func (g *game) life(id string) domain.Life {
	m, row := g.marks[id], g.members[id]
	_, present := g.members[id]
	comparable := !row.added.IsZero() && !m.added.IsZero()
	same := comparable && row.added.Equal(m.added)
	switch {
	case !m.erased:
		return ""
	case !present:
		return domain.LifeEnded
	case m.registered && (!same || !g.deletes) && (row.added.IsZero() || row.added.Equal(m.registeredAdded)):
		return domain.LifeNew
	case comparable && row.added.After(m.added):
		return domain.LifeNew
	case comparable && row.added.Before(m.added):
		return domain.LifeUnknown
	case same && g.deletes:
		return domain.LifeEnded
	case g.distinct && row.email == "":
		return domain.LifeEnded
	default:
		return domain.LifeUnknown
	}
}

// registered notes that Registered was called for the row of an id.
func (g *game) registered(id string) {
	m := g.marks[id]
	if !m.erased && len(g.consents[id])+len(g.restrictions[id]) == 0 {
		return
	}
	m.registered, m.registeredAdded = true, g.members[id].added
	m.consents, m.restrictions = len(g.consents[id]), len(g.restrictions[id])
	g.marks[id] = m
}

// taken notes that a ledger has taken in a record. If the life has ended, the record belongs to this life.
func (g *game) taken(id string) {
	switch m := g.marks[id]; {
	case g.life(id) == domain.LifeEnded:
		m.consents, m.restrictions = len(g.consents[id]), len(g.restrictions[id])
		g.marks[id] = m
	case !g.lives(id):
		g.loose[id] = true // nothing tells that the record belongs to the erased person
	}
}

// isDue reports whether the duty to retain the address of a row is over.
func (g *game) isDue(c child, at time.Time) bool {
	return !g.deletes && c.address != "" && !c.issued.After(at.AddDate(0, 0, -100))
}

func (g *game) deleteRows(id string) {
	delete(g.members, id)
	for key, c := range g.children {
		if c.id == id {
			delete(g.children, key)
		}
	}
}

// erasedAt notes an erasure by a process whose clock shows the instant at.
func (g *game) erasedAt(id string, at time.Time) {
	m, row := g.marks[id], g.members[id]
	m.erased, m.at, m.trulyAt, m.registered, m.registeredAdded = true, at, g.now, false, time.Time{}
	if !row.added.IsZero() {
		m.added = row.added
	}
	if all := g.consents[id]; len(all) > 0 && all[len(all)-1].granted {
		withdrawal := all[len(all)-1]
		withdrawal.granted = false
		g.consents[id] = append(all, withdrawal)
	}
	m.consents, m.restrictions = len(g.consents[id]), len(g.restrictions[id])
	g.marks[id], g.loose[id] = m, false
	if g.deletes {
		g.deleteRows(id)
		return
	}
	if _, present := g.members[id]; present {
		row.email = ""
		g.members[id] = row
	}
	for key, c := range g.children {
		if c.id == id {
			c.recipient = ""
			if g.isDue(c, at) {
				c.address = ""
			}
			g.children[key] = c
		}
	}
}

// mayLose fails if a person whose values are overwritten or deleted by a sweep or a replay was not erased.
func (g *game) mayLose(what, id string, person int) {
	if !g.erased[person] && !g.gone[person] {
		g.Fatalf("a %s for %s destroys values of person %d, who was not erased", what, id, person)
	}
}

// swept compares a sweep with the table of the life.
func (g *game) swept(at time.Time, report domain.SweepReport) {
	want := domain.SweepReport{Rows: map[string]int64{}}
	for _, id := range g.kind.ids() {
		if !g.marks[id].erased {
			continue
		}
		want.Erased++
		swept, unclear, life := false, false, g.life(id)
		for key, c := range g.children {
			if c.id != id || !g.isDue(c, at) {
				continue
			}
			if life != domain.LifeEnded && (c.table != "invoices" || c.recipient != "") {
				unclear = true
				continue
			}
			g.mayLose("sweep", id, c.owner)
			c.address = ""
			g.children[key] = c
			want.Rows[c.table]++
			swept = true
		}
		if swept {
			want.Subjects++
			g.seen["swept"]++
		}
		if unclear {
			want.Unclear++
			g.seen["unclear"]++
		}
	}
	g.equal("the report of the sweep", report, want)
}

// verified compares a verification with the model. Data is left over if the life has ended, but values are there that
// an erasure at the instant of the mark would not have kept.
func (g *game) verified(id string, found domain.Verification) {
	want, life := map[string]int64{}, g.life(id)
	if life == domain.LifeEnded {
		life = "" // it was checked
		if g.lives(id) {
			want["members"]++
		}
		for _, c := range g.children {
			switch {
			case c.id != id:
			case g.deletes:
				want[c.table]++
			default:
				if c.recipient != "" {
					want[c.table+".recipient"]++
				}
				if g.isDue(c, g.marks[id].at) {
					want[c.table+".address"]++
				}
			}
		}
	}
	got := map[string]int64{}
	for _, left := range found.LeftOver {
		got[strings.TrimSuffix(left.Table+"."+left.Column, ".")] += left.Rows
	}
	if len(want) > 0 {
		g.seen["left over"]++
	}
	switch {
	case life != "": // the verifications before have found it
		want = g.recorded[id]
	case len(want) == 0:
		delete(g.recorded, id)
	default:
		recorded := maps.Clone(want)
		for place, rows := range g.recorded[id] {
			if _, again := want[place]; !again {
				recorded[place] = rows
			}
		}
		g.recorded[id] = recorded
	}
	if found.Life != life || !maps.Equal(got, want) {
		g.Fatalf("the verification of %s is %+v, want the life %q and left over %v", id, found, life, want)
	}
}
