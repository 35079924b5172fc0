package scaffold

import (
	"slices"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/tool/internal/names"
)

// isOfDoer reports whether a column that looks personal holds a value of the person who did something to the row, such
// as invited_by_email, and this person is none of those to whom the row belongs. The creator of a message is its
// author. The maker of a work, as in photo_by, need not be the person of the row.
func (t *table) isOfDoer(c datamap.CatalogColumn) bool {
	m, ok := t.found[c.Name]
	if ok && names.IsWorkBy(c.Name) {
		return true
	}
	doer, isDone := names.Doer(c.Name)
	if !ok || !isDone || m.Secret || !slices.Contains([]domain.Category{
		domain.CategoryIdentity, domain.CategoryContact, domain.CategoryTechnical,
	}, m.Category) || names.Is(t.Name, names.Messages) && (names.Creates(doer) || names.WritesDown(doer)) {
		return false
	}
	return !slices.ContainsFunc(t.paths, func(r *reference) bool {
		stem, _ := names.Stem(r.label())
		return r.to.isSubject && names.SameDoer(doer, stem)
	})
}

// askForDoer asks about a column for which isOfDoer is true. The proposal has no annotation for the column, because an
// erasure or an export of the person of the row would then concern the value of another person.
func (t *table) askForDoer(column string) {
	t.ask(column, "It seems to hold a value of another person than the one of the row, so an erasure of the latter leaves"+
		" it. Values of the person then stay in rows of others. May they stay?", "yes",
		"no: overwrite them in the hook BeforeErasure", "it is a value of the person of the row: annotate it")
}
