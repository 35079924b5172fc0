package isolation

import (
	"slices"

	"github.com/habeas-data/habeas/domain"
)

// schema is a generated application: its tables, parents before children with the subject's table first, and its rows.
type schema struct {
	tables   []*table
	subjects []domain.Subject
	wild     bool // the data map may have a mistake
}

type table struct {
	name       string
	columns    []*column
	primaryKey []string
	subjectKey []string
	repeats    bool       // several rows may have the same subject key
	uniques    [][]string // other keys that links may refer to
	links      []*link
	path       *link // nil for the subject's table
	owned      bool
	outside    bool // not in the data map
	rows       []*row
}

type column struct {
	domain.Column
	kind     kind
	serves   purpose
	nullable bool
	unique   bool
}

// purpose is the purpose of a column.
type purpose string

const (
	forKey  purpose = "primary key"
	forLink purpose = "foreign key"
	forData purpose = "data"
)

// link is a foreign key.
type link struct {
	domain.Relation
	to     *table
	shared bool // one of its columns belongs to another link too
	aims   aim
}

// aim selects the rows that a link outside of the path may refer to.
type aim string

const (
	atAnyone aim = "anybody's" // the row stays, so the link is harmless
	atOwn    aim = "own"       // both rows are deleted in one step
	setsNull aim = "set null"  // only the referenced row is deleted: own rows, with ON DELETE SET NULL
)

// row is a row and its owner, which is the index of a subject, or nobody for no owner.
type row struct {
	owner int
	cells map[string]any
}

const nobody = -1

func (t *table) column(name string) *column {
	i := slices.IndexFunc(t.columns, func(c *column) bool { return c.Name == name })
	return t.columns[i]
}

// keys returns the tuples of columns that a link may refer to.
func (t *table) keys() [][]string { return append([][]string{t.primaryKey}, t.uniques...) }

// fate is the effect of an erasure on the subject's rows of a table.
type fate string

const (
	deleted   fate = "deleted"
	survives  fate = "survives"
	untouched fate = "untouched" // the table has no step
)

// fate derives the effect by section 5 of the design, from the generator's knowledge of each column.
func (t *table) fate() fate {
	annotated, stays, open := 0, false, false
	for _, c := range t.columns {
		switch {
		case c.Personal == nil:
			open = open || c.serves == forData
		case slices.Contains([]domain.Strategy{
			domain.StrategyAnonymize, domain.StrategyNull, domain.StrategyRetain,
		}, c.Personal.Strategy):
			annotated, stays = annotated+1, true
		default:
			annotated++
		}
	}
	switch {
	case t.outside:
		return untouched
	case !stays && (t.owned || annotated > 0 && !open):
		return deleted
	case annotated == 0:
		return untouched
	default:
		return survives
	}
}

// anonymized and retained return the columns that an erasure overwrites and retains, in a table whose rows stay.
func (t *table) anonymized() []*column { return t.annotated(false) }
func (t *table) retained() []*column   { return t.annotated(true) }

func (t *table) annotated(retain bool) (columns []*column) {
	for _, c := range t.columns {
		if c.Personal != nil && (c.Personal.Strategy == domain.StrategyRetain) == retain {
			columns = append(columns, c)
		}
	}
	return columns
}

// hops returns the number of links between the table and the subject's table.
func (t *table) hops() int {
	if t.path == nil {
		return 0
	}
	return 1 + t.path.to.hops()
}

// losesItsWay reports whether an erasure deletes rows on the path to the subject, except its own rows.
func (t *table) losesItsWay() bool {
	return t.path != nil && (t.path.to.fate() == deleted || t.path.to.losesItsWay())
}

// rowsOf counts a subject's rows.
func (t *table) rowsOf(subject int) (n int64) {
	for _, r := range t.rows {
		if r.owner == subject {
			n++
		}
	}
	return n
}

// settle decides where links outside of the path may refer to, after the fates are known. It removes links from
// remaining rows to deleted rows if NULL is not possible. A wild schema keeps these links and is refused.
func (s *schema) settle() {
	for _, t := range s.tables {
		for _, l := range slices.Clone(t.links) {
			annotated := func(name string) bool { return t.column(name).Personal != nil }
			switch {
			case l == t.path || l.to == t || l.to.fate() != deleted:
				l.aims = atAnyone
			case t.fate() == deleted:
				l.aims = atOwn
			case !l.shared && !slices.ContainsFunc(l.Columns, annotated):
				l.aims, l.SetsNull = setsNull, true
			case s.wild:
				l.SetsNull = true
			default:
				t.unlink(l)
			}
		}
	}
}

// unlink turns the columns of a link into plain data, if no other link uses them.
func (t *table) unlink(l *link) {
	t.links = slices.DeleteFunc(t.links, func(other *link) bool { return other == l })
	for _, name := range l.Columns {
		if !slices.Contains(t.path.Columns, name) {
			t.column(name).serves = forData
		}
	}
}

// dataMap returns the declared data map with the tables in the given order.
func (s *schema) dataMap(qualifier string, order []int) (domain.DataMap, error) {
	var declared []domain.Table
	for _, i := range order {
		t := s.tables[i]
		if t.outside {
			continue
		}
		table := domain.Table{Name: qualifier + t.name, PrimaryKey: t.primaryKey, SubjectKey: t.subjectKey, Owned: t.owned}
		for _, c := range t.columns {
			table.Columns = append(table.Columns, c.Column)
		}
		for _, l := range t.links {
			relation := l.Relation
			relation.References = qualifier + l.to.name
			table.Relations = append(table.Relations, relation)
		}
		declared = append(declared, table)
	}
	return domain.NewDataMap(declared...)
}
