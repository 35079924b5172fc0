package porttest

import (
	"context"
	"strconv"
	"testing"
	"time"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports"
)

// ledger has the functions that the cases need for records of the type R. The cases of the consent ledger and of the
// restriction ledger therefore share their code.
type ledger[R any] struct {
	scopes  map[string]*string // the purposes, by a name for messages
	record  func(of domain.SubjectID, purpose *string, name string, yes bool, seconds int) R
	values  func(of domain.SubjectID, purpose *string) []R // records with every field set
	at      func(record *R) *time.Time
	of      func(record R) (domain.SubjectID, *string)
	name    func(record R) string
	append  func(ctx context.Context, s ports.Session, record R) error
	history func(ctx context.Context, s ports.Session, id domain.SubjectID, purpose *string) ([]R, error)
	latest  func(ctx context.Context, s ports.Session, id domain.SubjectID, purpose *string) (*R, error)
}

// add appends the records: all in one session if inOne is true, and otherwise each in a separate session.
func (l ledger[R]) add(t testing.TB, store Store, inOne bool, records ...R) {
	t.Helper()
	appendAll(t, store, inOne, records, l.append)
}

// openWith opens a store and appends the records: all in one session if inOne is true, and otherwise each in a separate
// session.
func (l ledger[R]) openWith(t testing.TB, h StoreHarness, inOne bool, records ...R) Store {
	t.Helper()
	store := h.open(t)
	l.add(t, store, inOne, records...)
	return store
}

func (l ledger[R]) all(t testing.TB, store Store, id domain.SubjectID, purpose *string) []R {
	t.Helper()
	return read(t, store, func(ctx context.Context, s ports.Session) ([]R, error) {
		return l.history(ctx, s, id, purpose)
	})
}

func (l ledger[R]) inForce(t testing.TB, store Store, id domain.SubjectID, purpose *string) *R {
	t.Helper()
	return read(t, store, func(ctx context.Context, s ports.Session) (*R, error) { return l.latest(ctx, s, id, purpose) })
}

func (l ledger[R]) nameOf(record *R) string {
	if record == nil {
		return ""
	}
	return l.name(*record)
}

// expect compares a complete history with the wanted records, in order. It ignores the time zones of instants, because
// another case checks them.
func (l ledger[R]) expect(t testing.TB, what string, got []R, want ...R) {
	t.Helper()
	for i := range got {
		*l.at(&got[i]) = l.at(&got[i]).UTC()
	}
	expectWhole(t, what, l.name, got, want...)
}

func (l ledger[R]) comesBackAsAppended(t testing.TB, h StoreHarness) {
	id := subject(t, "acme", 1)
	for scope, purpose := range l.scopes {
		records := l.values(id, purpose)
		store := l.openWith(t, h, true, records...)
		history, latest := l.all(t, store, id, purpose), l.inForce(t, store, id, purpose)
		if latest == nil {
			t.Errorf("there is no %s record in force", scope)
			continue
		}
		l.expect(t, scope+" history and latest", append(history, *latest), append(records, records[len(records)-1])...)
	}
}

func (l ledger[R]) instantsAreInUTCAndMicroseconds(t testing.TB, h StoreHarness) {
	store, id, number := h.open(t), subject(t, "acme", 1), 0
	for given, want := range instantsToRound() {
		number++
		purpose := pointer("news-" + strconv.Itoa(number))
		record := l.record(id, purpose, "api", true, 0)
		*l.at(&record) = given
		l.add(t, store, true, record)
		for _, recorded := range l.all(t, store, id, purpose) {
			expectInstant(t, "RecordedAt in the history", *l.at(&recorded), given, want)
		}
		latest := l.inForce(t, store, id, purpose)
		if latest == nil {
			t.Errorf("a record of %v is not in force", given)
			continue
		}
		expectInstant(t, "RecordedAt of the latest record", *l.at(latest), given, want)
	}
}

func (l ledger[R]) isReadByItsOwnSession(t testing.TB, h StoreHarness) {
	id := subject(t, "acme", 1)
	do(t, h.open(t), func(ctx context.Context, s ports.Session) error {
		for i := range 3 {
			for scope, purpose := range l.scopes {
				name := scope + strconv.Itoa(i)
				if err := l.append(ctx, s, l.record(id, purpose, name, true, i)); err != nil {
					return err
				}
				latest, err := l.latest(ctx, s, id, purpose)
				if err != nil {
					return err
				}
				assert(t, l.nameOf(latest) == name, "after append %s the session reads %q in force", name, l.nameOf(latest))
				history, err := l.history(ctx, s, id, purpose)
				if err != nil {
					return err
				}
				assert(t, len(history) == i+1, "after append %s the session reads a history of %d", name, len(history))
			}
		}
		return nil
	})
}

// instantOrders are lists of instants, in seconds after noon. A case appends one record for each instant of a list, in
// the order of the list. Nodes with different clocks may produce such an order.
var instantOrders = [][]int{{0, 1, 2}, {2, 1, 0}, {1, 0, 2}, {0, 2, 1}, {0, 0, 0}, {3600, -3600, 0}}

