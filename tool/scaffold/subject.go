package scaffold

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/tool/internal/names"
)

// Candidate is a table that may be the subject's table.
type Candidate struct {
	Table  string `json:"table"`
	Score  int    `json:"score"`  // a higher score is more likely
	Reason string `json:"reason"` // a sentence
}

// The points by which Propose scores the candidates for the subject's table.
const (
	forName        = 40
	forBestName    = 55 // for example, users
	forGoodName    = 50 // for example, customers
	againstPrefix  = 8  // the name has a prefix, as in auth_user
	forReference   = 4
	forReferences  = 32 // the maximum for all references
	forPersonal    = 3
	forAllPersonal = 24 // the maximum for all personal columns
	forEmail       = 6
	forPassword    = 6
	forPair        = 25 // another candidate refers to the table by a unique column, as if each user has one account
	againstPart    = 20 // the table refers to another candidate, as accounts at providers refer to users
	againstOwned   = 60 // the table has its rows only as long as the rows of another candidate
	againstGroup   = 30 // many rows of another candidate may refer to one row, as if an account has many users
	minScore       = 50
	minLead        = 12
	clearlyMore    = 2 // a table with more than twice as many referring tables as the best candidate may be it, too
)

// chooseSubject sets the subject's table and the candidates, with the chosen table first.
func (d *draft) chooseSubject(name string) error {
	if name != "" {
		t := d.table(name)
		if t == nil || subjectKey(t) == nil {
			candidates := d.findCandidates()
			message := "is not a table of the catalog"
			if t != nil {
				message = "has no key that can identify a subject: " + t.whyNoKey() +
					"; it needs a primary or unique key of texts, integers or UUIDs that cannot be NULL"
			}
			return undecided(domain.FieldUnknown, message, candidates)
		}
		d.subject, d.subjectID = t, subjectKey(t)
		d.candidates = []Candidate{{t.Name, 0, "the caller named it as the subject's table"}}
		return nil
	}
	candidates := d.findCandidates()
	switch {
	case len(candidates) == 0 || candidates[0].Score < minScore:
		return undecided(domain.FieldRequired, "must be given, because no table is clearly the subject's", candidates)
	case len(candidates) > 1 && candidates[0].Score-candidates[1].Score < minLead, d.hasOtherPeople(candidates),
		d.hasBusierPeople(candidates):
		return undecided(domain.FieldAmbiguous, "must be given, because several tables may be the subject's (if they"+
			" are different people, each needs a data map, and each further data map in the database needs a name:"+
			" Config.Name, --name)",
			candidates)
	}
	d.subject = d.table(candidates[0].Table)
	d.subjectID, d.candidates = subjectKey(d.subject), candidates
	return nil
}

// hasOtherPeople reports whether another candidate seems to hold a second, unrelated group of people. An example is a
// table of back-office users in a database of subscribers.
func (d *draft) hasOtherPeople(candidates []Candidate) bool {
	best := d.table(candidates[0].Table)
	relatives := related(best)
	return slices.ContainsFunc(candidates[1:], func(c Candidate) bool {
		t := d.table(c.Table)
		return names.IsPeople(c.Table) && 2*c.Score >= candidates[0].Score && summarize(t).email && t.referrers() > 0 &&
			!relatives[t]
	})
}

// hasBusierPeople reports whether clearly more tables refer to another candidate that suggests people, although its
// rows are no parts of rows of the best candidate.
func (d *draft) hasBusierPeople(candidates []Candidate) bool {
	best := d.table(candidates[0].Table)
	return slices.ContainsFunc(candidates[1:], func(c Candidate) bool {
		t := d.table(c.Table)
		return names.IsPeople(c.Table) && t.referrers() > clearlyMore*max(best.referrers(), 1) &&
			!slices.ContainsFunc(t.out, func(r *reference) bool { return r.to == best && r.owns() })
	})
}

// related returns the tables that are connected to the table by references: its direct and indirect parents, and its
// direct and indirect children.
func related(t *table) map[*table]bool {
	found := map[*table]bool{}
	var follow func(t *table, next func(*table) []*table)
	follow = func(t *table, next func(*table) []*table) {
		for _, other := range next(t) {
			if !found[other] {
				found[other] = true
				follow(other, next)
			}
		}
	}
	follow(t, func(t *table) (to []*table) {
		for _, r := range t.out {
			to = append(to, r.to)
		}
		return to
	})
	follow(t, func(t *table) (from []*table) {
		for _, r := range t.in {
			from = append(from, r.from)
		}
		return from
	})
	return found
}

