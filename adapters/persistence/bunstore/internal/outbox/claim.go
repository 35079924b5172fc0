package outbox

import (
	"context"
	"database/sql"
	"math/bits"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/syntax"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/unsent"
	"github.com/habeas-data/habeas/domain"
)

// maxTakes is the maximum number of takes in one statement. SQLite limits the length of a UNION ALL.
const maxTakes = 200

// Claim implements ports.Outbox.
func (o *Session) Claim(ctx context.Context, query domain.ClaimQuery) (claimed []domain.OutboxEntry, err error) {
	if err := o.db.Usable(); err != nil || len(query.Takes) == 0 {
		return nil, err
	}
	if err := o.unsent.Send(ctx, unsent.Entries); err != nil {
		return nil, err
	}
	if err := o.db.Begin(ctx); err != nil { // a wait for a connection does not make a scan slow
		return nil, err
	}
	takes, fromMarks := o.store.marks.takes(query.Takes)
	began := time.Now()
	if claimed, err = o.claim(ctx, query, takes); err != nil {
		return nil, err
	}
	o.store.marks.claimed(query.Now, query.Takes, claimed)
	slices.SortFunc(claimed, domain.OutboxEntry.Compare)
	if fromMarks || !o.store.dialect.CombinesChanges() { // SQLite has no dead rows
		return claimed, nil
	}
	return claimed, o.store.marks.readAll(time.Since(began), func() (dead int64, err error) {
		err = o.db.Read(ctx, "claim", func(rows *sql.Rows) error { return rows.Scan(&dead) }, o.store.deadRows)
		return dead, err
	})
}

const claimEntries = `
	UPDATE {outbox} SET
		status = 'in_flight',
		attempts = CASE WHEN attempts < 2147483647 THEN attempts + 1 ELSE attempts END,
		last_attempt_at = $1, next_attempt_at = $2, lease_token = $3,
		tried_since = CASE WHEN tried_since > {earliest instant} THEN tried_since ELSE $1 END
	WHERE {due}
	RETURNING {entry}`

// claimStatement returns the statement that claims due outbox entries and returns these entries. It takes the entries
// of takes, and ignores query.Takes.
func (o *Store) claimStatement(query domain.ClaimQuery, takes []markedTake) (text string, args []any, err error) {
	d := o.dialect
	all := syntax.Args{
		d.Instant(query.Now), d.Instant(query.LeaseUntil), query.LeaseToken, d.Instant(query.LatestNextAttempt()),
	}
	due, err := o.own.dueEntries(o.tables, takes, &all)
	return due + " " + o.claim, all, err
}

// claim claims the due entries of the takes, in one statement unless there are very many takes.
func (o *Session) claim(
	ctx context.Context, query domain.ClaimQuery, takes []markedTake,
) (claimed []domain.OutboxEntry, err error) {
	takes = slices.DeleteFunc(takes, func(t markedTake) bool { return t.Fresh <= 0 && t.Retries <= 0 })
	var unreadable []int
	for chunk := range slices.Chunk(takes, maxTakes) {
		text, args, err := o.store.claimStatement(query, chunk)
		if err != nil {
			return nil, err
		}
		if err := o.db.WriteRows(ctx, "claim", func(rows *sql.Rows) error {
			entry, readable, err := scanEntry(rows)
			if !readable {
				unreadable = append(unreadable, len(claimed))
			}
			claimed = append(claimed, entry)
			return err
		}, text, args...); err != nil {
			return nil, err
		}
	}
	return claimed, o.abandonUnreadable(ctx, claimed, unreadable)
}

// turn is the expression for the instant by which a claim orders entries that have been due equally long. The index of
// open entries contains the same expression.
const turn = "COALESCE(turn_at, enqueued_at)"

