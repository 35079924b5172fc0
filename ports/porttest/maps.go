package porttest

import (
	"reflect"
	"sync"
	"testing"
	"time"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/domain/erasure"
	"github.com/habeas-data/habeas/internal/tests/promise"
)

// MapsHarness opens databases that hold several data maps, for TestMaps.
type MapsHarness struct {
	// Open opens an empty database and creates the tables of CustomerMap and of EmployeeMap without rows. Open is called
	// once for each case, and registers its cleanup with t.Cleanup. Required.
	Open func(t testing.TB) Maps

	// Patience is the time that a call may take before it counts as blocked. The default for 0 is 10 s.
	Patience time.Duration
}

// Maps is a database under test.
type Maps struct {
	// Open opens another store on the database, as another process does. It creates the tables of habeas for the data map
	// with this name if they do not exist. The fields Sessions and Finder of the store are required, and no other field is
	// used. Required.
	Open func(t testing.TB, of datamap.DataMap, name string) Store
	// Insert inserts a row into a table of the application and commits it immediately. Required.
	Insert func(t testing.TB, table string, row Row)
	// Rows returns all rows of a table of the application, ordered by primary key. Required.
	Rows func(t testing.TB, table string) []Row
}

// TestMaps checks that the data maps of one database are kept apart, and that the tables of habeas belong to one data
// map (see ports.InstallationStore). TestStore does not run this suite, because it opens a store of only one data map.
func TestMaps(t *testing.T, h MapsHarness) {
	t.Helper()
	promise.Hold(t, mapPromises, h, nil)
}

var mapPromises = []promise.Promise[MapsHarness]{
	promise.That(mapKeepsItsLedgers, "A record in the ledgers of one data map is not in those of another one."),
	promise.That(mapErasesItsOwnSubjects,
		"An erasure, a rectification and a sweep do not affect the subject with an equal id in another data map."),
	promise.That(mapKeepsItsRequests, "The requests and the holds of one data map are not in another one."),
	promise.That(mapKeepsItsOutbox, "No call on the outbox of a data map returns or changes an entry of another one."),
	promise.That(mapKeepsItsTrail, "Events of one data map, also evidence, are not in the trail of another one."),
	promise.That(mapKeepsItsMarks, "Marks and the positions of readers belong to one data map."),
	promise.That(mapHasItsInstallation, "Each data map has an installation of its own."),
	promise.That(mapFindsInItsOwnTables, "Find searches the tables of habeas of its own data map only, and names them."),
	promise.That(mapOfAnotherSubjectIsRefused,
		"A data map of another subject table is refused with both names, before anything is read or written."),
	promise.That(mapIsRecordedByTheFirstCommit,
		"The first session that writes and commits records the data map. Reads, rehearsals and rollbacks do not."),
	promise.That(mapCountsCalendarYearsInItsZone,
		"A retention period from the end of the year counts in the zone of the data map, in exports and in erasures."),
	promise.That(mapCanBeAccepted, "Accept records another data map, and the former one is then refused."),
}

// CustomerMap describes the application in the cases of TestMaps. The harness must create the tables of CustomerMap and
// of EmployeeMap in the same database. All columns except primary keys may be null.
//
//	customers  id bigint primary key, email text, phone text
//	invoices   id bigint primary key, customer bigint, address text, issued_at time; customer refers to customers
func CustomerMap() datamap.DataMap { return customerMap() }

// EmployeeMap describes the other people of the application that CustomerMap describes.
//
//	employees  id bigint primary key, email text, phone text
//	payslips   id bigint primary key, employee bigint, address text, issued_at time; employee refers to employees
func EmployeeMap() datamap.DataMap { return employeeMap() }

var (
	customerMap = sync.OnceValue(func() datamap.DataMap { return mapOfPeople("customers", "invoices", "customer") })
	employeeMap = sync.OnceValue(func() datamap.DataMap { return mapOfPeople("employees", "payslips", "employee") })
)