func undecided(code, message string, candidates []Candidate) error {
	if len(candidates) > 0 {
		const most = 5
		var list []string
		for _, c := range candidates[:min(most, len(candidates))] {
			list = append(list, c.Table+" (score "+strconv.Itoa(c.Score)+": "+c.Reason+")")
		}
		message += "; candidates: " + strings.Join(list, ", ")
	}
	return domain.Invalid("scaffold", []domain.FieldError{{Field: "subject_table", Code: code, Message: message}})
}

// subjectKey returns the columns that identify a subject: the key of the table if all its column types are allowed in a
// subject key, otherwise a unique key with allowed types. It returns nil if the table has no such key.
func subjectKey(t *table) []string {
	fits := func(key []string) bool {
		return len(key) > 0 && !slices.ContainsFunc(key, func(name string) bool {
			c, ok := t.Column(name)
			return !ok || c.Nullable || family(c.Type) == ""
		})
	}
	if !t.canBeMapped() {
		return nil
	}
	if fits(t.key) {
		return t.key
	}
	for _, u := range t.Uniques {
		whole := slices.ContainsFunc(u.Columns, func(name string) bool { return !slices.Contains(t.key, name) })
		if isPlain(u) && whole && fits(u.Columns) {
			return u.Columns
		}
	}
	return nil
}

// findCandidates returns the tables with a positive score, the highest score first.
func (d *draft) findCandidates() []Candidate {
	var found []Candidate
	for _, t := range d.tables {
		if subjectKey(t) == nil || names.Is(t.Name, names.Machinery) {
			continue
		}
		if c := d.score(t); c.Score > 0 {
			found = append(found, c)
		}
	}
	slices.SortStableFunc(found, func(a, b Candidate) int { return cmp.Compare(b.Score, a.Score) })
	return found
}

func (d *draft) score(t *table) Candidate {
	name, isPeople := nameScore(t.base)
	found := summarize(t)
	referrers := t.referrers()
	c := Candidate{Table: t.Name, Score: name}
	c.Score += min(forReferences, forReference*referrers) + min(forAllPersonal, forPersonal*found.personal)
	var reasons []string
	if isPeople {
		reasons = append(reasons, "its name suggests people")
	}
	reasons = append(reasons, count(referrers, "table refers", "tables refer")+" to it",
		count(found.personal, "column looks", "columns look")+" personal")
	if found.email {
		c.Score += forEmail
	}
	if found.password {
		c.Score += forPassword
	}
	for _, r := range t.out {
		better, people := nameScore(r.to.base)
		if !people || r.to == t || !summarize(r.to).email {
			continue
		}
		switch {
		case r.owns() && better > name:
			c.Score -= againstOwned
		case !found.email:
			c.Score -= againstPart
		default:
			continue
		}
		reasons = append(reasons, "its rows belong to rows of "+r.to.Name)
		break
	}
	for _, r := range t.in {
		worse, people := nameScore(r.from.base)
		if r.from == t || !people || r.setsNull || names.Is(r.from.Name, names.Things) || r.owns() && worse < name {
			continue
		}
		from := summarize(r.from)
		switch {
		case isPeople && r.isUnique():
			c.Score += forPair
			reasons = append(reasons, "each row of "+r.from.Name+" belongs to one row of it")
		case from.email && (!found.email || !found.password):
			c.Score -= againstGroup
			reasons = append(reasons, "many rows of "+r.from.Name+" may belong to one row of it")
		}
	}
	c.Reason = strings.Join(reasons, ", ")
	return c
}

func nameScore(table string) (score int, isPeople bool) {
	if !names.IsPeople(table) {
		return 0, false
	}
	parts := names.Words(names.BaseName(table))
	switch names.Singular(parts[len(parts)-1]) {
	case "user":
		score = forBestName
	case "account", "customer", "member", "person":
		score = forGoodName
	default:
		score = forName
	}
	if len(parts) > 1 {
		score -= againstPrefix
	}
	return score, true
}

// summary describes the columns of a table that look personal.
type summary struct {
	personal        int
	email, password bool
}

func summarize(t *table) summary {
	var l summary
	for _, c := range t.Columns {
		m, ok := names.Find(t.Name, c.Name, c.Type)
		if !ok || t.refers(c.Name) {
			continue
		}
		l.personal++
		l.email = l.email || m.Means == names.Email
		l.password = l.password || m.Secret
	}
	return l
}

func (t *table) referrers() int {
	from := map[string]bool{}
	for _, r := range t.in {
		if r.from != t {
			from[r.from.Name] = true
		}
	}
	return len(from)
}

func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + many
}
