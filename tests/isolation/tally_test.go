package isolation

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
)

// tally counts how many of the generated applications had each feature, such as a composite foreign key. A test proves
// nothing about a feature that no application had.
type tally struct {
	drawn, accepted int
	features        map[string]int
}

// The tests on both databases together must fulfil two conditions:
//
//   - At least minPercent of the data maps are accepted.
//   - Every feature has occurred at least once.
//
// The conditions apply only if at least minAccepted data maps are accepted. On average, the rarest feature occurs in 8
// of 100 applications.
const (
	minAccepted = 200
	minPercent  = 80
)

var tableFeatures = map[string]func(*schema, *table) bool{
	"a composite subject key":     func(_ *schema, t *table) bool { return len(t.subjectKey) > 1 },
	"a repeated subject key":      func(_ *schema, t *table) bool { return t.repeats },
	"several hops":                func(_ *schema, t *table) bool { return t.hops() > 1 },
	"a composite primary key":     func(_ *schema, t *table) bool { return t.path != nil && len(t.primaryKey) > 1 },
	"deleted rows":                func(_ *schema, t *table) bool { return t.effect() == deleted },
	"rows deleted level by level": func(_ *schema, t *table) bool { return t.losesPath() },
	"anonymized columns": func(_ *schema, t *table) bool {
		return t.effect() == survives && len(t.anonymized()) > 0
	},
	"columns set to NULL": func(_ *schema, t *table) bool {
		return t.writes(func(c *column) bool { return c.Personal.Strategy == domain.StrategyNull })
	},
	"empty texts": func(_ *schema, t *table) bool {
		return t.writes(func(c *column) bool { return c.Surrogate == datamap.EmptySurrogate })
	},
	"placeholders": func(_ *schema, t *table) bool {
		return t.writes(func(c *column) bool { return c.placeholder() != nil })
	},
	"columns that are not exported": func(_ *schema, t *table) bool {
		return slices.ContainsFunc(t.columns, func(c *column) bool {
			return c.Personal != nil && c.Personal.Export == datamap.ExportNo
		})
	},
	"keys of an external system": func(s *schema, t *table) bool {
		return slices.ContainsFunc(s.refs(), func(system string) bool { return len(t.keysOf(system)) > 0 })
	},
	"retained columns":      func(_ *schema, t *table) bool { return t.effect() == survives && len(t.retained()) > 0 },
	"tables without a step": func(_ *schema, t *table) bool { return t.path != nil && t.effect() == untouched },
	"rows without an owner": func(_ *schema, t *table) bool { return t.path != nil && t.rowsOf(noOwner) > 0 },
	"subjects that share an element": func(s *schema, t *table) bool {
		return len(t.subjectKey) > 1 && slices.ContainsFunc(t.rows[1:], func(r *row) bool {
			return r.owner > 0 && !agree(r, t.rows[0], t.subjectKey) &&
				slices.ContainsFunc(t.subjectKey, func(name string) bool { return r.cells[name] == t.rows[0].cells[name] })
		})
	},
}

var linkFeatures = map[string]func(*table, *link) bool{
	"a composite foreign key": func(_ *table, l *link) bool { return len(l.Columns) > 1 },
	"a marked path":           func(_ *table, l *link) bool { return l.Path },
	"a table that refers to itself": func(t *table, l *link) bool {
		return l.to == t && slices.ContainsFunc(t.rows, l.isSet)
	},
	"a column of two foreign keys": func(_ *table, l *link) bool { return l.shared },
	"a foreign key set to NULL": func(t *table, l *link) bool {
		return l.targets == setsNull && slices.ContainsFunc(t.rows, l.isSet)
	},
	"a path not to the subject's key": func(t *table, l *link) bool {
		return l == t.path && l.to.path == nil && !sameNames(l.ReferencedColumns, l.to.subjectKey)
	},
	"a path to the subject's key": func(t *table, l *link) bool {
		return l == t.path && l.to.path == nil && sameNames(l.ReferencedColumns, l.to.subjectKey)
	},
	"a path not to a primary key": func(t *table, l *link) bool {
		return l == t.path && !sameNames(l.ReferencedColumns, l.to.primaryKey)
	},
	"a foreign key narrower than the key": func(t *table, l *link) bool {
		return t.column(l.Columns[0]).kind.declared != l.to.column(l.ReferencedColumns[0]).kind.declared
	},
	"a row that refers to another subject's": func(t *table, l *link) bool {
		return l != t.path && slices.ContainsFunc(t.rows, func(r *row) bool {
			return l.isSet(r) && r.owner != noOwner && slices.ContainsFunc(l.to.rows, func(to *row) bool {
				return to.owner != noOwner && to.owner != r.owner && l.connects(r, to)
			})
		})
	},
}

// writes reports whether two conditions are true: An erasure keeps the rows of the table, and it overwrites at least
// one column that satisfies matches.
func (t *table) writes(matches func(*column) bool) bool {
	return t.effect() == survives && slices.ContainsFunc(t.anonymized(), matches)
}

func sameNames(a, b []string) bool {
	return slices.Equal(slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b)))
}

// isSet reports whether no column of the foreign key is NULL in the row.
func (l *link) isSet(r *row) bool {
	return !slices.ContainsFunc(l.Columns, func(name string) bool { return r.cells[name] == nil })
}

// connects reports whether the foreign key in the first row (from) refers to the second row (to).
func (l *link) connects(from, to *row) bool {
	for i, name := range l.Columns {
		if from.cells[name] != to.cells[l.ReferencedColumns[i]] {
			return false
		}
	}
	return true
}

// add counts the features of an accepted application. It ignores tables without rows.
func (c *tally) add(s *schema) {
	c.accepted++
	found := map[string]bool{}
	for _, t := range s.tables {
		if len(t.rows) == 0 || t.outside {
			continue
		}
		for feature, has := range tableFeatures {
			found[feature] = found[feature] || has(s, t)
		}
		for _, l := range t.links {
			for feature, has := range linkFeatures {
				found[feature] = found[feature] || has(t, l)
			}
		}
	}
	for feature, is := range found {
		if _, known := c.features[feature]; !known {
			c.features[feature] = 0
		}
		if is {
			c.features[feature]++
		}
	}
}

func (c *tally) report(t *testing.T) {
	t.Helper()
	var lines []string
	for feature, n := range c.features {
		lines = append(lines, fmt.Sprintf("%4d %s", n, feature))
		if c.accepted >= minAccepted && n == 0 {
			t.Errorf("none of %d applications has %s", c.accepted, feature)
		}
	}
	slices.Sort(lines)
	t.Logf("accepted %d of %d data maps\n%s", c.accepted, c.drawn, strings.Join(lines, "\n"))
	if c.accepted >= minAccepted && c.accepted*100 < minPercent*c.drawn {
		t.Errorf("only %d of %d data maps were accepted", c.accepted, c.drawn)
	}
}
