package lives

import (
	"context"
	"regexp"
	"slices"
	"time"

	"github.com/habeas-data/habeas/adapters/persistence/memory"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/ports"
)

// tb is the part of *rapid.T that a database uses.
type tb interface {
	Helper()
	Fatalf(format string, args ...any)
	Context() context.Context
	Cleanup(fn func())
}

// database is an application with its rows and the tables of habeas.
type database interface {
	// sessions returns the store of habeas. A restore may replace it.
	sessions() ports.SessionFactory
	// record is called with each step that changes the database, before the step runs.
	record(step func())
	// backUp returns the whole content, and restore replaces the whole content.
	backUp() any
	restore(stored any)
	// dump reads the rows of the application, and load replaces them.
	dump() dump
	load(dump)
	// put inserts the row of a member, or overwrites it. add inserts another row.
	put(id, email string, added time.Time)
	add(table string, row map[string]any)
	// remove deletes the row of a member and the rows that belong to it, without habeas.
	remove(id string)
}

// dump has the rows of each table of the application.
type dump map[string][]map[string]any

// owned matches a value of a person. The values that an erasure writes never match.
var owned = regexp.MustCompile(`^p[0-9]+-[0-9]+$`)

// rows returns the rows without their owners. A value that no person has given is "".
func (d dump) rows(k kind) rows {
	text := func(value any) string {
		if text, ok := value.(string); ok && owned.MatchString(text) {
			return text
		}
		return ""
	}
	instant := func(value any) time.Time {
		at, _ := value.(time.Time)
		return at.UTC()
	}
	id := func(value any) string {
		for _, id := range k.ids() {
			if k.key(id) == value {
				return id
			}
		}
		return "another"
	}
	read := rows{map[string]member{}, map[int64]child{}}
	for _, row := range d["members"] {
		read.members[id(row["id"])] = member{email: text(row["email"]), added: instant(row["created_at"])}
	}
	for _, table := range k.childTables() {
		for _, row := range d[table] {
			key, _ := row["id"].(int64)
			read.children[key] = child{
				table: table, id: id(row["member_id"]), recipient: text(row["recipient"]), address: text(row["address"]),
				issued: instant(row["issued_at"]),
			}
		}
	}
	return read
}

// inMemory is an application on the memory. A restore of everything repeats all steps up to the backup on an empty
// memory.
type inMemory struct {
	tb
	kind
	store *memory.Store
	raw   *memory.Store // has the same rows, and a data map with which the application changes them
	steps []func()
}

func openMemory(t tb, k kind) database {
	db := &inMemory{tb: t, kind: k}
	db.clear()
	return db
}

func (db *inMemory) clear() {
	dataMap, err := db.dataMap()
	must(db, err)
	db.store, err = memory.New(dataMap, memory.Options{})
	must(db, err)
	rawMap, err := db.rawMap()
	must(db, err)
	db.raw, err = memory.New(rawMap, memory.Options{Name: "raw", Beside: db.store})
	must(db, err)
}

func (db *inMemory) sessions() ports.SessionFactory {
	return sessionsOf(func() ports.SessionFactory { return db.store })
}

// sessionsOf opens the sessions of the store that is current.
type sessionsOf func() ports.SessionFactory

func (s sessionsOf) Do(ctx context.Context, fn func(context.Context, ports.Session) error) error {
	return s().Do(ctx, fn)
}

func (s sessionsOf) Rehearse(ctx context.Context, fn func(context.Context, ports.Session) error) error {
	return s().Rehearse(ctx, fn)
}

func (s sessionsOf) Probe(ctx context.Context) error { return s().Probe(ctx) }

func (db *inMemory) record(step func()) { db.steps = append(db.steps, step) }

func (db *inMemory) backUp() any { return len(db.steps) }

func (db *inMemory) restore(stored any) {
	count, _ := stored.(int)
	db.steps = slices.Clone(db.steps[:count])
	db.clear()
	for _, step := range db.steps {
		step()
	}
}

func (db *inMemory) dump() dump {
	found := dump{}
	for _, table := range append(db.childTables(), "members") {
		read, err := db.store.Rows(table)
		must(db, err)
		found[table] = read
	}
	return found
}

func (db *inMemory) load(rows dump) {
	for _, id := range db.ids() {
		db.remove(id)
	}
	for _, table := range append([]string{"members"}, db.childTables()...) {
		for _, row := range rows[table] {
			must(db, db.store.Insert(table, row))
		}
	}
}

func (db *inMemory) put(id, email string, added time.Time) {
	row := map[string]any{"id": db.key(id), "email": email}
	if db.times {
		row["created_at"] = added
	}
	present := slices.ContainsFunc(db.dump()["members"], func(m map[string]any) bool { return m["id"] == db.key(id) })
	if !present {
		must(db, db.store.Insert("members", row))
		return
	}
	step := domain.RectificationStep{Table: "members", Values: []domain.ColumnValue{{Column: "email", Value: email}}}
	if db.times {
		step.Values = append(step.Values, domain.ColumnValue{Column: "created_at", Value: added})
	}
	must(db, db.raw.Do(db.Context(), func(ctx context.Context, s ports.Session) error {
		_, err := s.Subjects().Rectify(ctx, subjectID(db, id), step)
		return err
	}))
}

func (db *inMemory) add(table string, row map[string]any) { must(db, db.store.Insert(table, row)) }

func (db *inMemory) remove(id string) {
	var steps []datamap.Step
	for _, table := range append(db.childTables(), "members") {
		steps = append(steps, datamap.Step{Target: table, Strategy: domain.StrategyDelete})
	}
	must(db, db.raw.Do(db.Context(), func(ctx context.Context, s ports.Session) error {
		_, err := s.Subjects().Apply(ctx, subjectID(db, id), steps)
		return err
	}))
}

func subjectID(t tb, id string) domain.SubjectID {
	t.Helper()
	parsed, err := domain.NewSubjectID(id)
	must(t, err)
	return parsed
}

func must(t tb, err error) {
	t.Helper()
	if err != nil {
		t.Fatalf("%v", err)
	}
}
