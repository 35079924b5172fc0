package sqltext

import (
	"strings"

	"github.com/habeas-data/habeas/domain/datamap"
)

// rowsOfStep returns the condition for the rows that a step of an erasure affects. The parameter alias is the alias of
// the table. The placeholders of the subject's key start at $(offset+1).
func (w *Writer) rowsOfStep(alias string, table datamap.Table, step datamap.Step, offset int) string {
	if reference, ok := w.DataMap.SelfReference(step); ok {
		return w.rowsReferringToDeleted(alias, table, reference, offset)
	}
	path, _ := w.DataMap.PathVia(step.Target, step.Via)
	return w.pathCondition(alias, 0, table, path.Relations, offset)
}

// rowsReferringToDeleted returns the condition for the rows that refer to rows of the same table that an erasure
// deletes.
func (w *Writer) rowsReferringToDeleted(
	alias string, table datamap.Table, reference datamap.SelfReference, offset int,
) string {
	conditions := make([]string, len(reference.Paths))
	for i, path := range reference.Paths {
		toDeleted := append([]datamap.Relation{reference.Relation}, path.Relations...)
		conditions[i] = "(" + w.pathCondition(alias, 0, table, toDeleted, offset) + ")"
	}
	return "(" + strings.Join(conditions, " OR ") + ")"
}
