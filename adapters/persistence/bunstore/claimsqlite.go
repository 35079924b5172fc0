package bunstore

import (
	"strconv"
	"strings"
	"time"
)

// dueInSQLite is where an entry stands in the index of what is open: what is new comes first.
const dueInSQLite = "COALESCE(next_attempt_at, '')"

// due begins a statement with the entries of a claim. The parameters are at, limit, until, lease token and latest, and
// those that it adds. A transaction that writes has the database to itself, so that nothing need be locked: the entries
// that could be taken are dealt out in turns, to systems first.
func (s sqlite) due(c claim, args *parameters) string {
	var candidates []string
	index := ""
	if len(c.systems) > 0 {
		index = " INDEXED BY habeas_outbox_open" // the planner needs the hint
	}
	add := func(place, most int, kind, condition string) {
		candidates = append(candidates, "SELECT entry_id, "+strconv.Itoa(place)+" AS place, "+kind+" AS kind, "+
			args.add(most, "integer")+" AS most, row_number() OVER (ORDER BY due, enqueued_at, entry_id) AS turn FROM"+
			" (SELECT entry_id, enqueued_at, "+dueInSQLite+" AS due FROM "+c.table+index+" WHERE "+isOpen+condition+
			" ORDER BY "+dueInSQLite+", enqueued_at, entry_id LIMIT $2)")
	}
	fresh, retries := "1", "2"
	if c.retriesFirst() {
		fresh, retries = "2", "1"
	}
	addTarget := func(place, most int, since time.Time, condition string) {
		from := args.add(s.instant(since), "text")
		add(place, most, fresh, condition+" AND "+dueInSQLite+" = '' AND enqueued_at >= "+from)
		add(place, most, retries,
			condition+" AND "+dueInSQLite+" > '' AND "+dueInSQLite+" >= "+from+" AND "+dueInSQLite+" <= $1")
		add(place, most, "3", condition+" AND "+dueInSQLite+" > $5")
	}
	if len(c.systems) == 0 {
		addTarget(0, c.limit, time.Time{}, "")
	}
	for i, system := range c.systems {
		for _, target := range system.targets {
			addTarget(i, system.most, target.DueFrom, " AND resolver = "+args.add(target.Resolver, "text")+
				" AND operation = "+args.add(string(target.Operation), "text"))
		}
	}
	return "WITH due AS (SELECT entry_id FROM (SELECT entry_id, place, rank FROM (SELECT entry_id, place, most," +
		" row_number() OVER (PARTITION BY place ORDER BY turn, kind) AS rank" +
		" FROM (" + strings.Join(candidates, " UNION ALL ") +
		")) WHERE rank <= most UNION ALL SELECT entry_id, 0, 1 FROM (SELECT entry_id FROM " + c.table + " WHERE " + isOpen +
		" AND last_attempt_at > $3" + isOfSystems(c, args) + " ORDER BY last_attempt_at LIMIT $2))" +
		" GROUP BY entry_id ORDER BY min(rank), min(place) LIMIT $2)"
}

// unclaimed looks at all that is open.
func (sqlite) unclaimed(table string, _ int) string {
	return "WITH due AS (SELECT entry_id FROM " + table + " INDEXED BY habeas_outbox_open WHERE " + isUnclaimed +
		" ORDER BY enqueued_at, entry_id LIMIT $2)"
}

func (sqlite) amongst(column, query string) string { return column + " IN (" + query + ")" }

func (sqlite) ofOperations(_, list string) string {
	return isUnfinished + " AND (subject_id, operation) IN (" + list + ")"
}

func (sqlite) oneByOne(string) string { return "TRUE" } // it does by itself

func (sqlite) elements(parameter string) string {
	return "SELECT value FROM json_each(" + parameter + ")"
}

func (sqlite) beginning() string { return "''" }
