package lives

import (
	"context"
	"fmt"
	"reflect"
	"slices"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports"
)

func (g *game) equal(what string, got, want any) {
	g.Helper()
	if !reflect.DeepEqual(got, want) {
		g.Fatalf("%s is %+v, want %+v", what, got, want)
	}
}

// check compares the database, and everything that habeas shows about an id, with the model. The id "" means all ids.
func (g *game) check(of string) {
	want := g.rows.clone()
	for id, row := range want.members {
		row.owner = 0
		want.members[id] = row
	}
	for key, c := range want.children {
		c.owner = 0
		want.children[key] = c
	}
	g.equal("the content of the tables", g.db.dump().rows(g.kind), want)
	for _, id := range g.kind.ids() {
		if of == "" || of == id {
			g.checkKnown(id)
			g.checkLedgers(id)
		}
	}
}

// checkKnown compares the life with the table, and with whose the row is.
func (g *game) checkKnown(id string) {
	var known domain.SubjectState
	g.read(func(ctx context.Context, s ports.Session) (err error) {
		known, err = s.Subjects().State(ctx, subjectID(g, id))
		return err
	})
	row, present := g.members[id]
	life := g.life(id)
	g.seen["life "+string(life)]++
	if known.Present != present || known.Life != life {
		g.Fatalf("Known says %v, %q about %s, want %v, %q", known.Present, known.Life, id, present, life)
	}
	back := g.isBack(id)
	switch {
	case life == domain.LifeEnded && g.lives(id) && !g.erased[row.owner]:
		g.Fatalf("%s counts as erased, but person %d was not erased", id, row.owner)
	case life == domain.LifeNew && back && !g.behind && !g.passesForNew(id):
		g.Fatalf("%s counts as new, but person %d was erased", id, row.owner)
	case life == "" && back && !g.behind:
		g.Fatalf("%s counts as never erased, but person %d was erased", id, row.owner)
	}
}

// isBack reports whether the row of an erased person is back in use. It leaves out a person whose rows had vanished
// when she was erased: the mark then does not have the creation time of her row, and nothing tells that it is hers.
func (g *game) isBack(id string) bool {
	person := g.members[id].owner
	return g.lives(id) && g.erased[person] && !g.gone[person]
}

// passesForNew reports whether nothing in the database tells a restored row from the row of a new person:
//
//   - After Registered was called, a restored row without a creation time looks like the row that was registered.
//   - An erasure of an older row, which a restore had brought back, lowers the creation time of the mark. If a further
//     restore brings back a row that was created after that, it looks like a new one.
func (g *game) passesForNew(id string) bool {
	m := g.marks[id]
	return m.registered && !g.times || slices.ContainsFunc(g.lines, func(l line) bool {
		return l.id == id && l.added.After(m.added)
	})
}

// after returns the records of the current life.
func (g *game) after(id string) (consents, restrictions []record) {
	m := g.marks[id]
	return g.consents[id][m.consents:], g.restrictions[id][m.restrictions:]
}

// checkLedgers compares histories, statuses and the export with the model. A person is never shown a record of somebody
// who had the id before her. A person whose row was restored may see records of a later person: nothing tells that the
// row is not the later person's.
func (g *game) checkLedgers(id string) {
	consents, restrictions := g.after(id)
	for _, r := range slices.Concat(consents, restrictions) {
		if g.lives(id) && r.owner < g.members[id].owner {
			g.Fatalf("person %d, who has %s, inherits a record of person %d", g.members[id].owner, id, r.owner)
		}
	}
	var got shown
	subject := g.subject(id)
	g.read(func(ctx context.Context, s ports.Session) error {
		bundle, err := g.engines.Exporter.Export(ctx, s, subject)
		if err != nil {
			return err
		}
		for _, r := range bundle.Records {
			if text, ok := r.Value.(string); ok && owned.MatchString(text) {
				got.exported = append(got.exported, text)
			}
		}
		granted, err := g.engines.Consent.Status(ctx, s, subject.ID, purpose)
		if err != nil {
			return err
		}
		restricted, err := g.engines.Restriction.Status(ctx, s, subject.ID, nil)
		if err != nil {
			return err
		}
		got.granted, got.restricted = granted.Granted, restricted.Restricted
		history, err := g.engines.Consent.History(ctx, s, subject.ID, purpose)
		if err != nil {
			return err
		}
		for _, r := range history {
			got.consents = append(got.consents, fmt.Sprint(r.PolicyVersion, r.Granted))
		}
		placed, err := s.Restrictions().History(ctx, subject.ID, nil)
		for _, r := range placed {
			got.restrictions = append(got.restrictions, fmt.Sprint(r.Source, r.Restricted))
		}
		return err
	})
	slices.Sort(got.exported)
	g.equal("what "+id+" is shown", got, g.wantShown(id, consents, restrictions))
}

// shown is everything that habeas shows about an id.
type shown struct {
	exported, consents, restrictions []string
	granted, restricted              bool
}

func (g *game) wantShown(id string, consents, restrictions []record) (want shown) {
	// The rows of an id are exported whoever they belong to: only the application knows whose a retained row is.
	want.exported = append(want.exported, g.members[id].email)
	for _, c := range g.children {
		if c.id == id {
			want.exported = append(want.exported, c.recipient, c.address)
		}
	}
	for _, r := range consents {
		want.exported = append(want.exported, r.text)
		want.consents = append(want.consents, fmt.Sprint(r.text, r.granted))
	}
	for _, r := range restrictions {
		want.exported = append(want.exported, r.text)
		want.restrictions = append(want.restrictions, fmt.Sprint(r.text, r.granted))
	}
	want.exported = slices.DeleteFunc(want.exported, func(text string) bool { return text == "" })
	slices.Sort(want.exported)
	if g.life(id) == domain.LifeEnded { // nobody else has the id, and a restriction stays in force
		consents, restrictions = g.consents[id], g.restrictions[id]
	}
	want.granted = len(consents) > 0 && consents[len(consents)-1].granted
	want.restricted = len(restrictions) > 0 && restrictions[len(restrictions)-1].granted
	if len(want.exported) == 0 {
		want.exported = nil
	}
	return want
}
