package subject

import (
	"strconv"
	"time"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/rows"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/syntax"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/plan"
)

// exportedLife returns the expressions of the evidence about the life of the subject's id, as texts: whether the
// subject has a row, the number of erasures, the instants of the mark that a life depends on, and lifeOfRow.
func exportedLife(w *rows.Writer) []string {
	exists := "t0." + syntax.Quote(w.DataMap.SubjectTable().SubjectKey[0])
	life := []string{rows.AsText(exists), rows.AsText("m.erasures")}
	for _, instant := range []string{"added_at", "registered_at", "registered_added_at"} {
		life = append(life, w.AddedValue("m."+instant))
	}
	return append(life, lifeOfRow(w)...)
}

// life judges the evidence in the row of preconditions.
func (e *exportStatement) life(row *exportRow) domain.Life {
	values := row.values[e.preconditions:len(e.sources[0].selected)]
	var mark domain.ErasureMark
	var addedAt time.Time
	if values[1] != nil {
		mark.Erasures, _ = strconv.ParseInt(syntax.Text(values[1]), 10, 64)
	}
	for i, instant := range []*time.Time{&mark.AddedAt, &mark.RegisteredAt, &mark.RegisteredAddedAt, &addedAt} {
		*instant = readAdded(values[i+2])
	}
	var evidence domain.LifeEvidence
	if values[0] != nil {
		texts := make([]any, len(values)-6)
		for i, value := range values[6:] {
			if value != nil {
				texts[i] = syntax.Text(value)
			}
		}
		evidence = plan.LifeEvidence(e.dataMap, addedAt, texts)
	}
	return mark.Life(evidence)
}
