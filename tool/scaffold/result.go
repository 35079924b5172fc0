package scaffold

import (
	"slices"
	"strings"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/tool/internal/names"
)

// choose selects the tables of the data map. These are the subject's table, the tables with personal columns, and the
// tables whose rows an erasure deletes. The tables on the paths from these tables to the subject's table are selected,
// too.
func (d *draft) choose() {
	d.subject.chosen = true
	for _, t := range d.tables {
		personal := slices.ContainsFunc(t.columns, func(c datamap.Column) bool { return c.Personal != nil })
		if t.distance != unreachable && (personal || t.rowsDeleted) {
			t.choose()
		}
	}
}

func (t *table) choose() {
	if t.chosen {
		return
	}
	t.chosen = true
	for _, r := range t.paths {
		r.to.choose()
	}
}

// askForUnchosen asks about the tables whose rows refer to a person and would stay, but that are not selected, because
// no column looks personal.
func (d *draft) askForUnchosen() {
	for _, t := range d.tables {
		if t.chosen || t.distance == unreachable || t.fate == left || !d.refersToPerson(t) ||
			len(t.askedOfColumns()) > 0 {
			continue
		}
		t.fate, t.asked = left, nil
		path := t.paths[0].label()
		t.ask("", ofPath+path+d.furtherPeople(t, []string{path})+noPersonal, "no: leave the table out", annotateIt)
	}
}

// result returns the tables of the data map, and the decisions (questions to a person) about all tables. Both begin
// with the subject's table. The other tables follow, sorted by name.
func (d *draft) result() ([]datamap.Table, []Decision) {
	var tables []datamap.Table
	decisions := []Decision{}
	all := slices.Clone(d.tables)
	slices.SortStableFunc(all, func(a, b *table) int { return boolRank(a == d.subject) - boolRank(b == d.subject) })
	for _, t := range all {
		if t.chosen {
			tables = append(tables, d.mapped(t))
		} else if t.distance != unreachable && t.fate != left {
			t.asked = t.askedOfColumns()
		}
		if len(t.asked) > 0 {
			slices.SortStableFunc(t.asked, func(a, b Decision) int { return t.indexOf(a.Column) - t.indexOf(b.Column) })
			decisions = append(decisions, t.asked...)
		}
	}
	return tables, decisions
}

// askedOfColumns returns the decisions about columns, without the decisions about rows. A table outside the data map
// needs only these: if a person annotates such a column, the table becomes part of the data map.
func (t *table) askedOfColumns() []Decision {
	return slices.DeleteFunc(slices.Clone(t.asked), func(d Decision) bool { return d.Column == "" })
}

// indexOf returns the index of a column in the table, or -1 for "", the column of a decision about the rows.
func (t *table) indexOf(column string) int {
	return slices.IndexFunc(t.Columns, func(c datamap.CatalogColumn) bool { return c.Name == column })
}

// mapped returns the table for the data map.
func (d *draft) mapped(t *table) datamap.Table {
	to := datamap.Table{
		Name: t.Name, PrimaryKey: t.key, Columns: t.columns, Owned: t.rowsDeleted, Note: t.reason,
	}
	if t == d.subject {
		to.SubjectKey = d.subjectID
	}
	candidates := 0
	for _, r := range t.out {
		if r.kept && r.to.chosen && r.to != t {
			candidates++
		}
	}
	relations := slices.Clone(t.paths)
	for _, r := range t.out {
		if r.kept && r.to.chosen && !slices.Contains(t.paths, r) {
			relations = append(relations, r)
		}
	}
	for _, r := range relations {
		relation := datamap.Relation{
			Name: r.name, Columns: r.columns, References: r.to.Name, ReferencedColumns: r.referenced, SetsNull: r.setsNull,
			SamePerson: r.isSamePerson(),
		}
		if candidates > 1 && slices.Contains(t.paths, r) {
			relation.Path = true
		}
		if relation.Path && t.rowsDeleted && len(t.paths) > 1 {
			relation.OnErasure = domain.StrategyDelete
		}
		to.Relations = append(to.Relations, relation)
	}
	if t == d.subject {
		return readyToGo(to)
	}
	return to
}

// readyToGo returns the table of the people with the strategy erase in place of anonymize, so that the word owned alone
// says that the row goes. Without this word, an erasure does the same as before, because other columns keep the row. If
// none does, readyToGo returns the table unchanged.
func readyToGo(table datamap.Table) datamap.Table {
	ready := table
	ready.Columns = slices.Clone(table.Columns)
	for i, c := range ready.Columns {
		if c.Personal != nil && c.Personal.Strategy == domain.StrategyAnonymize {
			annotation := *c.Personal
			annotation.Strategy = domain.StrategyErase
			ready.Columns[i].Personal = &annotation
		}
	}
	if ready.RowsDeleted() {
		return table
	}
	return ready
}

// leftOut returns the tables that are not in the data map, with the reasons.
func (d *draft) leftOut() []LeftOut {
	out := []LeftOut{}
	for _, t := range d.tables {
		if !t.chosen {
			out = append(out, LeftOut{t.Name, d.whyOut(t)})
		}
	}
	return out
}

