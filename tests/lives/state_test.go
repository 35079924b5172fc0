package lives

import (
	"maps"
	"slices"
	"time"
)

// member is the row of a member.
type member struct {
	owner int       // the person whose row it is
	email string    // "" after an erasure
	added time.Time // the creation time, or zero
}

// child is a row that belongs to a member: a note, an invoice or a receipt.
type child struct {
	table     string
	id        string // of the member
	owner     int
	recipient string // of an invoice; "" after an erasure
	address   string // "" after an erasure or a sweep
	issued    time.Time
}

// rows are the rows of the application.
type rows struct {
	members  map[string]member
	children map[int64]child
}

func (r rows) clone() rows { return rows{maps.Clone(r.members), maps.Clone(r.children)} }

// record is a record of a ledger.
type record struct {
	owner   int
	text    string // a text of the owner in the record
	granted bool   // or restricted
}

// ledger has the records of each id.
type ledger map[string][]record

func (l ledger) clone() ledger {
	copied := ledger{}
	for id, records := range l {
		copied[id] = slices.Clone(records)
	}
	return copied
}

// mark is what a database records about the erasures of an id.
type mark struct {
	erased          bool
	number          int64
	at              time.Time // by the clock of the process
	trulyAt         time.Time
	added           time.Time // the creation time of the row that the erasure found
	registered      bool      // since the last erasure
	registeredAdded time.Time
	consents        int // so many records of the ledgers belong to earlier lives
	restrictions    int
}

// state is the content of a database.
type state struct {
	rows
	consents     ledger
	restrictions ledger
	marks        map[string]mark
	last         map[string]int      // the last person who had the id
	loose        map[string]bool     // the ids whose register must call Registered
	until        map[time.Time]int64 // see replay.restoredTo: the position of the first replay with an instant

	recorded map[string]map[string]int64 // what verifications have found left over, by id and place, and not cleared
}

func newState() state {
	return state{
		rows: rows{map[string]member{}, map[int64]child{}}, consents: ledger{}, restrictions: ledger{},
		marks: map[string]mark{}, last: map[string]int{}, loose: map[string]bool{}, until: map[time.Time]int64{},
		recorded: map[string]map[string]int64{},
	}
}

func (s state) clone() state {
	return state{
		s.rows.clone(), s.consents.clone(), s.restrictions.clone(), maps.Clone(s.marks), maps.Clone(s.last),
		maps.Clone(s.loose), maps.Clone(s.until), maps.Clone(s.recorded),
	}
}

// backup is a backup of a database.
type backup struct {
	state  state
	at     time.Time
	rows   dump // of the application, as they are stored
	stored any  // the whole database
}

// line is a line of the journal, which is outside of the database.
type line struct {
	id     string
	number int64
	added  time.Time
}
