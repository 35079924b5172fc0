package scaffold

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/tool/internal/dictionary"
	"github.com/habeas-data/habeas/tool/internal/facts"
)

// Candidate is a table that may be the subject's table.
type Candidate struct {
	Table  string `json:"table"`
	Score  int    `json:"score"`  // a higher score is more likely
	Reason string `json:"reason"` // a sentence
}

// The points by which Propose scores the candidates for the subject's table. The name counts most; see dictionary.Rank.
const (
	forName       = 30
	forReference  = 4
	forReferences = 32 // the maximum for all references
	forPersonal   = 3
	forPersonals  = 24 // the maximum for all personal columns
	forEmail      = 6
	forPassword   = 6
	againstPart   = 40 // each row is a part of a row of another candidate, as a profile is
	againstGroup  = 30 // rows of another candidate refer to it, as if an account has many users
	forPair       = 25 // each row of another candidate belongs to one row of it, as if each user has one account
	minScore      = 40
	minLead       = 10
)

// chooseSubject sets the subject's table and the candidates, with the chosen table first.
func (d *draft) chooseSubject(name string) error {
	if name != "" {
		t := d.table(name)
		if t == nil || subjectKey(t) == nil {
			message := "is not a table of the catalog"
			if t != nil {
				message = "has no key that can identify a subject" +
					": it needs a primary or unique key of texts, integers or UUIDs that cannot be NULL"
			}
			return undecided(domain.FieldUnknown, message, d.findCandidates())
		}
		d.subject, d.subjectID = t, subjectKey(t)
		d.candidates = []Candidate{{t.Name, 0, "the caller named it as the subject's table"}}
		return nil
	}
	candidates := d.findCandidates()
	switch {
	case len(candidates) == 0 || candidates[0].Score < minScore:
		return undecided(domain.FieldRequired, "must be given, because no table is clearly the subject's", candidates)
	case d.hasRival(candidates):
		return undecided(domain.FieldAmbiguous, "must be given, because several tables may be the subject's (if they"+
			" are different people, each needs a data map, and each further data map in the database needs a name:"+
			" Config.Name, --name)", candidates)
	}
	d.subject = d.table(candidates[0].Table)
	d.subjectID, d.candidates = subjectKey(d.subject), candidates
	return nil
}

// hasRival reports whether another candidate may be the subject's table, too: its score is almost the same, or it holds
// people that other tables refer to, and that have nothing to do with those of the best candidate.
func (d *draft) hasRival(candidates []Candidate) bool {
	if len(candidates) > 1 && candidates[0].Score-candidates[1].Score < minLead {
		return true
	}
	best := d.table(candidates[0].Table)
	s := facts.Read(d.catalog, best.Name, subjectKey(best))
	return slices.ContainsFunc(candidates[1:], func(c Candidate) bool {
		t := d.table(c.Table)
		isRelated := slices.ContainsFunc(best.ForeignKeys, func(k datamap.CatalogForeignKey) bool {
			return k.References == t.Name
		}) || slices.ContainsFunc(s.Links(t.CatalogTable), func(l facts.Link) bool { return l.Likely })
		return dictionary.People(t.Name) && summarize(t).email && d.referrers(t) > 0 && !isRelated &&
			2*c.Score >= candidates[0].Score
	})
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
			return !ok || c.Nullable || !canIdentify(c.Type)
		})
	}
	if len(t.key) == 0 || fits(t.key) {
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

func canIdentify(t datamap.ColumnType) bool {
	return slices.Contains([]datamap.ColumnType{
		datamap.TypeText, datamap.TypeUUID, datamap.TypeSmallInt, datamap.TypeInteger, datamap.TypeBigInt,
	}, t)
}

// findCandidates returns the tables with a positive score, the highest score first.
func (d *draft) findCandidates() []Candidate {
	var found []Candidate
	for _, t := range d.tables {
		if subjectKey(t) == nil {
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
	rank, found, referrers := dictionary.Rank(t.Name), summarize(t), d.referrers(t)
	c := Candidate{Table: t.Name, Score: rank}
	var reasons []string
	if rank > 0 {
		c.Score += forName
		reasons = append(reasons, "its name suggests people")
	}
	c.Score += min(forReferences, forReference*referrers) + min(forPersonals, forPersonal*found.personal)
	reasons = append(reasons, count(referrers, "table refers", "tables refer")+" to it",
		count(found.personal, "column looks", "columns look")+" personal")
	if found.email {
		c.Score += forEmail
	}
	if found.password {
		c.Score += forPassword
	}
	for _, k := range t.ForeignKeys {
		to := d.table(k.References)
		if to == nil || to.Name == t.Name || !summarize(to).email && dictionary.Rank(to.Name) < rank {
			continue
		}
		isPart := isUnique(t, k.Columns) || k.OnDelete == datamap.ActionCascade || !found.email
		if isPart && dictionary.Rank(to.Name) >= max(rank, 1) {
			c.Score -= againstPart
			reasons = append(reasons, "its rows belong to rows of "+to.Name)
			break
		}
	}
	for _, other := range d.tables {
		i := slices.IndexFunc(other.ForeignKeys, func(k datamap.CatalogForeignKey) bool { return k.References == t.Name })
		if i < 0 || other == t || !dictionary.People(other.Name) {
			continue
		}
		from := summarize(other)
		switch isPart := other.ForeignKeys[i].OnDelete == datamap.ActionCascade; {
		case rank > 0 && isUnique(other, other.ForeignKeys[i].Columns):
			c.Score += forPair
			reasons = append(reasons, "each row of "+other.Name+" belongs to one row of it")
		case !isPart && from.email && (!found.email || !found.password):
			c.Score -= againstGroup
			reasons = append(reasons, "many rows of "+other.Name+" may belong to one row of it")
		}
	}
	c.Reason = strings.Join(reasons, ", ")
	return c
}

func isUnique(t *table, columns []string) bool {
	return slices.Equal(t.key, columns) || slices.ContainsFunc(t.Uniques, func(u datamap.CatalogUnique) bool {
		return isPlain(u) && slices.Equal(u.Columns, columns)
	})
}

// summary describes the columns of a table that look personal.
type summary struct {
	personal        int
	email, password bool
}

func summarize(t *table) summary {
	var l summary
	for _, c := range t.Columns {
		entry, ok := dictionary.Column(c.Name, c.Type)
		if !ok {
			continue
		}
		l.personal++
		l.email = l.email || entry.Word == "email" || entry.Word == "mail"
		l.password = l.password || entry.Secret
	}
	return l
}

// referrers returns the number of tables that refer to the table, by foreign keys or by columns that name it.
func (d *draft) referrers(t *table) (n int) {
	for _, other := range d.tables {
		isReferrer := slices.ContainsFunc(other.ForeignKeys, func(k datamap.CatalogForeignKey) bool {
			return k.References == t.Name
		}) || slices.ContainsFunc(other.Columns, func(c datamap.CatalogColumn) bool {
			stem, isKey := dictionary.Stem(c.Name)
			return isKey && dictionary.Same(stem, t.Name)
		})
		if isReferrer && other.Name != t.Name {
			n++
		}
	}
	return n
}

func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + many
}
