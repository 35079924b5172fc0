package lives

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"pgregory.net/rapid"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports"
)

// move is an event of a game. Some moves are about an id.
type move struct {
	name   string
	weight int
	can    func(id string) bool // whether the event can happen now
	run    func(id string)
}

func (g *game) moves() []move {
	return []move{
		{"register", 4, g.canRegister, g.register},
		{"erase", 2, g.canErase, g.eraseOne},
		{"consent", 2, g.canSpeak, g.consent},
		{"restrict", 2, g.canSpeak, g.restrict},
		{"correct", 1, g.canCorrect, g.correct},
		{"vanish", 1, g.canVanish, g.vanish},
		{"verify", 4, g.canVerify, g.verify},
	}
}

// movesOfAll are the events that are not about one id.
func (g *game) movesOfAll() []move {
	return []move{
		{"back up", 3, func(string) bool { return !g.behind && len(g.backups) < 3 }, g.backUp},
		{"restore", 2, func(string) bool { return len(g.backups) > 0 }, g.restoreAll},
		{"restore tables", 4, func(string) bool { return len(g.backups) > 0 && !g.behind }, g.restoreTables},
		{"replay", 3, func(string) bool { return len(g.lines) > 0 }, func(string) { g.replay(time.Time{}) }},
		{"replay --restored-to", 6, g.canReplayTables, func(string) { g.replay(g.tablesAt) }},
		{"sweep", 3, func(string) bool { return !g.deletes }, g.sweep}, // otherwise nothing is retained
		{"wait", 1, func(string) bool { return true }, g.wait},
	}
}

// play draws an event and carries it out if it can happen now. It draws from all events, so that a shorter sequence has
// the same meaning.
func (g *game) play() {
	var names []string
	all := map[string]func(){}
	add := func(m move, id string) {
		name := strings.TrimSpace(m.name + " " + id)
		names = append(names, slices.Repeat([]string{name}, m.weight)...)
		all[name] = func() {
			if m.can(id) {
				g.seen["move "+m.name]++
				m.run(id)
				g.check(id)
			}
		}
	}
	for _, m := range g.moves() {
		for _, id := range g.kind.ids() {
			add(m, id)
		}
	}
	for _, m := range g.movesOfAll() {
		add(m, "")
	}
	all[rapid.SampledFrom(names).Draw(g.T, "move")]()
}

// lives reports whether the row of the member holds values of a person.
func (g *game) lives(id string) bool { return g.members[id].email != "" }

func (g *game) canRegister(id string) bool { return !g.lives(id) && !g.behind }

// register registers a new person under an id that nobody has, and gives her rows. Between the restore of the whole
// database and its replay, nobody registers: a replay erases who does, as documented.
//
// Registered must be called if the id has records whose person left no evidence: her row vanished without an erasure,
// or she came back with a row that no mark explains. Otherwise the records are shown to the new person, as documented.
func (g *game) register(id string) {
	g.pass(0)
	g.people++
	person, email := g.people, g.value(g.people)
	calls := g.loose[id] || rapid.Bool().Draw(g.T, "Registered")
	row := member{owner: person, email: email}
	if g.times { // by the clock of the process that registers her
		row.added = domain.Instant(g.now.Add(g.skew("skew of the creation time")))
	}
	children := map[int64]child{}
	for _, table := range g.childTables() {
		g.values++
		c := child{table: table, id: id, owner: person, address: g.value(person)}
		if table == "invoices" {
			c.recipient = g.value(person)
		}
		if !g.deletes {
			age := rapid.SampledFrom([]int{0, 200}).Draw(g.T, "age of the bill in days")
			c.issued = domain.Instant(g.now.AddDate(0, 0, -age))
		}
		children[int64(g.values)] = c
	}
	subject := g.subject(id)
	_, err := g.step(func(ctx context.Context) error {
		g.db.put(id, email, row.added)
		for key, c := range children {
			g.db.add(c.table, g.childRow(key, c))
		}
		if !calls {
			return nil
		}
		return g.db.sessions().Do(ctx, func(ctx context.Context, s ports.Session) error {
			return s.Subjects().Register(ctx, subject.ID, g.clock.at)
		})
	})
	must(g, err)
	g.members[id], g.last[id] = row, person
	if m := g.marks[id]; !m.erased || m.number <= g.until[g.tablesAt] || g.until[g.tablesAt] == 0 {
		g.tablesAt = time.Time{}
	}
	for key, c := range children {
		g.children[key] = c
	}
	if calls {
		g.seen["Registered"]++
		g.loose[id] = false
		g.registered(id)
	}
}