func (l ledger[R]) recordedLastIsInForce(t testing.TB, h StoreHarness) {
	for _, inOne := range inOneAndMany {
		store := h.open(t)
		for i, instants := range instantOrders {
			for j, yes := range []bool{true, false} {
				id := subject(t, "acme", int64(2*i+j))
				for scope, purpose := range l.scopes {
					l.add(t, store, inOne, l.record(id, purpose, "z", yes, instants[0]),
						l.record(id, purpose, "a", !yes, instants[1]), l.record(id, purpose, "last", yes, instants[2]))
					name := l.nameOf(l.inForce(t, store, id, purpose))
					assert(t, name == "last",
						"%s: of records at %v s, %q is in force, want the record that was appended last", scope, instants, name)
				}
			}
		}
	}
}

func (l ledger[R]) historyIsInTheOrderOfRecording(t testing.TB, h StoreHarness) {
	for _, inOne := range inOneAndMany {
		store := h.open(t)
		for i, instants := range instantOrders {
			id := subject(t, "acme", int64(i))
			for scope, purpose := range l.scopes {
				records := []R{
					l.record(id, purpose, "c", true, instants[0]), l.record(id, purpose, "a", false, instants[1]),
					l.record(id, purpose, "b", true, instants[2]),
				}
				l.add(t, store, inOne, records...)
				expectRecords(t, scope+" history", l.name, l.all(t, store, id, purpose), records...)
			}
		}
	}
}

func (l ledger[R]) onlyGrows(t testing.TB, h StoreHarness) {
	id := subject(t, "acme", 1)
	for scope, purpose := range l.scopes {
		var records []R
		for _, yes := range []bool{true, true, false, true} {
			records = append(records, l.record(id, purpose, "v1", yes, 0))
		}
		for _, inOne := range inOneAndMany {
			store := l.openWith(t, h, inOne, records...)
			expectRecords(t, scope+" history", l.name, l.all(t, store, id, purpose), records...)
		}
	}
}

func (l ledger[R]) purposesAreComparedExactly(t testing.TB, h StoreHarness) {
	id := subject(t, "acme", 1)
	var records []R
	for i, purpose := range distinctTexts() {
		records = append(records, l.record(id, &purpose, strconv.Itoa(i), true, 0))
	}
	l.expectApart(t, h, records)
}

func (l ledger[R]) subjectsAreKeptApart(t testing.TB, h StoreHarness) {
	var records []R
	for i, id := range distinctSubjects(t) {
		for scope, purpose := range l.scopes {
			records = append(records, l.record(id, purpose, scope+"-"+strconv.Itoa(i), true, 0))
		}
	}
	l.expectApart(t, h, records)
}

// expectApart appends records of different subjects and purposes. It checks that the history of each subject and
// purpose contains only its own record.
func (l ledger[R]) expectApart(t testing.TB, h StoreHarness, records []R) {
	t.Helper()
	do(t, l.openWith(t, h, true, records...), func(ctx context.Context, s ports.Session) error {
		for _, record := range records {
			if t.Failed() { // the other records would fail in the same way
				return nil
			}
			id, purpose := l.of(record)
			history, err := l.history(ctx, s, id, purpose)
			if err != nil {
				return err
			}
			what := strconv.QuoteToASCII(id.String())
			if purpose != nil {
				what += ", " + strconv.QuoteToASCII(*purpose)
			}
			expectRecords(t, "the history of "+what, l.name, history, record)
			latest, err := l.latest(ctx, s, id, purpose)
			if err != nil {
				return err
			}
			assert(t, l.nameOf(latest) == l.name(record),
				"the record in force of %s is %q, want %q", what, l.nameOf(latest), l.name(record))
		}
		return nil
	})
}

// instantsToRound maps instants, some with nanoseconds or another time zone, to the instants that a store must return.
func instantsToRound() map[time.Time]time.Time {
	east, west := time.FixedZone("east", 5*3600+1800), time.FixedZone("west", -8*3600)
	return map[time.Time]time.Time{
		noon.In(east):                   noon,
		noon.Add(999).In(west):          noon,
		noon.Add(500 * time.Nanosecond): noon,
		noon.Add(-1):                    noon.Add(-time.Microsecond),
		noon.Truncate(time.Second):      noon.Truncate(time.Second),
		time.Date(1969, 7, 20, 20, 17, 40, 1001, time.UTC):   time.Date(1969, 7, 20, 20, 17, 40, 1000, time.UTC),
		time.Date(2999, 12, 31, 23, 59, 59, 999999999, west): time.Date(3000, 1, 1, 7, 59, 59, 999999000, time.UTC),
	}
}

// expectInstant checks that got, an instant that a store has returned, equals want and is in UTC. A failure also shows
// the instant that was appended.
func expectInstant(t testing.TB, what string, got, given, want time.Time) {
	t.Helper()
	if !got.Equal(want) {
		t.Errorf("%s was given as %v and returned as %v, want %v", what, given, got, want)
	} else if got.Location() != time.UTC {
		t.Errorf("%s is returned in the location %v, not in UTC", what, got.Location())
	}
}
