package live

import (
	"slices"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/conn"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
)

// MayNotLock reports whether there may be tables of the data map whose rows PostgreSQL cannot lock. Their definitions
// can change without a change of the fingerprint.
func (c *Schema) MayNotLock() bool { return c.views }

// Locks reports whether the database can lock the rows of a table. It returns true for a view in Untried.
func (c *Schema) Locks(table string) bool {
	if live := c.mapped[table]; live.kind != "" || live.views == "" {
		return live.kind == ""
	}
	locks, tried := c.cache.locks.Load(c.viewOf(table))
	return !tried || locks == true
}

// viewOf returns the key of a view in Cache.locks.
func (c *Schema) viewOf(table string) string { return table + "\n" + c.mapped[table].views }

// Untried returns the views whose rows PostgreSQL may not be able to lock. The caller must try it, and call NoteLock.
func (c *Schema) Untried() (views []datamap.Table) {
	for _, table := range c.cache.touched {
		live := c.mapped[table.Name]
		if _, tried := c.cache.locks.Load(c.viewOf(table.Name)); live.views != "" && live.kind == "" && !tried {
			views = append(views, table)
		}
	}
	return views
}

// NoteLock stores the result of a statement that locks rows of a view, until the definitions change. The error is nil
// if the database has accepted the statement. An error that says nothing about the view, such as a missing privilege,
// is not stored.
func (c *Schema) NoteLock(view string, err error) {
	if err == nil || conn.IsUnlockable(err) {
		c.cache.locks.Store(c.viewOf(view), err == nil)
	}
}

// RefuseUnlocked returns an error if the database cannot lock the rows of one of the tables, for example the rows of a
// foreign table. An erasure must lock these rows.
func (c *Schema) RefuseUnlocked(tables ...string) error {
	i := slices.IndexFunc(tables, func(table string) bool { return !c.Locks(table) })
	if i < 0 {
		return nil
	}
	what := "view"
	if kind := c.mapped[tables[i]].kind; kind != "" {
		what = kind.InWords() + " or a view of one"
	}
	return &domain.Error{
		Code: domain.ErrConfiguration, Op: "lock subject",
		Message: tables[i] + ": is a " + what + ", whose rows an erasure cannot lock",
	}
}

// RefuseUnlockedStep returns an error if a step changes rows of a foreign table or a materialized view that cannot be
// locked. A view may have triggers that carry out the step.
func (c *Schema) RefuseUnlockedStep(step datamap.Step) error {
	if step.Strategy == domain.StrategyRetain || c.mapped[step.Target].kind == "" ||
		step.Target != c.cache.dataMap.SubjectTable().Name {
		return nil
	}
	return c.RefuseUnlocked(step.Target)
}
