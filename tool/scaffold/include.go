package scaffold

import (
	"cmp"
	"slices"
	"strings"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/tool/internal/names"
)

// markIncluded marks the tables that the caller adds to the data map.
func (d *draft) markIncluded(list []string) {
	for _, name := range list {
		if t := d.table(name); t != nil {
			t.included = true
		}
	}
}

// refersToPerson reports whether a reference of the table leads to the subject's table.
func (d *draft) refersToPerson(t *table) bool {
	return slices.ContainsFunc(t.out, func(r *reference) bool { return r.to == d.subject })
}

// isOfPerson reports whether the name of a reference column means the person of a row in an included table, such as
// actor_id. The table has no reference to people.
func (d *draft) isOfPerson(t *table, column string) bool {
	stem, isReference := names.Stem(column)
	return isReference && t.included && t != d.subject && !t.refers(column) && !d.refersToPerson(t) &&
		(names.Acts(column) || names.IsRole(stem) && names.RoleOf(column) != names.Party ||
			names.EndsIn(stem, d.subject.base))
}

// isOwnText reports whether a column of an included table whose rows stay holds what the person entered, because all
// rows are the person's. The same name means no personal data in other tables, and in records that must be kept by law.
func (t *table) isOwnText(c datamap.CatalogColumn) bool {
	parts := names.Words(c.Name)
	if !t.included || t.mapped || t.rowsDeleted || t.isOfDuty() || t.fate == left || len(parts) == 0 || t.refers(c.Name) ||
		c.Generated || slices.Contains(t.key, c.Name) || t.isReferredTo(c.Name) || isFixed(c) || t.IsChoice(c) {
		return false
	}
	last := parts[len(parts)-1]
	isWord := slices.Contains(ofOwner, last) || names.IsDocument(c.Name) ||
		len(parts) == 1 && slices.Contains(ofOwnerAlone, last)
	return isWord && (c.Type == datamap.TypeText || c.Type == datamap.TypeJSON)
}

var (
	ofOwner      = append([]string{"filename", "details", "content"}, ofNames...)
	ofOwnerAlone = []string{"code", "key", "value", "path", "url"}
)

// include returns ErrInvalid with the reason for an included table that cannot be in a data map.
func (d *draft) include(list []string) error {
	return refuse(list, func(name string) string {
		switch t := d.table(name); {
		case t == nil && strings.Contains(name, ","):
			return "is not a table of the catalog; name each table on its own, and repeat --include"
		case t == nil:
			return "is not a table of the catalog"
		case !t.canBeMapped():
			return "has no primary key and no unique key, so an erasure cannot find its rows"
		case t.distance == unreachable:
			return "has no relation that leads to " + d.subject.Name + ", so the data map needs a relation first"
		default:
			return ""
		}
	})
}

// checkIncluded returns ErrInvalid with the reason for each table that the caller includes, but that an erasure would
// not change.
func (d *draft) checkIncluded(list []string) error {
	return refuse(list, func(name string) string {
		t := d.table(name)
		i := slices.IndexFunc(t.Columns, func(c datamap.CatalogColumn) bool { return d.isOfPerson(t, c.Name) })
		owner := cmp.Or(t.otherOwner(), t.partaker())
		switch {
		case t.mapped:
			return ""
		case owner != "":
			return "leads to a person only by " + t.paths[0].label() + ", but the owner of a row seems to be in " + owner +
				": write a relation for this column"
		case i >= 0 && len(t.paths) > 0:
			return "leads to a person only by " + t.paths[0].label() + ", but the person of a row seems to be in " +
				t.Columns[i].Name + ": write a relation for this column"
		case d.isJudged(t):
			return "leads to a person only by " + t.paths[0].label() + ", who seems to have decided about rows of others: " +
				"write a relation for the column of the person of a row"
		case t.isCounting():
			return "leads to a person only by " + t.paths[0].label() + ", which may be a count: write a relation for the " +
				"column of the person of a row"
		case t.isPointing():
			return "leads to a person only by " + t.paths[0].label() + ", which the database clears (ON DELETE SET NULL), so " +
				"that its rows need not be those of the person: write a relation for the column of the person of a row"
		case !t.chosen:
			return "would not change, because none of its columns looks personal: " + t.reason
		}
		return ""
	})
}