const (
	// dueInPostgres is the expression for the due instant of an outbox entry. The index of open entries contains the same
	// expression. A new entry sorts first, because it has no next attempt.
	dueInPostgres = "COALESCE(next_attempt_at, '-infinity')"

	// dueInTurn selects and locks the due outbox entries of a claim. $5 is a JSON array of takes. The inner LIMIT {most}
	// and LIMIT {takes} are numbers in the text, because the planner must know them. They are at least as high as the
	// numbers of the takes, and as the number of takes. The outer LIMIT stops the scan, so the statement locks only the
	// entries that it selects.
	//
	// The retries of a take have three parts: retries that are due, entries whose next attempt is later than $4, and
	// entries whose last attempt is later than the end of the new lease ($2). A wrong clock has written the instants of
	// the last two parts. The conditions of the last part are a CASE expression, so that the planner chooses the index of
	// the last attempts.
	dueInTurn = `
		WITH due AS MATERIALIZED (
			SELECT e.entry_id FROM (
				SELECT * FROM jsonb_to_recordset(CAST($5 AS jsonb)) AS t (
					resolver text, operation text, fresh integer, retries integer,
					fresh_from timestamptz, retries_from timestamptz
				) LIMIT {takes}
			) AS take CROSS JOIN LATERAL (
				(SELECT f.entry_id FROM (
					SELECT entry_id FROM {outbox}
					WHERE {of take} AND {due} = '-infinity' AND {turn} >= take.fresh_from
						AND {prefer index}
					ORDER BY {due}, {turn}, entry_id LIMIT {most} FOR UPDATE SKIP LOCKED
				) AS f LIMIT take.fresh)
				UNION ALL
				(SELECT r.entry_id FROM (
					SELECT * FROM (
						SELECT entry_id FROM {outbox}
						WHERE {of take} AND {due} >= GREATEST(take.retries_from, CAST('0001-01-01' AS timestamptz))
							AND {due} <= CAST($1 AS timestamptz) AND {prefer index}
						ORDER BY {due}, {turn}, entry_id LIMIT {most} FOR UPDATE SKIP LOCKED
					) AS overdue
					UNION ALL
					SELECT * FROM (
						SELECT entry_id FROM {outbox}
						WHERE {of take} AND {due} > CAST($4 AS timestamptz) AND {prefer index}
						ORDER BY {due}, {turn}, entry_id LIMIT {most} FOR UPDATE SKIP LOCKED
					) AS postponed
					UNION ALL
					SELECT * FROM (
						SELECT entry_id FROM {outbox}
						WHERE stage = 0 AND last_attempt_at > CAST($2 AS timestamptz)
							AND CASE WHEN resolver = take.resolver AND operation = take.operation
								AND {due} > CAST($1 AS timestamptz) AND {due} <= CAST($4 AS timestamptz) THEN TRUE ELSE FALSE END
						ORDER BY last_attempt_at LIMIT {most} FOR UPDATE SKIP LOCKED
					) AS tried_later
				) AS r LIMIT take.retries)
			) AS e)`
)

// dueEntries returns a statement that locks the due outbox entries, and skips entries that another transaction has
// locked.
func (postgres) dueEntries(tables syntax.Tables, takes []markedTake, args *syntax.Args) (string, error) {
	type row struct {
		Resolver    string `json:"resolver"`
		Operation   string `json:"operation"`
		Fresh       int    `json:"fresh"`
		Retries     int    `json:"retries"`
		FreshFrom   any    `json:"fresh_from"`
		RetriesFrom any    `json:"retries_from"`
	}
	bound := func(at time.Time) any {
		if !at.After(time.Time{}) {
			return "-infinity"
		}
		return syntax.Postgres.Instant(at)
	}
	rows, most := make([]row, len(takes)), 0
	for i, t := range takes {
		rows[i] = row{
			t.Resolver, string(t.Operation), max(0, t.Fresh), max(0, t.Retries),
			bound(t.freshFrom), bound(t.retriesFrom),
		}
		most = max(most, t.Fresh, t.Retries)
	}
	list, err := syntax.JSON("outbox", rows)
	*args = append(*args, list)
	return tables.Fill(dueInTurn,
		"of take", "stage = 0 AND resolver = take.resolver AND operation = take.operation",
		"most", powerOfTwo(most), "takes", powerOfTwo(len(takes)),
		"due", dueInPostgres, "turn", turn, "prefer index", syntax.Postgres.PreferIndex("entry_id")), err
}

