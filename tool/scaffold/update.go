package scaffold

import (
	"context"
	"slices"
	"strings"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/ports"
	"github.com/habeas-data/habeas/tool/internal/facts"
)

// Update returns a proposal that keeps a data map and its answers (datamap.DataMap.Decisions), and adds what is new in
// the schema: tables that the schema gives to a person, questions about other tables, and one question about the new
// columns of each mapped table. An answer about a table that is left out is open again if the table has new columns or
// references. Open questions are asked anew. Update ignores Options.SubjectTable. Its errors are those of Propose.
func Update(
	ctx context.Context, reader ports.CatalogReader, former datamap.DataMap, options Options,
) (Proposal, error) {
	catalog, err := reader.Catalog(ctx)
	if err != nil {
		return Proposal{}, err
	}
	options.SubjectTable = former.SubjectTable().Name
	return propose(ctx, reader, catalog, options, former)
}

// keepFormer takes over the former data map, and its answers that are still valid.
func (d *draft) keepFormer() {
	if d.former.IsZero() {
		return
	}
	d.mapped = slices.Clone(d.former.Tables())
	d.subjectID = d.mapped[0].SubjectKey
	for _, decision := range d.former.Decisions() {
		isStale := len(decision.Columns) == 0 && slices.ContainsFunc(d.tables, func(t *table) bool {
			_, isMapped := d.mappedTable(t)
			return decision.Covers(t.CatalogTable) && decision.Object == t.Name && !isMapped && d.isChanged(t)
		})
		if !decision.IsOpen() && !isStale {
			d.decisions = append(d.decisions, decision)
		}
	}
	for i, m := range d.mapped {
		t := d.table(m.Name)
		if t == nil {
			continue
		}
		if i > 0 {
			d.askForNew(t, t.Unmapped(m))
		} else {
			d.mapped[i].Columns = append(slices.Clone(m.Columns), d.newOfPerson(m)...)
		}
	}
}

// newOfPerson returns the new columns of the person's row that the dictionary knows.
func (d *draft) newOfPerson(m datamap.Table) (columns []datamap.Column) {
	known := d.overwrites(d.subject)
	if m.RowsDeleted() {
		known = d.deletes(d.subject)
	}
	names := d.subject.Unmapped(m)
	return slices.DeleteFunc(slices.Clone(known), func(c datamap.Column) bool { return !slices.Contains(names, c.Name) })
}

// askForNew asks about the new columns of a mapped table other than that of the people.
func (d *draft) askForNew(t *table, names []string) {
	var columns []datamap.CatalogColumn
	for _, name := range names {
		if c := columnOf(t, name); !d.identifies(t, c) && !d.isSeen(t, name) {
			columns = append(columns, c)
		}
	}
	d.askFor(t, columns, "These columns are new. Do they say something about the person?", "overwrite", notPersonal)
}

// formerDecision returns the former answer about the rows of a table.
func (d *draft) formerDecision(t *table) (decision datamap.Decision, ok bool) {
	for _, decision := range d.former.Decisions() {
		if len(decision.Columns) == 0 && !decision.IsOpen() && decision.Covers(t.CatalogTable) {
			return decision, true
		}
	}
	return datamap.Decision{}, false
}

// seen returns what all former answers about a table have seen.
func (d *draft) seen(t *table) (seen []string) {
	for _, decision := range d.former.Decisions() {
		if !decision.IsOpen() && decision.Covers(t.CatalogTable) && !strings.HasSuffix(decision.Object, ".*") {
			seen = append(seen, decision.Seen...)
		}
	}
	return seen
}

// isChanged reports whether a former answer about the table has seen less than the table has. An answer that has seen
// nothing is about the table as it is.
func (d *draft) isChanged(t *table) bool {
	seen := d.seen(t)
	return len(seen) > 0 && len(facts.Changed(t.CatalogTable, seen)) > 0
}

// isAnswered reports whether a former answer decides about the rows of the table.
func (d *draft) isAnswered(t *table) bool {
	_, ok := d.formerDecision(t)
	_, isMapped := d.mappedTable(t)
	return ok && (isMapped || !d.isChanged(t))
}

// isNoKey reports whether a former answer says that the column holds no key of a person.
func (d *draft) isNoKey(t *table, column string) bool {
	return slices.ContainsFunc(d.former.Decisions(), func(o datamap.Decision) bool {
		return o.Answer == notPersonal && o.Covers(t.CatalogTable) && slices.Contains(o.Columns, column)
	})
}

// isSeen reports whether a former answer or the former data map has decided about the column.
func (d *draft) isSeen(t *table, column string) bool {
	isOpen := slices.ContainsFunc(d.former.Decisions(), func(o datamap.Decision) bool {
		return o.IsOpen() && o.Covers(t.CatalogTable) && slices.Contains(o.Columns, column)
	})
	if isOpen || slices.Contains(d.seen(t), column) {
		return !isOpen
	}
	former, _ := d.former.Table(t.Name)
	mapped, ok := t.Mapped(former, column)
	return ok && (mapped.Personal != nil || mapped.NotPersonal || len(d.former.Decisions()) == 0)
}

// include answers the questions about the tables with their first options.
func (d *draft) include(tables []string) error {
	for _, name := range tables {
		refuse := func(message string) error {
			return domain.Invalid("scaffold", []domain.FieldError{{
				Field: "include", Code: domain.FieldUnknown, Message: name + " " + message,
			}})
		}
		t := d.table(name)
		if t == nil {
			return refuse("is not a table of the catalog")
		}
		if _, ok := d.mappedTable(t); ok {
			continue
		}
		i := slices.IndexFunc(d.decisions, func(o datamap.Decision) bool { return o.Object == t.Name })
		if i < 0 {
			return refuse("is not in question: no reference leads from it to people, or it is decided")
		}
		decision := &d.decisions[i]
		var options []string
		for _, option := range decision.Options {
			options = append(options, option.Name)
		}
		if d.several[t.Name] || decision.LeavesOut(options[0]) {
			return refuse("needs an answer, which is one of " + strings.Join(options, ", ") + ": " + decision.Question)
		}
		after, err := decision.Apply(d.mapped, options[0])
		if err == nil {
			err = check(after)
		}
		if err != nil {
			return refuse("cannot be included: " + strings.TrimPrefix(err.Error(), "habeas: "))
		}
		d.mapped, decision.Answer, decision.By = after, options[0], "include"
		decision.Because = "the caller included the table"
	}
	return nil
}