// isJudged reports whether the paths of a table only lead to people who decided about rows of others, such as those who
// approved or awarded them. The people of the data map can be such people, as moderators are.
func (d *draft) isJudged(t *table) bool {
	return len(t.paths) > 0 && !slices.ContainsFunc(t.paths, func(r *reference) bool {
		stem, _ := names.Stem(r.label())
		return !r.to.isSubject || !names.Judges(r.label()) || d.subject.isMeantBy(stem)
	})
}

// isPointing reports whether the rows lead to a person only by a reference to a thing of hers that the database clears,
// and that is not named after the thing, such as the picture on the cover.
func (t *table) isPointing() bool {
	if len(t.paths) != 1 || t.parent().isSubject || !t.paths[0].setsNull {
		return false
	}
	stem, _ := names.Stem(t.paths[0].label())
	return !names.EndsIn(stem, t.parent().base)
}

// isCounting reports whether the rows lead to a person only by the name of a column that may be a count, such as
// followers.
func (t *table) isCounting() bool {
	if len(t.paths) != 1 || !t.parent().isSubject || !t.paths[0].guessed {
		return false
	}
	name := t.paths[0].label()
	_, isReference := names.Stem(name)
	return !isReference && !strings.EqualFold(names.Singular(name), name)
}

// isOfDuty reports whether the rows are records that must be kept by law, or parts of such records.
func (t *table) isOfDuty() bool {
	for ; t != nil && !t.isSubject; t = t.parent() {
		if names.Is(t.Name, names.Duties) {
			return true
		}
	}
	return false
}

// partaker returns a reference to a person who takes part, such as customer_id and participant_id, if the paths only
// lead to people who created a row or worked on it, who may be employees. It returns "" if there is no such reference.
func (t *table) partaker() string {
	if len(t.paths) == 0 || slices.ContainsFunc(t.paths, func(r *reference) bool {
		stem, _ := names.Stem(r.label())
		return !r.to.isSubject || r.role != names.Maker && !names.Judges(r.label()) && !names.EndsIn(stem, "assignee")
	}) {
		return ""
	}
	for _, r := range t.out {
		stem, _ := names.Stem(r.label())
		if !r.to.isSubject && r.to.distance != unreachable &&
			(names.TakesPart(stem) || slices.Contains(ofCustomers, lastWord(stem)) || names.EndsIn(stem, t.paths[0].to.base)) {
			return r.label()
		}
	}
	for _, c := range t.Columns {
		if stem, isReference := names.Stem(c.Name); isReference && names.TakesPart(stem) && !t.refers(c.Name) {
			return c.Name
		}
	}
	return ""
}

var ofCustomers = []string{"customer", "client", "member"}

// refuse returns ErrInvalid if a table of the list has a reason for which it cannot be included. The reason is a clause
// without its subject.
func refuse(list []string, why func(table string) string) error {
	var fields []domain.FieldError
	for _, name := range list {
		if reason := why(name); reason != "" {
			fields = append(fields, domain.FieldError{
				Field: "include", Code: domain.FieldUnknown, Message: name + " " + reason,
			})
		}
	}
	if len(fields) == 0 {
		return nil
	}
	return domain.Invalid("scaffold", fields)
}

// includeMapped marks the tables of an existing data map.
func (d *draft) includeMapped(m datamap.DataMap) {
	if m.IsZero() {
		return
	}
	for _, table := range m.Tables() {
		if t := d.table(table.Name); t != nil && t.distance != unreachable {
			t.included, t.mapped, t.deletes = true, true, deletesRows(m, table.Name)
		}
	}
}