// powerOfTwo returns the lowest power of two that is not below n, as a number for the text of a statement. The database
// thus prepares few different statements.
func powerOfTwo(n int) string { return strconv.Itoa(1 << bits.Len(uint(max(1, n)-1))) }

const (
	// dueInSQLite is the expression for the due instant of an outbox entry. The index of open entries contains the same
	// expression. A new entry sorts first, because it has no next attempt.
	dueInSQLite = "COALESCE(next_attempt_at, '')"

	// freshInSQLite and retriesInSQLite select the due outbox entries of a take, the first to take first. The retries
	// have three parts: retries that are due, entries whose next attempt is later than $4, and entries whose last attempt
	// is later than the end of the new lease ($2). A wrong clock has written the instants of the last two parts.
	freshInSQLite = `
		SELECT entry_id FROM (
			SELECT entry_id FROM {open entries} AND {due} = '' ORDER BY {due}, {turn}, entry_id LIMIT {fresh})`

	retriesInSQLite = `
		SELECT entry_id FROM (
			SELECT entry_id FROM (
				SELECT entry_id FROM {open entries} AND {due} > '' AND {due} <= $1
				ORDER BY {due}, {turn}, entry_id LIMIT {retries})
			UNION ALL
			SELECT entry_id FROM (
				SELECT entry_id FROM {open entries} AND {due} > $4 ORDER BY {due}, {turn}, entry_id LIMIT {retries})
			UNION ALL
			SELECT entry_id FROM (
				SELECT entry_id FROM {outbox} INDEXED BY {prefix}outbox_tried
				WHERE stage = 0 AND last_attempt_at > $2 AND resolver = {resolver} AND operation = {operation}
					AND {due} > $1 AND {due} <= $4
				ORDER BY last_attempt_at LIMIT {retries})
			LIMIT {retries})`

	// openInSQLite has an index hint, because the planner could choose another index.
	openInSQLite = `
		{outbox} INDEXED BY {prefix}outbox_open WHERE stage = 0 AND resolver = {resolver} AND operation = {operation}`
)

// dueEntries returns a statement without row locks, because SQLite has only one writing transaction at a time. It
// ignores the marks of the takes, because SQLite removes dead rows immediately.
func (sqlite) dueEntries(tables syntax.Tables, takes []markedTake, args *syntax.Args) (string, error) {
	var parts []string
	for _, take := range takes {
		resolver, operation := args.Add(take.Resolver, "text"), args.Add(string(take.Operation), "text")
		for _, part := range []struct {
			text string
			most int
		}{{freshInSQLite, take.Fresh}, {retriesInSQLite, take.Retries}} {
			if part.most <= 0 {
				continue
			}
			most := args.Add(part.most, "integer")
			part.text = strings.ReplaceAll(part.text, "{open entries}", strings.TrimSpace(openInSQLite))
			parts = append(parts, tables.Fill(part.text, "resolver", resolver, "operation", operation, "due", dueInSQLite,
				"turn", turn,
				"fresh", most, "retries", most))
		}
	}
	return "WITH due AS (" + strings.Join(parts, " UNION ALL ") + ")", nil
}

// deadRows counts the dead rows of an outbox that may be partitioned.
const deadRows = `
	SELECT CAST(COALESCE(sum(pg_stat_get_dead_tuples(o.relid)), 0) AS bigint) FROM (
		SELECT CAST(to_regclass({outbox name}) AS oid)
		UNION SELECT CAST(relid AS oid) FROM pg_partition_tree(to_regclass({outbox name}))
	) AS o (relid)`
