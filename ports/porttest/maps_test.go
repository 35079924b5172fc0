package porttest

import (
	"context"
	"testing"

	"github.com/habeas-data/habeas/adapters/persistence/memory"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/domain/search"
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
	clearsReasonsBeside struct {
		ports.RestrictionStore
		also func(sessionUse)
	}
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
	advancesBeside struct {
		ports.ErasedStore
		also func(sessionUse)
	}
	renewsBeside struct {
		ports.InstallationStore
		also func(sessionUse)
	}
	acceptsNothing struct{ ports.InstallationStore }
	findsBeside    struct{ own, beside ports.Finder }
)

func (b clearsReasonsBeside) ClearReasons(ctx context.Context, id domain.SubjectID) error {
	b.also(func(ctx context.Context, s ports.Session) error { return s.Restrictions().ClearReasons(ctx, id) })
	return b.RestrictionStore.ClearReasons(ctx, id)
}

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

func (b advancesBeside) Advance(ctx context.Context, reader string, expected, next int64) (bool, error) {
	b.also(func(ctx context.Context, s ports.Session) error {
		return errOf(s.Erased().Advance(ctx, reader, expected, next))
	})
	return b.ErasedStore.Advance(ctx, reader, expected, next)
}

func (b renewsBeside) Renew(ctx context.Context) (datamap.Installation, error) {
	b.also(func(ctx context.Context, s ports.Session) error {
		return errOf(s.Installation().Renew(ctx))
	})
	return b.InstallationStore.Renew(ctx)
}

func (a acceptsNothing) Accept(context.Context) (datamap.Installation, error) {
	return datamap.InstallationOf(CustomerMap()), nil
}

func (f findsBeside) Find(
	ctx context.Context, values []string, progress func(search.Progress),
) (search.Result, error) {
	found, err := f.own.Find(ctx, values, progress)
	if err != nil {
		return found, err
	}
	beside, err := f.beside.Find(ctx, values, progress)
	found.Occurrences = append(found.Occurrences, beside.Occurrences...)
	return found, err
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
		"reasons are cleared everywhere": {
			alsoBeside(func(s ports.Session, _ datamap.DataMap, also func(sessionUse)) replacedStores {
				return replacedStores{Session: s, restrictions: clearsReasonsBeside{s.Restrictions(), also}}
			}), finds{"clearing reasons of the customers: the other data map has changed": {mapKeepsItsLedgers}},
		},
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
		"one position": {
			alsoBeside(func(s ports.Session, _ datamap.DataMap, also func(sessionUse)) replacedStores {
				return replacedStores{Session: s, erased: advancesBeside{s.Erased(), also}}
			}), finds{"a position of the customers: the other data map has changed: [marks]": {mapKeepsItsMarks}},
		},
		"a new id of both": {
			alsoBeside(func(s ports.Session, _ datamap.DataMap, also func(sessionUse)) replacedStores {
				return replacedStores{Session: s, installation: renewsBeside{s.Installation(), also}}
			}), finds{"the other data map has changed: [installation]": {mapHasItsInstallation}},
		},
		"a search of both": {
			func(of datamap.DataMap, name string, open opensMap) Store {
				good := open(of, name)
				return Store{Sessions: good, Finder: findsBeside{good, besideOf(of, name, open)}}
			}, finds{"Find found": {mapFindsInItsOwnTables}},
		},
		"no comparison": {
			func(of datamap.DataMap, name string, open opensMap) Store {
				if name == "" {
					of = CustomerMap()
				}
				return correctMap(of, name, open)
			}, finds{"want a datamap.ForeignMapError": {
				mapOfAnotherSubjectIsRefused, mapIsRecordedByTheFirstCommit, mapCanBeAccepted,
			}, "the duty of invoice 0 ends at": {mapCountsCalendarYearsInItsZone}},
		},
		"a rehearsal that commits": {
			func(of datamap.DataMap, name string, open opensMap) Store {
				good := open(of, name)
				commits := func(_ doFunc, ctx context.Context, fn sessionFunc) error { return good.Do(ctx, fn) }
				return Store{Sessions: wrapped(good, asIs, commits), Finder: good}
			}, finds{"a rehearsal has recorded customers (id bigint)": {mapIsRecordedByTheFirstCommit}},
		},
		"a data map that is not accepted": {
			alsoBeside(func(s ports.Session, _ datamap.DataMap, _ func(sessionUse)) replacedStores {
				return replacedStores{Session: s, installation: acceptsNothing{s.Installation()}}
			}), finds{"the session failed": {mapCanBeAccepted}},
		},
	})
}