func (g *game) childRow(key int64, c child) map[string]any {
	row := map[string]any{"id": key, "member_id": g.key(c.id), "address": c.address}
	if c.table == "invoices" {
		row["recipient"] = c.recipient
	}
	if !g.deletes {
		row["issued_at"] = c.issued
	}
	return row
}

func (g *game) canErase(id string) bool { return g.last[id] > 0 && !g.behind }

// eraseOne erases whoever has an id. It also repeats erasures. The person who has the id has asked for it. Between a
// restore of the whole database and its replay, no application is open that could erase.
func (g *game) eraseOne(id string) {
	subject := g.subject(id)
	at, err := g.session(func(ctx context.Context, s ports.Session) error { return g.erase(ctx, s, subject) })
	must(g, err)
	if g.lives(id) {
		g.erased[g.members[id].owner] = true
	} else {
		g.erased[g.last[id]] = true
	}
	g.erasedAt(id, at)
	g.write()
}

// holder returns who gives a consent or a restriction: the person of the row, or the last person after her erasure. The
// zero value is nobody. A record for an erased row without distinctive surrogates is not closed, because nothing tells
// that the life has ended.
func (g *game) holder(id string) int {
	if g.lives(id) {
		return g.members[id].owner
	}
	if g.life(id) == "" {
		return 0
	}
	return g.last[id]
}

// canSpeak reports whether somebody can give a consent or a restriction. Nobody speaks for a person whose row is back
// after a restore: if a further restore brings a later person back, nothing tells whose the record is.
func (g *game) canSpeak(id string) bool {
	person := g.holder(id)
	return person > 0 && (!g.lives(id) || !g.erased[person] && !g.gone[person])
}

func (g *game) consent(id string) {
	subject, granted := g.subject(id), rapid.Bool().Draw(g.T, "granted")
	r := record{g.holder(id), g.value(g.holder(id)), granted}
	_, err := g.session(func(ctx context.Context, s ports.Session) error {
		_, err := g.engines.Consent.Record(ctx, s, subject.ID, domain.ConsentDecision{
			Purpose: purpose, PolicyVersion: r.text, Granted: r.granted, Source: "test",
		})
		return err
	})
	if errors.Is(err, domain.ErrErased) {
		if !granted || g.life(id) != domain.LifeEnded {
			g.Fatalf("the record was refused: granted is %v, and the life is %s", granted, g.life(id))
		}
		return
	}
	must(g, err)
	g.consents[id] = append(g.consents[id], r)
	g.taken(id)
}

func (g *game) restrict(id string) {
	subject, restricted := g.subject(id), rapid.Bool().Draw(g.T, "restricted")
	r := record{g.holder(id), g.value(g.holder(id)), restricted}
	_, err := g.session(func(ctx context.Context, s ports.Session) error {
		_, err := g.engines.Restriction.Record(ctx, s, subject.ID, domain.RestrictionDecision{
			Restricted: r.granted, Source: r.text,
		})
		return err
	})
	must(g, err)
	g.restrictions[id] = append(g.restrictions[id], r)
	g.taken(id)
}

// canCorrect reports whether somebody can correct the email of a member. If nothing tells that an erased row is erased,
// a correction is carried out: the erased person then has given new data, and the model would have to know her as
// somebody who is not erased. This case is left out.
func (g *game) canCorrect(id string) bool {
	return g.last[id] > 0 && (g.life(id) == domain.LifeEnded || g.lives(id))
}

