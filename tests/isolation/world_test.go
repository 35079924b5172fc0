package isolation

import (
	"context"
	"errors"
	"slices"

	"github.com/uptrace/bun"
	"pgregory.net/rapid"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/domain/erasure"
	"github.com/habeas-data/habeas/domain/export"
	"github.com/habeas-data/habeas/internal/system"
	"github.com/habeas-data/habeas/ports"
)

// world is a generated application that uses habeas, with the values that the generator expects after an operation.
type world struct {
	*schema
	*rapid.T
	engine
	db        *bun.DB
	qualifier string // qualifier of table names in the data map
	declared  datamap.DataMap
	store     *bunstore.Store
	eraser    *erasure.Eraser
	exporter  *export.Exporter
	resolvers []string            // external systems that can have an id of the subject
	queried   map[string][]string // the keys that exports have requested, by system
	operation string              // the operation id of the erasure whose events are checked
}

// desk is an external system without data of the subject.
type desk struct {
	ports.Resolver
	name string
}

func (d desk) Name() string { return d.name }

func (desk) ExportSubject(context.Context, domain.SubjectRef) ([]domain.ExportRecord, error) {
	return nil, nil
}

// newWorld generates an application. If its data map is refused, there are two cases:
//
//   - If the generator has made a mistake on purpose, newWorld skips this run. The data map does not count as accepted.
//   - Otherwise, the test fails.
func newWorld(t *rapid.T, e engine, seen *tally) *world {
	s := drawSchema(t, e)
	w := &world{
		schema: s, T: t, engine: e, resolvers: pick(t, "resolvers", nil, []string{"desk"}, []string{"mail", "desk"}),
		queried: map[string][]string{},
	}
	order := make([]int, len(s.tables))
	for i := range order {
		order[i] = i
	}
	order = shuffled(t, "order", order)
	seen.drawn++
	// The data map is checked before a database is opened, because opening one is slow. The table names of this check have
	// no schema, because mistakes do not depend on the names.
	if dataMap, err := s.dataMap("", order); err != nil {
		w.refused(err)
	} else if _, err := (erasure.Planner{}).Plan(dataMap, nil); err != nil {
		w.refused(err)
	}
	s.fill(t)
	seen.add(s)
	w.db, w.qualifier = e.open(t)
	t.Logf("%s", w.script())
	must(t, e.run(t.Context(), w.db, w.script()))
	w.insert()
	must(t, bunstore.Migrate(t.Context(), w.db, bunstore.Options{}))
	dataMap, err := s.dataMap(w.qualifier, order)
	must(t, err)
	w.declared = dataMap
	w.store, err = bunstore.New(w.db, dataMap, bunstore.Options{})
	must(t, err)
	clock, ids := system.Clock{}, &system.IDs{}
	w.eraser, err = erasure.NewEraser(erasure.Config{
		Clock: clock, IDs: ids, DataMap: dataMap, Resolvers: w.registered(),
	})
	must(t, err)
	w.exporter, err = export.NewExporter(export.Config{
		Clock: clock, IDs: ids, DataMap: dataMap, Resolvers: w.registered(),
	})
	must(t, err)
	return w
}

func (w *world) registered() (registered []ports.Resolver) {
	for _, name := range w.resolvers {
		registered = append(registered, desk{name: name})
	}
	for _, name := range w.refs() {
		registered = append(registered, keySystem{desk{name: name}, w.queried})
	}
	return registered
}

func (w *world) refused(err error) {
	if !w.mayBeInvalid || !errors.Is(err, domain.ErrManifest) && !errors.Is(err, domain.ErrRetention) {
		w.Fatalf("refused for no reason: %v\n%s", err, w.script())
	}
	w.Skip("the data map is refused")
}

// mapped returns the tables that are in the data map.
func (w *world) mapped() []*table {
	return slices.DeleteFunc(slices.Clone(w.tables), func(t *table) bool { return t.outside })
}

func (w *world) do(fn func(ctx context.Context, s ports.Session) error) {
	must(w.T, w.store.Do(w.Context(), fn))
}
