package lives

import (
	"errors"
	"time"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/replay"
)

// verdict judges an id as a replay must.
func (g *game) verdict(id string, to time.Time) domain.ReplayVerdict {
	m, row := g.marks[id], g.members[id]
	_, present := g.members[id]
	unrecorded, matches := false, row.added.IsZero()
	for _, l := range g.lines {
		if l.id == id && (!m.erased || l.number > m.number) {
			unrecorded = true
			matches = matches || l.added.IsZero() || l.added.Equal(row.added)
		}
	}
	comparable := !row.added.IsZero() && !m.added.IsZero()
	undone := !to.IsZero() && m.at.After(to) && m.number <= g.until[to]
	switch {
	case unrecorded && present && !matches:
		return domain.ReplayOtherRow
	case unrecorded:
		return domain.ReplayErase
	case !present, g.distinct && row.email == "":
		return domain.ReplayCurrent
	case comparable && row.added.Equal(m.added) && g.deletes:
		return domain.ReplayErase
	case m.registered && row.added.IsZero() && undone:
		return domain.ReplayUnclear
	case m.registered && (row.added.IsZero() || row.added.Equal(m.registeredAdded)):
		return domain.ReplayNew
	case comparable && row.added.After(m.added):
		return domain.ReplayNew
	case comparable && row.added.Before(m.added):
		return domain.ReplayOtherRow
	case !to.IsZero() && m.number > g.until[to]:
		return domain.ReplayCurrent
	case undone:
		return domain.ReplayErase
	default:
		return domain.ReplayUnclear
	}
}

// afterReplay compares a replay with the model. It checks that the replay erases nobody who was not erased before, and
// that each person who was erased and stays is counted.
func (g *game) afterReplay(at, to time.Time, report domain.ReplayReport, failed error) {
	if !to.IsZero() && g.until[to] == 0 {
		g.until[to] = g.lines[len(g.lines)-1].number
	}
	var want domain.ReplayReport
	for _, id := range g.kind.ids() {
		known := false
		for _, l := range g.lines {
			known = known || l.id == id
		}
		if !known {
			continue
		}
		want.Subjects++
		verdict := g.verdict(id, to)
		g.seen["verdict "+string(verdict)]++
		switch verdict {
		case domain.ReplayErase:
			want.Erased++
			g.mayReplay(id, at, to)
			recalled := g.recalled(id)
			g.erasedAt(id, at)
			if m := g.marks[id]; !recalled.IsZero() {
				m.added = recalled
				g.marks[id] = m
			}
		case domain.ReplayCurrent:
			want.Current++
		case domain.ReplayNew:
			want.New++
		case domain.ReplayOtherRow:
			want.OtherRow++
		case domain.ReplayUnclear:
			want.Unclear++
		}
		g.mayStay(id, verdict)
	}
	got := report
	got.Lines, got.LastNumber, got.LastErasedAt, got.Sequences = 0, 0, time.Time{}, nil
	g.equal("the report of the replay", got, want)
	findings := report.Unclear+report.OtherRow > 0 || len(report.Sequences) > 0
	if findings != errors.Is(failed, replay.ErrIncomplete) || !findings && failed != nil {
		g.Fatalf("the replay ended with %v and the report %+v", failed, report)
	}
}

// recalled returns the creation time that a replay takes from the last line of the id, because the line is not
// recorded, and no row has a creation time. Otherwise, it returns the zero time.
func (g *game) recalled(id string) (added time.Time) {
	if !g.members[id].added.IsZero() {
		return time.Time{}
	}
	var last int64
	for _, l := range g.lines {
		if m := g.marks[id]; l.id == id && (!m.erased || l.number > m.number) && l.number > last {
			last, added = l.number, l.added
		}
	}
	return added
}

// mayReplay fails if a repeated erasure destroys values of a person who was not erased. With --restored-to, the
// operator vouches for an instant that is compared with the clock of the erasure. In the simulated time of the game,
// this is the clock of the process (see domain.ErasureInstant). An erasure before the backup by a process whose clock
// was ahead then counts as undone by the restore. Nothing else tells it apart if the rows have no creation times, or if
// the erasure found no row whose creation time the mark could keep, so the model accepts this: the person is gone.
func (g *game) mayReplay(id string, at, to time.Time) {
	m := g.marks[id]
	ahead := !to.IsZero() && m.at.After(to) && !m.trulyAt.After(to) && (!g.times || m.added.IsZero())
	loses := func(person int) {
		if ahead {
			g.gone[person] = true
		}
		g.mayLose("replay", id, person)
		g.erased[person] = true // also a person who was gone
	}
	if g.lives(id) {
		loses(g.members[id].owner)
	}
	for _, c := range g.children {
		if c.id == id && (g.deletes || c.recipient != "" || g.isDue(c, at)) {
			loses(c.owner)
		}
	}
}

// mayStay fails if the row of an erased person stays, and the replay neither counts it as a finding nor is the life
// unknown.
func (g *game) mayStay(id string, verdict domain.ReplayVerdict) {
	stays := g.isBack(id)
	counted := verdict == domain.ReplayUnclear || verdict == domain.ReplayOtherRow || g.life(id) == domain.LifeUnknown
	if stays && !counted && !g.passesForNew(id) {
		g.Fatalf("%s is back in use although person %d was erased: verdict %q, life %q", id, g.members[id].owner, verdict,
			g.life(id))
	}
}
