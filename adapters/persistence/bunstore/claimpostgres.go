package bunstore

import (
	"strconv"
	"strings"

	"github.com/habeas-data/habeas/domain"
)

// dueInPostgres is where an entry stands in the index of what is open: what is new comes first.
const dueInPostgres = "COALESCE(next_attempt_at, '-infinity')"

// everyTarget is a common table expression of the resolvers and operations that have open entries. It steps from one to
// the next in the index.
func (p postgres) everyTarget(table string) string {
	const order = " ORDER BY resolver, operation LIMIT 1)"
	one := "(SELECT resolver, operation FROM " + table + " WHERE " + isOpen + " AND " + p.oneByOne("entry_id")
	return "targets (resolver, operation) AS (" + one + order + " UNION ALL SELECT next.resolver, next.operation" +
		" FROM targets CROSS JOIN LATERAL " + one + " AND (resolver, operation) > (targets.resolver, targets.operation)" +
		order + " AS next)"
}

// due begins a statement with the entries of a claim, which it locks; entries that another transaction has locked are
// passed over. The parameters are at, limit, until, lease token and latest, and those that it adds.
//
// The statement locks no row that it does not take, because the limit ends it. First each system has its share. Then
// each system takes, behind its share, the places that are left over. Within a system, the levels are: the halves of
// new entries and of retries; the entries that a wrong clock put off; and the rest of both halves. The numbers that a
// planner has to know are part of the text.
func (p postgres) due(c claim, args *parameters) string {
	limit := strconv.Itoa(c.limit)
	with, systems, targets := "WITH ", p.systems(c, args), p.targets(c, args)
	if len(c.systems) == 0 {
		with += "RECURSIVE " + p.everyTarget(c.table) + ", "
		systems = "SELECT 1 AS place, resolver, operation AS only, 0 AS passed, " + limit + " AS most FROM targets"
		targets = "SELECT 1 AS place, 1 AS number, s.only AS operation, CAST('-infinity' AS timestamptz) AS since, " +
			strconv.Itoa((c.limit+1)/2) + " AS half"
	}
	fresh, retries := "1", "2"
	if c.retriesFirst() {
		fresh, retries = "2", "1"
	}
	const afterNew = "GREATEST(t.since, CAST('0001-01-01' AS timestamptz))" // where the retries begin
	return with + "due AS MATERIALIZED (SELECT e.entry_id FROM (" +
		"SELECT e.entry_id FROM (" + systems + ") AS s CROSS JOIN LATERAL (" +
		"SELECT x.entry_id FROM (" +
		"SELECT t.operation, r.low, r.since, r.high, r.passed, r.most FROM (" + targets + ") AS t" +
		" CROSS JOIN LATERAL (VALUES" +
		" (" + fresh + ", CAST('-infinity' AS timestamptz), t.since, CAST('-infinity' AS timestamptz), 0, t.half)," +
		" (" + retries + ", " + afterNew + ", '-infinity', CAST($1 AS timestamptz), 0, t.half)," +
		" (3, CAST($5 AS timestamptz), 'infinity', 'infinity', 0, t.half)," +
		" (4, '-infinity', t.since, '-infinity', t.half, " + limit + ")," +
		" (5, " + afterNew + ", '-infinity', CAST($1 AS timestamptz), t.half, " + limit + ")" +
		") AS r (level, low, since, high, passed, most) WHERE t.place = s.place ORDER BY r.level, t.number) AS k" +
		" CROSS JOIN LATERAL (SELECT y.entry_id FROM (SELECT entry_id FROM " + c.table + " WHERE " + isOpen +
		" AND resolver = s.resolver AND operation = k.operation" +
		" AND (" + dueInPostgres + ", enqueued_at) >= (k.low, k.since) AND " + dueInPostgres + " <= k.high" +
		" AND " + p.oneByOne("entry_id") +
		" ORDER BY " + dueInPostgres + ", enqueued_at, entry_id LIMIT " + limit + " FOR UPDATE SKIP LOCKED) AS y" +
		" OFFSET k.passed LIMIT k.most) AS x" +
		" OFFSET s.passed LIMIT s.most) AS e" +
		" UNION ALL SELECT e.entry_id FROM (SELECT entry_id FROM " + c.table + " WHERE " + isOpen +
		" AND last_attempt_at > CAST($3 AS timestamptz)" + isOfSystems(c, args) +
		" ORDER BY last_attempt_at LIMIT " + limit + " FOR UPDATE SKIP LOCKED) AS e" +
		") AS e LIMIT $2)"
}

