package sqltext

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/habeas-data/habeas/domain"
)

// Claim holds the parameters of a statement that claims outbox entries.
type Claim struct {
	limit                 int // the maximum number of entries
	claimedAt, leaseUntil time.Time
	latestNextAttempt     time.Time // see domain.LatestNextAttempt
	systems               []claimedSystem
}

// claimedSystem holds the limits of a claim for one external system. Each resolver has its own external system.
type claimedSystem struct {
	resolver string
	share    int // the number of entries that the claim takes first from this system
	maximum  int // the maximum number of entries from this system
	targets  []domain.OutboxTarget
}

// halfShare returns half of the share of one target (a resolver and an operation), rounded up. A claim first takes at
// most this number of new outbox entries, and the same number of retries.
func (s claimedSystem) halfShare() int {
	parts := 2 * max(1, len(s.targets))
	return (s.share + parts - 1) / parts
}

// levels returns two priorities as SQL numbers: one for new outbox entries and one for retries. A claim takes the
// entries with the lower number first. The two numbers swap every second. Otherwise, a claim of a single entry would
// always prefer the same kind.
func (c Claim) levels() (fresh, retries string) {
	if c.claimedAt.Second()%2 == 0 {
		return "2", "1"
	}
	return "1", "2"
}

// NewClaim divides the limit of a claim into equal shares for the external systems of the known targets (resolver and
// operation). The share of a system is at most the lowest limit of its targets.
func NewClaim(limit int, at, leaseUntil time.Time, known []domain.OutboxTarget) Claim {
	c := Claim{
		limit: limit, claimedAt: at, leaseUntil: leaseUntil,
		latestNextAttempt: domain.LatestNextAttempt(at, leaseUntil, known),
	}
	for _, target := range known {
		i := slices.IndexFunc(c.systems, func(s claimedSystem) bool { return s.resolver == target.Resolver })
		if i < 0 {
			i = len(c.systems)
			c.systems = append(c.systems, claimedSystem{resolver: target.Resolver, maximum: limit})
		}
		if target.Limit > 0 {
			c.systems[i].maximum = min(c.systems[i].maximum, target.Limit)
		}
		c.systems[i].targets = append(c.systems[i].targets, target)
	}
	for i := range c.systems {
		c.systems[i].share = min((limit+len(c.systems)-1)/len(c.systems), c.systems[i].maximum)
	}
	return c
}

// Args collects the parameters of a statement.
type Args []any

// add appends a parameter and returns its placeholder with a cast, such as CAST($6 AS text).
func (a *Args) add(value any, sqlType string) string {
	*a = append(*a, value)
	return "CAST($" + strconv.Itoa(len(*a)) + " AS " + sqlType + ")"
}

// isOfKnownTargets returns the condition, with a leading AND, that an outbox entry belongs to a target (resolver and
// operation) of the claim. It returns "" if the claim has no targets. The condition is a CASE expression, so that no
// planner chooses an index for it.
func isOfKnownTargets(c Claim, args *Args) string {
	if len(c.systems) == 0 {
		return ""
	}
	var cases strings.Builder
	for _, s := range c.systems {
		for _, target := range s.targets {
			cases.WriteString(" WHEN resolver = " + args.add(s.resolver, "text") +
				" AND operation = " + args.add(string(target.Operation), "text") + " THEN TRUE")
		}
	}
	return " AND CASE" + cases.String() + " ELSE FALSE END"
}
