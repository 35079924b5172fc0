package isolation

import (
	"slices"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
)

// schema is a generated application with its tables and rows. Each table follows the other tables to which it refers,
// so the table of subjects precedes all tables with rows of subjects.
type schema struct {
	tables       []*table
	subjects     []domain.Subject
	mayBeInvalid bool // the data map may have a mistake
}

type table struct {
	name       string
	columns    []*column
	primaryKey []string
	subjectKey []string
	repeats    bool       // several rows may have the same subject key
	uniques    [][]string // other unique keys, to which links may refer
	links      []*link
	path       *link // the foreign key that determines the owner of a row; nil for the table of subjects
	owned      bool
	outside    bool // if true, the table is not in the data map
	rows       []*row
}

type column struct {
	datamap.Column
	kind     kind
	serves   purpose
	nullable bool
	unique   bool
}

type purpose string

const (
	forKey  purpose = "primary key"
	forLink purpose = "foreign key"
	forData purpose = "data"
)

type link struct {
	datamap.Relation
	to      *table
	shared  bool // another link uses one of its columns, too
	targets linkTarget
}

// linkTarget restricts the rows to which a foreign key may refer. It concerns only foreign keys that do not determine
// the owner of a row.
type linkTarget string

const (
	atAnyone linkTarget = "anybody's" // any row, because an erasure does not delete it
	atOwn    linkTarget = "own"       // only rows of the same owner, because both rows are deleted
	setsNull linkTarget = "set null"  // only rows of the same owner; an erasure deletes them and keeps this row
)

// row is a row and its owner. The owner is the index of a subject, or noOwner.
type row struct {
	owner int
	cells map[string]any
}

const noOwner = -1

func (t *table) column(name string) *column {
	i := slices.IndexFunc(t.columns, func(c *column) bool { return c.Name == name })
	return t.columns[i]
}

// keys returns the primary key and the unique keys of the table, to which foreign keys may refer.
func (t *table) keys() [][]string { return append([][]string{t.primaryKey}, t.uniques...) }

// rowEffect is the effect of an erasure on the subject's rows of a table.
type rowEffect string

const (
	deleted   rowEffect = "deleted"
	survives  rowEffect = "survives"
	untouched rowEffect = "untouched" // the erasure plan has no step on the table
)

// effect returns the effect of an erasure on the subject's rows. It does not use the code of habeas, because the tests
// compare the result of habeas with the result of effect.
func (t *table) effect() rowEffect {
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

// anonymized returns the annotated columns whose strategy is not retain. If an erasure keeps the rows of the table, it
// overwrites these columns.
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

// hops returns the number of foreign keys that connect the table to the table of subjects.
func (t *table) hops() int {
	if t.path == nil {
		return 0
	}
	return 1 + t.path.to.hops()
}

// losesPath reports whether an erasure deletes rows of another table that connect the rows of this table to the
// subject.
func (t *table) losesPath() bool {
	return t.path != nil && (t.path.to.effect() == deleted || t.path.to.losesPath())
}

func (t *table) rowsOf(subject int) (n int64) {
	for _, r := range t.rows {
		if r.owner == subject {
			n++
		}
	}
	return n
}

// restrictLinks decides to which rows a foreign key may refer. It skips the foreign keys that determine the owner of a
// row. If an erasure deletes both rows, the data map says ON DELETE SET NULL, because it otherwise refuses a relation
// to deleted rows that is not a path. If a foreign key refers from a row that an erasure keeps to a row that the
// erasure deletes, there are three cases:
//
//   - If the foreign key can become NULL, it gets ON DELETE SET NULL.
//   - Otherwise, if the data map may have a mistake, the foreign key stays. The data map can then be refused.
//   - Otherwise, the foreign key is removed.
func (s *schema) restrictLinks() {
	for _, t := range s.tables {
		for _, l := range slices.Clone(t.links) {
			annotated := func(name string) bool { return t.column(name).Personal != nil }
			switch {
			case l == t.path || l.to == t || l.to.effect() != deleted:
				l.targets = atAnyone
			case t.effect() == deleted && (!l.shared || s.mayBeInvalid):
				l.targets, l.SetsNull = atOwn, !l.shared
			case t.effect() == deleted:
				t.owned = true // so that an erasure still deletes the rows, although the columns of the link become data
				t.unlink(l)
			case !l.shared && !slices.ContainsFunc(l.Columns, annotated):
				l.targets, l.SetsNull = setsNull, true
			case s.mayBeInvalid:
				l.SetsNull = true
			default:
				t.unlink(l)
			}
		}
	}
}

// unlink removes a foreign key. Its columns become plain data, except those that t.path also uses (the foreign key that
// determines the owner of a row).
func (t *table) unlink(l *link) {
	t.links = slices.DeleteFunc(t.links, func(other *link) bool { return other == l })
	for _, name := range l.Columns {
		if !slices.Contains(t.path.Columns, name) {
			t.column(name).serves = forData
		}
	}
}

// dataMap returns the data map of the application. The parameter order lists positions in s.tables, in the order in
// which the data map declares the tables.
func (s *schema) dataMap(qualifier string, order []int) (datamap.DataMap, error) {
	var declared []datamap.Table
	for _, i := range order {
		t := s.tables[i]
		if t.outside {
			continue
		}
		table := datamap.Table{Name: qualifier + t.name, PrimaryKey: t.primaryKey, SubjectKey: t.subjectKey, Owned: t.owned}
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
	return datamap.NewDataMap(declared...)
}
