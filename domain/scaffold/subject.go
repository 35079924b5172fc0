package scaffold

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/internal/names"
	"github.com/habeas-data/habeas/internal/words"
)

// Candidate is a possible subject's table.
type Candidate struct {
	Table  string `json:"table"`
	Score  int    `json:"score"`  // a higher score is more likely
	Reason string `json:"reason"` // a sentence
}

// The weights of the criteria for a table.
const (
	forName        = 40
	forBestName    = 55 // users
	forGoodName    = 50 // customers
	againstPrefix  = 8  // a prefix of the name: auth_user
	forReference   = 4
	forReferences  = 32 // the maximum
	forPersonal    = 3
	forAllPersonal = 24 // the maximum
	forEmail       = 6
	forPassword    = 6
	forPair        = 25 // each row of another candidate belongs to one row of it: users with one account each
	againstPart    = 20 // its rows belong to rows of another candidate: accounts of users at providers
	againstGroup   = 30 // many rows of another candidate belong to one row of it: an account with many users
	leastScore     = 50
	leastLead      = 12
)

// chooseSubject sets the subject's table. It returns the candidates with this table first.
func (d *draft) chooseSubject(name string) ([]Candidate, error) {
	candidates := d.candidates()
	if name != "" {
		t := d.table(name)
		if t == nil || subjectKey(t) == nil {
			message := "is not a table of the catalog"
			if t != nil {
				message = "has no key that can identify a subject; it needs a primary or unique key of texts, integers or UUIDs"
			}
			return nil, undecided(domain.FieldUnknown, message, candidates)
		}
		d.subject, d.subjectID = t, subjectKey(t)
		return []Candidate{{t.Name, 0, "the caller named it as the subject's table"}}, nil
	}
	switch {
	case len(candidates) == 0 || candidates[0].Score < leastScore:
		return nil, undecided(domain.FieldRequired, "must be given, because no table is clearly the subject's", candidates)
	case len(candidates) > 1 && candidates[0].Score-candidates[1].Score < leastLead, d.hasOthers(candidates):
		return nil, undecided(domain.FieldAmbiguous, "must be given, because several tables may be the subject's", candidates)
	}
	d.subject = d.table(candidates[0].Table)
	d.subjectID = subjectKey(d.subject)
	return candidates, nil
}

// hasOthers reports whether another candidate seems to hold a separate group of people who have their own tables, such
// as back-office users in a database of subscribers.
func (d *draft) hasOthers(candidates []Candidate) bool {
	best := d.table(candidates[0].Table)
	relatives := related(best)
	return slices.ContainsFunc(candidates[1:], func(c Candidate) bool {
		t := d.table(c.Table)
		return names.IsPeople(c.Table) && 2*c.Score >= candidates[0].Score && lookAt(t).email && t.referrers() > 0 &&
			!relatives[t]
	})
}

// related returns the tables that the table leads to by references, and the tables that lead to it.
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

// subjectKey returns the columns that identify a subject: the key of the table, or a unique key with suitable types.
func subjectKey(t *table) []string {
	fits := func(key []string) bool {
		return len(key) > 0 && !slices.ContainsFunc(key, func(name string) bool {
			c, ok := t.Column(name)
			return !ok || c.Nullable || family(c.Type) == ""
		})
	}
	if !t.isReal() {
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

// candidates returns the tables with their scores, best first.
func (d *draft) candidates() []Candidate {
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
	name, isPeople := nameScore(t.Name)
	look := lookAt(t)
	referrers := t.referrers()
	c := Candidate{Table: t.Name, Score: name}
	c.Score += min(forReferences, forReference*referrers) + min(forAllPersonal, forPersonal*look.personal)
	var reasons []string
	if isPeople {
		reasons = append(reasons, "its name suggests people")
	}
	reasons = append(reasons, count(referrers, "table refers", "tables refer")+" to it",
		count(look.personal, "column looks", "columns look")+" personal")
	if look.email {
		c.Score += forEmail
	}
	if look.password {
		c.Score += forPassword
	}
	for _, r := range t.out {
		if _, people := nameScore(r.to.Name); people && r.to != t && !look.email && lookAt(r.to).email {
			c.Score -= againstPart
			reasons = append(reasons, "its rows belong to rows of "+r.to.Name)
			break
		}
	}
	for _, r := range t.in {
		_, people := nameScore(r.from.Name)
		if r.from == t || !people {
			continue
		}
		from := lookAt(r.from)
		switch {
		case isPeople && r.from.isUnique(r.columns):
			c.Score += forPair
			reasons = append(reasons, "each row of "+r.from.Name+" belongs to one row of it")
		case from.email && (!look.email || !look.password):
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
	parts := domain.NameWords(names.BaseName(table))
	switch words.Singular(parts[len(parts)-1]) {
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

// look is the result for the columns of a table.
type look struct {
	personal        int
	email, password bool
}

func lookAt(t *table) look {
	var l look
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

// referrers returns the number of other tables that refer to the table.
func (t *table) referrers() int {
	from := map[string]bool{}
	for _, r := range t.in {
		if r.from != t {
			from[r.from.Name] = true
		}
	}
	return len(from)
}

// isUnique reports whether a unique constraint or the primary key covers exactly the columns.
func (t *table) isUnique(columns []string) bool {
	if slices.Equal(t.PrimaryKey, columns) {
		return true
	}
	return slices.ContainsFunc(t.Uniques, func(u domain.CatalogUnique) bool {
		return isPlain(u) && slices.Equal(u.Columns, columns)
	})
}

func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + many
}