func (d *draft) whyOut(t *table) string {
	personal := strings.Join(t.personal(), ", ")
	switch {
	case t.Kind == datamap.KindForeign, t.Kind == datamap.KindVirtual:
		return "It is a " + t.Kind.InWords() + ", which an erasure does not change."
	case len(t.Inherits) > 0:
		return "Its rows are also rows of " + strings.Join(t.Inherits, ", ") + "."
	case !t.canBeMapped():
		return "It has no key of NOT NULL columns."
	case t.distance != unreachable && t.fate == left && (len(t.asked) > 0 || t.folded || t.isPartOfThing()):
		return "It leads to " + d.subject.Name + ". " + t.reason
	case t.distance != unreachable && len(t.askedOfColumns()) > 0:
		return "It leads to " + d.subject.Name + ", and a person has to decide about its columns."
	case t.distance != unreachable:
		return "It leads to " + d.subject.Name + ", but none of its columns looks personal."
	case t.byAddress != "":
		return "It leads to " + d.subject.Name + " only by the address in " + t.byAddress + ", which an erasure overwrites."
	case d.agentOf(t) != "":
		why := "No foreign key leads from it to " + d.subject.Name + ", but the name of " + d.agentOf(t) +
			" may mean a person"
		if personal != "" && !d.isAboutNone(t) {
			why += ", and columns look personal: " + personal
		}
		return why + "."
	case personal == "":
		return "No relation leads from it to " + d.subject.Name + ", and none of its columns looks personal."
	case d.isAboutNone(t):
		return "No relation leads from it to " + d.subject.Name + ". Its name suggests that it has no data about people."
	default:
		return "No relation leads from it to " + d.subject.Name + ", but columns look personal: " + personal + "."
	}
}

// partakerOf returns a column without a foreign key that seems to name the person whom the row is about, such as
// participant_id beside inviter_id. It returns "" if there is none.
func (d *draft) partakerOf(t *table) string {
	i := slices.IndexFunc(t.Columns, func(c datamap.CatalogColumn) bool {
		stem, _ := names.Stem(c.Name)
		return names.TakesPart(stem) && d.mayBeAgent(t, c)
	})
	if i < 0 {
		return ""
	}
	return t.Columns[i].Name
}

// agentOf returns a column that only by its name may refer to a person: see mayBeAgent. It returns "" if there is none.
func (d *draft) agentOf(t *table) string {
	i := slices.IndexFunc(t.Columns, func(c datamap.CatalogColumn) bool { return d.mayBeAgent(t, c) })
	if i < 0 {
		return ""
	}
	return t.Columns[i].Name
}

func (d *draft) isAboutNone(t *table) bool {
	return names.Is(t.Name, names.Machinery) && t.addressKey() == "" || t.isReference()
}

// askForLeftOut asks about tables that may hold personal data, but from which no chain of references leads to the
// subject's table.
func (d *draft) askForLeftOut() {
	for _, t := range d.tables {
		isTable := t.Kind == datamap.KindTable || t.Kind == datamap.KindPartitioned
		if t.distance != unreachable || !isTable || len(t.Inherits) > 0 {
			continue
		}
		personal := strings.Join(t.personal(), ", ")
		sender, recipient := d.betweenPeople(t)
		leads := !t.linksThings() && slices.ContainsFunc(t.out, func(r *reference) bool {
			return r.to.distance != unreachable
		})
		switch {
		case d.isAboutNone(t) && !t.canBeMapped() && d.isHeldByName(t):
			t.askForPrimaryKey()
		case t.isReference():
			d.askForTypes(t)
		case d.isAboutNone(t):
		case t.byAddress != "":
			d.askForAddress(t, t.byAddress)
		case !t.canBeMapped() && (personal != "" || leads):
			t.askForPrimaryKey()
		case !t.canBeMapped():
		case d.isNamedAfterPerson(t):
			t.ask(t.key[0], "Its name suggests that each row describes a person, but no reference leads to "+d.subject.Name+
				". Is "+t.key[0]+" the key of that person?", "no: leave the table out", "yes: add a relation by "+t.key[0])
		case sender != "":
			t.ask(sender, "It has no foreign key. Do "+sender+" and "+recipient+" refer to "+d.subject.Name+"?",
				"no: leave the table out", "yes: add relations by them")
		case t.addressKey() != "" && !t.isPeople() && len(t.unclear) == 0:
			d.askForAddress(t, t.addressKey())
		case len(t.personalItself()) > 0 && len(t.unclear) == 0:
			t.askForRows(d)
			d.askForTypes(t)
		default:
			d.askForTypes(t)
		}
	}
}

// isHeldByName reports whether a reference leads from the rows to a person who holds them, as user_id in users_roles
// does, although the name of the table means data that is not about people.
func (d *draft) isHeldByName(t *table) bool {
	return slices.ContainsFunc(t.out, func(r *reference) bool { return r.to == d.subject && r.role == names.Holder })
}

// askForPersonal adds a question to the subject's table if the proposed data map has nothing that an erasure could
// erase: does a column hold personal data?
func (d *draft) askForPersonal() {
	erases := slices.ContainsFunc(d.tables, func(t *table) bool {
		return t.chosen && (t.rowsDeleted ||
			slices.ContainsFunc(t.columns, func(c datamap.Column) bool { return c.Personal != nil }))
	})
	if !erases {
		d.subject.ask("", "No column looks personal, so an erasure would erase nothing. Does a column hold personal data?",
			"no", "annotate it")
	}
}

// personal returns the names of the columns that look personal, in the order of the table. It leaves out secrets, such
// as passwords, but not those that tell who the person is.
func (t *table) personal() []string {
	var list []string
	for _, c := range t.Columns {
		if m, ok := t.found[c.Name]; ok && (!m.Secret || names.IsIdentity(c.Name)) {
			list = append(list, c.Name)
		}
	}
	return list
}

// personalItself returns the columns of personal without those with earlier values of other rows, about which
// askForHistories asks.
func (t *table) personalItself() []string { return slices.DeleteFunc(t.personal(), t.isCopied) }

// isCopied reports whether the column holds earlier values of rows of other tables: see copies.
func (t *table) isCopied(column string) bool { return slices.Contains(t.copies(), column) }