func mapOfPeople(people, documents, person string) datamap.DataMap {
	contact := func(name string) datamap.Column {
		return datamap.Column{Name: name, Type: datamap.TypeText, Personal: &datamap.Annotation{
			Category: domain.CategoryContact, Strategy: domain.StrategyAnonymize,
		}}
	}
	id := datamap.Column{Name: "id", Type: datamap.TypeBigInt}
	m, err := datamap.NewDataMap(
		datamap.Table{
			Name: people, PrimaryKey: []string{"id"}, SubjectKey: []string{"id"},
			Columns: []datamap.Column{id, contact("email"), contact("phone")},
		},
		datamap.Table{
			Name: documents, PrimaryKey: []string{"id"},
			Columns: []datamap.Column{
				id,
				{Name: person, Type: datamap.TypeBigInt},
				{Name: "address", Type: datamap.TypeText, Personal: &datamap.Annotation{
					Category: domain.CategoryFinancial, Strategy: domain.StrategyRetain, Reason: "tax law", Since: "issued_at",
					Retain: datamap.Period{Years: 10},
				}},
				{Name: "issued_at", Type: datamap.TypeTime},
			},
			Relations: []datamap.Relation{
				{Columns: []string{person}, References: people, ReferencedColumns: []string{"id"}},
			},
		},
	)
	if err != nil {
		panic(err) // the tests of the suite check the data map
	}
	return m
}

// employeesName is the name of the employees' data map. The customers' data map has no name.
const employeesName = "staff"

// side is one of two data maps in a database.
type side struct {
	Store
	dataMap datamap.DataMap
	name    string
	plan    datamap.Plan
}

// open opens a database, and fails the case if the harness lacks a required field.
func (h MapsHarness) open(t testing.TB) Maps {
	t.Helper()
	must(t, h.Open != nil, "the harness is incomplete: Open is required")
	maps := h.Open(t)
	must(t, maps.Open != nil && maps.Insert != nil && maps.Rows != nil,
		"the harness is incomplete: Open, Insert and Rows are required")
	return maps
}

// sideOf opens a store for a data map.
func (h MapsHarness) sideOf(t testing.TB, maps Maps, of datamap.DataMap, name string) side {
	t.Helper()
	plan, err := erasure.Planner{}.Plan(of, nil)
	must(t, err == nil, "the plan cannot be built: %v", err)
	store := maps.Open(t, of, name)
	return side{Store{
		Sessions: store.Sessions, Finder: store.Finder, Insert: maps.Insert, Rows: maps.Rows,
		patience: StoreHarness{Patience: h.Patience}.patience(),
	}, of, name, plan}
}

// two opens a database with equal content in the data maps of the customers and of the employees.
func (h MapsHarness) two(t testing.TB) (customers, employees side) {
	t.Helper()
	maps := h.open(t)
	customers = h.sideOf(t, maps, CustomerMap(), "")
	employees = h.sideOf(t, maps, EmployeeMap(), employeesName)
	customers.fill(t)
	employees.fill(t)
	return customers, employees
}

// act is a call on one data map. The result must be the same on two data maps with equal content.
type act struct {
	what   string
	run    func(t testing.TB, s side) any
	hidden bool // the effect is visible only in the result
}

// expectApart runs the acts on the data map of the customers, and then on that of the employees. After each act, it
// checks that the state of the other data map is the same as before. It also checks that the act has changed the state
// of its own data map, and that its result is the same on both data maps.
func expectApart(t testing.TB, h MapsHarness, acts ...act) {
	t.Helper()
	customers, employees := h.two(t)
	results := map[string]any{}
	for _, sides := range [][2]side{{customers, employees}, {employees, customers}} {
		own, other := sides[0], sides[1]
		people := own.dataMap.SubjectTable().Name
		unchanged := other.state(t)
		for _, act := range acts {
			before := own.state(t)
			result := act.run(t, own)
			assert(t, act.hidden || len(differing(before, own.state(t))) > 0, "%s of the %s: nothing has changed",
				act.what, people)
			if different := differing(unchanged, other.state(t)); len(different) > 0 {
				t.Errorf("%s of the %s: the other data map has changed: %v", act.what, people, different)
				unchanged = other.state(t)
			}
			if first, done := results[act.what]; done {
				assert(t, reflect.DeepEqual(first, result), "%s: the result is %v in the second data map, and was %v", act.what,
					result, first)
			}
			results[act.what] = result
		}
	}
}
