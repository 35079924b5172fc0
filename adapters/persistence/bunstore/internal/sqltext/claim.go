package sqltext

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/habeas-data/habeas/domain"
)

// Claim holds the arguments of a claim.
type Claim struct {
	limit             int
	at, until, latest time.Time
	systems           []claimedSystem
}

// claimedSystem holds the limits of a claim for one resolver.
type claimedSystem struct {
	resolver string
	share    int // the number of entries that it takes first
	most     int // the limit if other resolvers leave places over
	targets  []domain.OutboxTarget
}

// half returns the share of new entries, and also the share of retries, of one target.
func (s claimedSystem) half() int {
	parts := 2 * max(1, len(s.targets))
	return (s.share + parts - 1) / parts
}

// ranks returns the levels of new entries and of retries. Their order alternates every second, so that neither starves
// if a share is a single entry.
func (c Claim) ranks() (fresh, retries string) {
	if c.at.Second()%2 == 0 {
		return "2", "1"
	}
	return "1", "2"
}

// NewClaim divides the limit of a claim among the resolvers of the known targets.
func NewClaim(limit int, at, until time.Time, known []domain.OutboxTarget) Claim {
	c := Claim{limit: limit, at: at, until: until, latest: domain.LatestNextAttempt(at, until, known)}
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

// Args collects the parameters of a statement.
type Args []any

// add appends a parameter and returns its placeholder, cast to a type.
func (a *Args) add(value any, sqlType string) string {
	*a = append(*a, value)
	return "CAST($" + strconv.Itoa(len(*a)) + " AS " + sqlType + ")"
}

// isOfSystems returns the condition, with a leading AND, that an entry belongs to a known target. It is a CASE
// expression, so that no planner chooses an index for it.
func isOfSystems(c Claim, args *Args) string {
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