// systems are those of a claim, each with its share, then each with what may come behind that.
func (postgres) systems(c claim, args *parameters) string {
	var rows []string
	for turn := range min(2, len(c.systems)) {
		for i, s := range c.systems {
			passed, most := 0, s.share
			if turn > 0 {
				passed, most = s.share, s.most-s.share
			}
			rows = append(rows, "("+strings.Join([]string{
				strconv.Itoa(len(rows)), strconv.Itoa(i), args.add(s.resolver, "text"), args.add(passed, "integer"),
				args.add(most, "integer"),
			}, ", ")+")")
		}
	}
	return "SELECT place, resolver, passed, most FROM (VALUES " + strings.Join(rows, ", ") +
		") AS s (turn, place, resolver, passed, most) ORDER BY turn"
}

// targets are those of all systems.
func (p postgres) targets(c claim, args *parameters) string {
	var rows []string
	for i, s := range c.systems {
		for j, target := range s.targets {
			rows = append(rows, "("+strings.Join([]string{
				strconv.Itoa(i), strconv.Itoa(j), args.add(string(target.Operation), "text"),
				args.add(p.since(target), "timestamptz"), args.add(s.half(), "integer"),
			}, ", ")+")")
		}
	}
	return "SELECT * FROM (VALUES " + strings.Join(rows, ", ") + ") AS t (place, number, operation, since, half)"
}

// since is the instant from which a claim looks.
func (p postgres) since(target domain.OutboxTarget) any {
	if target.DueFrom.IsZero() {
		return "-infinity"
	}
	return p.instant(target.DueFrom)
}

// isOfSystems is the condition that an entry is for one of the targets: a CASE, in which no planner sees an index.
func isOfSystems(c claim, args *parameters) string {
	if len(c.systems) == 0 {
		return ""
	}
	condition := " AND CASE"
	for _, s := range c.systems {
		for _, target := range s.targets {
			condition += " WHEN resolver = " + args.add(s.resolver, "text") +
				" AND operation = " + args.add(string(target.Operation), "text") + " THEN TRUE"
		}
	}
	return condition + " ELSE FALSE END"
}

// unclaimed looks at each target for itself, so that one of them hides no other.
func (p postgres) unclaimed(table string, limit int) string {
	most := strconv.Itoa(limit)
	one := func(order, bound string) string {
		return "(SELECT entry_id, enqueued_at FROM " + table + " WHERE " + isUnclaimed + bound +
			" AND " + p.oneByOne("entry_id") +
			" AND resolver = targets.resolver AND operation = targets.operation ORDER BY " + order + " LIMIT " + most +
			" FOR UPDATE SKIP LOCKED)"
	}
	const order = dueInPostgres + ", enqueued_at, entry_id"
	return "WITH RECURSIVE " + p.everyTarget(table) +
		", due AS MATERIALIZED (SELECT e.entry_id FROM targets CROSS JOIN LATERAL (" +
		"SELECT * FROM " + one(order, " AND "+dueInPostgres+" = '-infinity'") + " AS fresh UNION ALL SELECT * FROM " +
		one(order, " AND "+dueInPostgres+" > '-infinity' AND "+dueInPostgres+" < $1") + " AS retries) AS e" +
		" ORDER BY e.enqueued_at, e.entry_id LIMIT $2)"
}

func (p postgres) amongst(column, query string) string {
	return column + " = ANY (ARRAY(" + query + ")) AND " + p.oneByOne(column)
}

// ofOperations looks up each of them in the index by subject, however few entries the planner thinks that there are.
func (p postgres) ofOperations(table, list string) string {
	return p.amongst("entry_id", "SELECT e.entry_id FROM ("+list+") AS o (subject, operation) CROSS JOIN LATERAL"+
		" (SELECT entry_id FROM "+table+" WHERE subject_id = o.subject AND operation = o.operation AND "+isUnfinished+
		" AND "+p.oneByOne("entry_id")+" OFFSET 0) AS e")
}

// oneByOne is always true and costs almost nothing, but planners estimate a high cost for it: they look up rows in an
// index instead of reading the whole table. They would read the table while it is small, and would keep that plan when
// the table has grown.
func (postgres) oneByOne(column string) string {
	return "(SELECT count(*) FROM generate_series(1, 0 * length(" + column + "))) = 0"
}

func (postgres) elements(parameter string) string {
	return "SELECT jsonb_array_elements_text(CAST(" + parameter + " AS jsonb))"
}

func (postgres) beginning() string { return "'-infinity'" }