// correct corrects the email of a member. A correction of an erased person fails.
func (g *game) correct(id string) {
	_, present := g.members[id]
	ended := g.life(id) == domain.LifeEnded
	subject, email := g.subject(id), g.value(g.last[id])
	if present && g.lives(id) {
		email = g.value(g.members[id].owner)
	}
	_, err := g.session(func(ctx context.Context, s ports.Session) error {
		_, err := g.engines.Rectifier.Rectify(ctx, s, subject, domain.Correction{
			Table: "members", Column: "email", Category: domain.CategoryContact, Value: email,
		})
		return err
	})
	switch {
	case ended && err == nil:
		g.Fatalf("a correction of %s, who is erased, has no error", id)
	case !ended:
		must(g, err)
		row := g.members[id]
		row.email = email
		g.members[id] = row
	}
}

func (g *game) canVanish(id string) bool { return g.deletes && g.lives(id) && !g.behind }

// vanish deletes the rows of a member without habeas.
func (g *game) vanish(id string) {
	_, err := g.step(func(context.Context) error {
		g.db.remove(id)
		return nil
	})
	must(g, err)
	g.vanished(id)
	g.deleteRows(id)
}

// vanished notes that the person of an id has gone without an erasure.
func (g *game) vanished(id string) {
	if g.lives(id) {
		g.gone[g.members[id].owner], g.loose[id] = true, true
	}
}

func (g *game) wait(string) {
	g.pass(time.Duration(rapid.SampledFrom([]int{1, 80}).Draw(g.T, "days")) * 24 * time.Hour)
}

func (g *game) backUp(string) {
	g.pass(0)
	g.backups = append(g.backups, backup{state: g.clone(), at: g.now, rows: g.db.dump(), stored: g.db.backUp()})
}

func (g *game) aBackup() int {
	return rapid.IntRange(0, len(g.backups)-1).Draw(g.T, "backup")
}

// restoreAll restores the whole database. The later backups are not used any more.
func (g *game) restoreAll(string) {
	n := g.aBackup()
	g.pass(0)
	g.db.restore(g.backups[n].stored)
	g.state, g.backups = g.backups[n].state.clone(), g.backups[:n+1]
	g.behind, g.tablesAt = true, time.Time{}
}

// restoreTables restores the tables of the application alone.
func (g *game) restoreTables(string) {
	n := g.aBackup()
	from := g.backups[n]
	_, err := g.step(func(context.Context) error {
		g.db.load(from.rows)
		return nil
	})
	must(g, err)
	for _, id := range g.kind.ids() {
		if back := from.state.members[id]; back.owner != g.members[id].owner || back.email == "" {
			g.vanished(id)
		}
	}
	g.rows = from.state.rows.clone()
	g.restores++
	g.tablesAt = from.at.Add(time.Duration(g.restores) * time.Microsecond)
}

// sweep overwrites the retained values that are due.
func (g *game) sweep(string) {
	var report domain.SweepReport
	at, err := g.step(func(ctx context.Context) (err error) {
		report, err = g.sweeper().RunAll(ctx, nil)
		return err
	})
	must(g, err)
	g.swept(at, report)
}

func (g *game) canVerify(id string) bool { return g.marks[id].erased }

// verify verifies an erasure.
func (g *game) verify(id string) {
	var found domain.Verification
	subject := g.subject(id)
	_, err := g.session(func(ctx context.Context, s ports.Session) (err error) {
		found, err = g.engines.Verifier.Verify(ctx, s, subject.ID)
		return err
	})
	must(g, err)
	g.verified(id, found)
}

func (g *game) canReplayTables(string) bool { return len(g.lines) > 0 && !g.tablesAt.IsZero() }

// replay replays the journal, with the instant of a restore of the tables or without it.
func (g *game) replay(to time.Time) {
	var report domain.ReplayReport
	lines := slices.Clone(g.journal.Bytes())
	at, err := g.step(func(ctx context.Context) (err error) {
		report, err = g.replayed(ctx, lines, to)
		return err
	})
	g.afterReplay(at, to, report, err)
	g.behind = false
	g.write()
}
