package isolation

import (
	"slices"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
)

// annotate chooses at random how an erasure treats the rows of a table. It annotates the columns of the table
// accordingly.
func (g *generator) annotate(t *table) {
	intent := pick(g.T, "intent", "survives", "survives", "survives", "survives", "whole", "owned", "untouched")
	if t.losesPath() {
		intent = pick(g.T, "intent below deleted rows", "whole", "owned")
	}
	if intent == "untouched" {
		return
	}
	t.owned = intent == "owned"
	for _, c := range t.columns {
		identifies := c.serves != forData || t.refersTo(c.Name)
		switch {
		case intent == "survives" && identifies:
			if oneIn(g.T, "annotated key", 8) {
				g.personal(t, c, domain.StrategyRetain)
			}
		case intent == "survives":
			if !oneIn(g.T, "unannotated", 4) {
				g.personal(t, c, g.drawStrategy(t, c))
			}
		case intent == "whole" && c.serves == forData:
			g.personal(t, c, domain.StrategyDelete)
		case c.serves == forData && oneIn(g.T, "annotated", 2), oneIn(g.T, "annotated key", 8):
			g.personal(t, c, domain.StrategyDelete)
		}
	}
	if intent == "whole" && len(t.anonymized()) == 0 {
		g.personal(t, t.columns[0], domain.StrategyDelete)
	}
}

// drawStrategy chooses a strategy of erasure that the column supports. It is for tables whose rows an erasure keeps.
func (g *generator) drawStrategy(t *table, c *column) domain.Strategy {
	switch {
	case t.countsFrom(c):
		return domain.StrategyRetain
	case c.nullable && oneIn(g.T, "null", 3):
		return domain.StrategyNull
	default:
		return pick(g.T, "strategy", domain.StrategyAnonymize, domain.StrategyErase, domain.StrategyRetain)
	}
}

// refersTo reports whether a foreign key may refer to the column.
func (t *table) refersTo(name string) bool {
	return slices.ContainsFunc(t.keys(), func(key []string) bool { return slices.Contains(key, name) }) ||
		slices.Contains(t.subjectKey, name)
}

// countsFrom reports whether the retention period of a column begins at the instant in the column c. If so, an
// annotation of c must have the strategy retain.
func (t *table) countsFrom(c *column) bool {
	return slices.ContainsFunc(t.retained(), func(other *column) bool { return other.Personal.Since == c.Name })
}

// personal annotates a column with the given strategy of erasure. The other fields of the annotation are random.
func (g *generator) personal(t *table, c *column, strategy domain.Strategy) {
	annotation := &datamap.Annotation{
		Category: pick(g.T, "category", domain.CategoryContact, domain.CategorySpecial),
		Strategy: strategy,
		Basis:    pick(g.T, "basis", "", domain.BasisContract),
		Purpose:  pick(g.T, "purpose", "", "account login"),
		Export:   pick(g.T, "export", "", "", datamap.ExportYes, datamap.ExportNo),
	}
	if slices.Contains(t.primaryKey, c.Name) && annotation.Export == datamap.ExportNo { // exports need the key
		annotation.Export = datamap.ExportYes
	}
	annotation.Ref = g.drawKeySystem(c)
	c.Type, c.Personal = c.kind.Type, annotation
	switch strategy {
	case domain.StrategyDelete: // these strategies are equal if the row is deleted
		annotation.Strategy = pick(g.T, "word", domain.StrategyDelete, domain.StrategyErase, "")
	case domain.StrategyErase:
		annotation.Strategy = pick(g.T, "default", domain.StrategyErase, "")
	case domain.StrategyRetain:
		annotation.Reason = "§147 AO"
		times := slices.DeleteFunc(slices.Clone(t.columns), func(c *column) bool {
			return c.kind.Type != datamap.TypeTime || c.Personal != nil && c.Personal.Strategy != domain.StrategyRetain
		})
		overwritable := c.serves == forData && !c.unique && !t.refersTo(c.Name) // when the retention period has ended
		if len(times) > 0 && overwritable && !oneIn(g.T, "no since", 3) {
			since := pick(g.T, "since", times...)
			since.Type = datamap.TypeTime
			annotation.Since = since.Name
			annotation.Retain = pick(g.T, "period", datamap.Period{Years: 10}, datamap.Period{Years: 1, Months: 6, Days: 30})
		}
	case domain.StrategyAnonymize, domain.StrategyNull:
	}
	if strategy != domain.StrategyRetain && strategy != domain.StrategyNull && oneIn(g.T, "surrogate", 2) {
		g.surrogate(t, c)
	}
}

// surrogate chooses the value that replaces erased values of the column, or chooses none. In a unique column and in a
// column of a key, this value needs the placeholder {} for random digits, because each row needs a different value. A
// column of a key gets such a value even if an erasure deletes the rows, because addMistake may make the rows survive.
func (g *generator) surrogate(t *table, c *column) {
	unique := c.unique || t.refersTo(c.Name)
	long := c.kind.length == 0 || c.kind.length > 30
	switch isText := c.kind.Type == datamap.TypeText; {
	case isText && (long || c.kind.length > 12) && oneIn(g.T, "placeholder", 2):
		c.Surrogate = pick(g.T, "surrogate", "?'{}$", "{}$1")
		if long {
			c.Surrogate = pick(g.T, "surrogate", "{}@erased.invalid", "'{}'")
		}
	case isText && !unique && (!long || oneIn(g.T, "empty", 2)):
		c.Surrogate = datamap.EmptySurrogate
	case isText && !unique:
		c.Surrogate = pick(g.T, "surrogate", "it's gone?", "$1 ?0", datamap.Placeholder)
	case c.kind.Type == datamap.TypeJSON:
		c.Surrogate = "[]"
	}
}

// addMistake changes the annotations or relations of a table in a way that the check of the data map may refuse.
func (g *generator) addMistake() {
	t := pick(g.T, "victim", slices.DeleteFunc(slices.Clone(g.tables), func(t *table) bool { return t.outside })...)
	switch pick(g.T, "mistake", "annotate", "annotate", "own", "mark") {
	case "annotate":
		c := pick(g.T, "column", t.columns...)
		c.Surrogate = ""
		g.personal(t, c, pick(g.T, "strategy", domain.StrategyAnonymize, domain.StrategyErase, domain.StrategyRetain))
	case "own":
		t.owned = !t.owned
	case "mark":
		for _, l := range t.links {
			l.Path = false
		}
	}
	if t.effect() != survives {
		return
	}
	// Unique numbers lose their annotation. The check of the data map would accept this annotation, but the erasure would
	// fail.
	for _, c := range t.anonymized() {
		if c.kind.Type == datamap.TypeBigInt && c.serves == forData && t.refersTo(c.Name) {
			c.Personal = nil
		}
	}
}
