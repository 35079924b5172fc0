package bunstore

import (
	"context"
	"database/sql"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/habeas-data/habeas/domain"
)

// claim is what a claim asks for.
type claim struct {
	table             string // the outbox
	limit             int
	at, until, latest time.Time
	systems           []claimedSystem
}

// claimedSystem is what a claim may take of one resolver.
type claimedSystem struct {
	resolver string
	share    int // taken first
	most     int // taken at most, where others leave something over
	targets  []domain.OutboxTarget
}

// half is the share of the new entries, and of the retries, of a target.
func (s claimedSystem) half() int {
	parts := 2 * max(1, len(s.targets))
	return (s.share + parts - 1) / parts
}

// retriesFirst says which kind comes first, where a share is a single entry.
func (c claim) retriesFirst() bool { return c.at.Second()%2 == 0 }

func newClaim(table string, limit int, at, until time.Time, known []domain.OutboxTarget) claim {
	c := claim{
		table: table, limit: limit, at: at, until: until, latest: domain.LatestNextAttempt(at, until, known),
	}
	for _, target := range known {
		i := slices.IndexFunc(c.systems, func(s claimedSystem) bool { return s.resolver == target.Resolver })
		if i < 0 {
			i = len(c.systems)
			c.systems = append(c.systems, claimedSystem{resolver: target.Resolver, most: limit})
		}
		if target.Limit > 0 {
			c.systems[i].most = min(c.systems[i].most, target.Limit)
		}
		c.systems[i].targets = append(c.systems[i].targets, target)
	}
	for i := range c.systems {
		c.systems[i].share = min((limit+len(c.systems)-1)/len(c.systems), c.systems[i].most)
	}
	return c
}

// parameters collects those of a statement.
type parameters []any

// add returns the name of a parameter, cast to a type.
func (p *parameters) add(value any, sqlType string) string {
	*p = append(*p, value)
	return "CAST($" + strconv.Itoa(len(*p)) + " AS " + sqlType + ")"
}

func (o outbox) Claim(
	ctx context.Context, limit int, at, leaseUntil time.Time, leaseToken string, known ...domain.OutboxTarget,
) ([]domain.OutboxEntry, error) {
	if limit <= 0 {
		return nil, o.usable()
	}
	if err := o.sendEntries(ctx); err != nil {
		return nil, err
	}
	instant := o.store.dialect.instant
	c := newClaim(o.store.tables.outbox, limit, at, leaseUntil, known)
	args := parameters{instant(at), limit, instant(leaseUntil), leaseToken, instant(c.latest)}
	due := o.store.dialect.due(c, &args)
	var claimed []domain.OutboxEntry
	var unreadable []int
	err := o.planned(ctx, "claim", func(rows *sql.Rows) error {
		entry, readable, err := scanEntry(rows)
		if !readable {
			unreadable = append(unreadable, len(claimed))
		}
		claimed = append(claimed, entry)
		return err
	}, due+" UPDATE "+o.store.tables.outbox+" SET status = 'in_flight',"+
		" attempts = CASE WHEN attempts < 2147483647 THEN attempts + 1 ELSE attempts END,"+
		" last_attempt_at = $1, next_attempt_at = $3, lease_token = $4, tried_since = CASE tried_since WHEN "+
		o.store.dialect.beginning()+" THEN $1 ELSE tried_since END WHERE "+
		o.store.dialect.amongst("entry_id", "SELECT entry_id FROM due")+" RETURNING "+entryColumns, args...)
	if err == nil {
		err = o.abandonUnreadable(ctx, claimed, unreadable)
	}
	slices.SortFunc(claimed, domain.OutboxEntry.Compare)
	return claimed, err
}

// abandonUnreadable abandons entries that were claimed and cannot be read. The ref of an erasure stays, so that the
// entry can be repaired and requeued.
func (o outbox) abandonUnreadable(ctx context.Context, claimed []domain.OutboxEntry, unreadable []int) error {
	for chunk := range slices.Chunk(unreadable, mostAtOnce) {
		parameters, args := make([]string, len(chunk)), make([]any, len(chunk))
		for i, at := range chunk {
			entry := &claimed[at]
			parameters[i], args[i] = "$"+strconv.Itoa(i+1), entry.EntryID
			class := domain.LastErrorUnreadable
			entry.Status, entry.LastError = domain.OutboxAbandoned, &class
			entry.NextAttemptAt, entry.LeaseToken, entry.Corrections = nil, nil, nil
		}
		_, err := o.write(ctx, "claim", "UPDATE "+o.store.tables.outbox+" SET status = 'abandoned', last_error = '"+
			domain.LastErrorUnreadable+"', next_attempt_at = NULL, lease_token = NULL,"+
			" ref = CASE WHEN operation = 'rectify' THEN NULL ELSE ref END, corrections = NULL"+
			" WHERE entry_id IN ("+strings.Join(parameters, ", ")+")", args...)
		if err != nil {
			return err
		}
	}
	return nil
}

func (o outbox) Unclaimed(ctx context.Context, dueBefore time.Time, limit int) ([]domain.OutboxEntry, error) {
	if limit <= 0 {
		return nil, o.usable()
	}
	found, err := o.entries(ctx, "find unclaimed", o.store.dialect.unclaimed(o.store.tables.outbox, limit)+
		" UPDATE "+o.store.tables.outbox+" SET last_error = "+literal(domain.LastErrorUnclaimed)+" WHERE "+
		o.store.dialect.amongst("entry_id", "SELECT entry_id FROM due")+" RETURNING "+entryColumns,
		o.store.dialect.instant(dueBefore), limit)
	slices.SortFunc(found, domain.OutboxEntry.Compare)
	return found, err
}

// isUnclaimed is the condition of an entry that was due before $1, and is not marked yet.
const isUnclaimed = isOpen + " AND enqueued_at < $1 AND (next_attempt_at IS NULL OR next_attempt_at < $1)" +
	" AND (last_error IS NULL OR last_error <> '" + domain.LastErrorUnclaimed + "')"
