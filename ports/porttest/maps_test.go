package porttest

import (
	"context"
	"testing"

	"github.com/habeas-data/habeas/adapters/persistence/memory"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/internal/tests/promise"
	"github.com/habeas-data/habeas/ports"
)

// opensMap opens a store for a data map with a name.
type opensMap = func(of datamap.DataMap, name string) *memory.Store

// breaksMap returns a defective store of a data map with a name. open opens correct stores on the same memory.
type breaksMap = func(of datamap.DataMap, name string, open opensMap) Store

// mapsInMemory returns a harness that opens the stores of several data maps on one memory.
func mapsInMemory(breaks breaksMap) MapsHarness {
	return MapsHarness{Patience: testPatience, Open: func(t testing.TB) Maps {
		t.Helper()
		first, err := memory.New(CustomerMap(), memory.Options{})
		if err != nil {
			t.Fatal(err)
		}
		open := func(of datamap.DataMap, name string) *memory.Store {
			store, err := memory.New(of, memory.Options{Name: name, Beside: first})
			if err != nil {
				panic(err)
			}
			return store
		}
		employees := open(EmployeeMap(), employeesName)
		storeOf := func(table string) *memory.Store {
			if _, is := EmployeeMap().Table(table); is {
				return employees
			}
			return first
		}
		return Maps{
			Open: func(_ testing.TB, of datamap.DataMap, name string) Store { return breaks(of, name, open) },
			Insert: func(t testing.TB, table string, row Row) {
				t.Helper()
				if err := storeOf(table).Insert(table, row); err != nil {
					t.Fatal(err)
				}
			},
			Rows: func(t testing.TB, table string) (rows []Row) {
				t.Helper()
				found, err := storeOf(table).Rows(table)
				if err != nil {
					t.Fatal(err)
				}
				for _, row := range found {
					rows = append(rows, row)
				}
				return rows
			},
		}
	}}
}

func correctMap(of datamap.DataMap, name string, open opensMap) Store {
	store := open(of, name)
	return Store{Sessions: store, Finder: store}
}

func TestMapsThatKeepTheirPromisesPass(t *testing.T) { TestMaps(t, mapsInMemory(correctMap)) }

func TestAMapsHarnessThatIsIncompleteFails(t *testing.T) {
	all := promise.All(mapPromises, "the harness is incomplete")
	promise.ExpectFailures(t, mapPromises, MapsHarness{}, all)
	promise.ExpectFailures(t, mapPromises, MapsHarness{Open: func(testing.TB) Maps { return Maps{} }}, all)
}

// besideOf opens the store into which the defects of TestMapsThatBreakAPromiseFail also write: that of the other data
// map, or that of the customers if the tables belong to them.
func besideOf(of datamap.DataMap, name string, open opensMap) *memory.Store {
	if name == "" && of.SubjectTable().Name == CustomerMap().SubjectTable().Name {
		return open(EmployeeMap(), employeesName)
	}
	return open(CustomerMap(), "")
}

// alsoBeside returns a defect: after each session, it runs the uses that the replaced stores have added, in a session
// of the store beside.
func alsoBeside(replace func(s ports.Session, of datamap.DataMap, also func(sessionUse)) replacedStores) breaksMap {
	return func(of datamap.DataMap, name string, open opensMap) Store {
		good, beside := open(of, name), besideOf(of, name, open)
		broken := func(run doFunc, ctx context.Context, fn sessionFunc) error {
			var uses []sessionUse
			err := run(ctx, func(ctx context.Context, s ports.Session) error {
				return fn(ctx, replace(s, of, func(use sessionUse) { uses = append(uses, use) }))
			})
			for _, use := range uses {
				_ = beside.Do(ctx, use)
			}
			return err
		}
		return Store{Sessions: wrapped(good, broken, asIs), Finder: good}
	}
}

type (
	rectifiesBeside struct {
		ports.SubjectStore
		table string // the subject's table beside
		also  func(sessionUse)
	}
	withdrawsBeside struct {
		ports.Outbox
		also func(sessionUse)
	}
	provesBeside struct {
		ports.AuditLog
		also func(sessionUse)
	}
)

func (b rectifiesBeside) Rectify(
	ctx context.Context, id domain.SubjectID, step domain.RectificationStep,
) (int64, error) {
	beside := step
	beside.Table = b.table
	b.also(func(ctx context.Context, s ports.Session) error { return errOf(s.Subjects().Rectify(ctx, id, beside)) })
	return b.SubjectStore.Rectify(ctx, id, step)
}

func (b withdrawsBeside) Withdraw(ctx context.Context, id domain.SubjectID) ([]domain.OutboxEntry, error) {
	b.also(func(ctx context.Context, s ports.Session) error { return errOf(s.Outbox().Withdraw(ctx, id)) })
	return b.Outbox.Withdraw(ctx, id)
}

func (b provesBeside) AppendEvidence(ctx context.Context, events ...domain.AuditEvent) error {
	b.also(func(ctx context.Context, s ports.Session) error { return s.Audit().Append(ctx, events...) })
	return b.AuditLog.AppendEvidence(ctx, events...)
}

func TestMapsThatBreakAPromiseFail(t *testing.T) {
	type (
		finds  = promise.Finds[MapsHarness]
		defect struct {
			breaks breaksMap
			found  finds
		}
	)
	beside := map[string]string{"customers": "employees", "employees": "customers"}
	broken := func(d defect) (MapsHarness, finds) { return mapsInMemory(d.breaks), d.found }
	promise.ExpectDefects(t, mapPromises, broken, map[string]defect{
		"a rectification of both": {
			alsoBeside(func(s ports.Session, of datamap.DataMap, also func(sessionUse)) replacedStores {
				table := beside[of.SubjectTable().Name]
				return replacedStores{Session: s, subjects: rectifiesBeside{s.Subjects(), table, also}}
			}), finds{"a rectification of the customers: the other data map has changed": {mapErasesItsOwnSubjects}},
		},
		"a withdrawal in both": {
			alsoBeside(func(s ports.Session, _ datamap.DataMap, also func(sessionUse)) replacedStores {
				return replacedStores{Session: s, outbox: withdrawsBeside{s.Outbox(), also}}
			}), finds{"a withdrawal of the customers: the other data map has changed": {mapKeepsItsOutbox}},
		},
		"evidence in both, also in a foreign trail": {
			alsoBeside(func(s ports.Session, _ datamap.DataMap, also func(sessionUse)) replacedStores {
				return replacedStores{Session: s, audit: provesBeside{s.Audit(), also}}
			}), finds{
				"evidence of the customers: the other data map has changed: [trail]": {mapKeepsItsTrail},
				"a refused data map has changed: [trail]":                            {mapOfAnotherSubjectIsRefused},
			},
		},
	})
}
