package resolvers

import (
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
)

// Admit checks a subject before an export, an erasure or a rectification. It returns a call for each ref of the
// subject, and the names of the external systems without a ref. Admit returns domain.ErrSubject if DataMap.CheckSubject
// or Set.Route refuses the subject. The caller must then not begin the operation.
func Admit(dataMap datamap.DataMap, set *Set, subject domain.Subject) (calls []Call, skipped []string, err error) {
	if err := dataMap.CheckSubject(subject); err != nil {
		return nil, nil, err
	}
	return set.Route(subject.Refs)
}
