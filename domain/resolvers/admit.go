package resolvers

import "github.com/habeas-data/habeas/domain"

// Admit is what stands before an export or an erasure: the subject must be whole, its id must fit the data map, and
// every ref must have a system to go to. Else the error is domain.ErrSubject and the caller does nothing at all.
func Admit(dataMap domain.DataMap, set *Set, subject domain.Subject) (calls []Call, skipped []string, err error) {
	if err := subject.Validate(); err != nil {
		return nil, nil, err
	}
	if _, err := dataMap.Key(subject.ID); err != nil {
		return nil, nil, err
	}
	return set.Route(subject.Refs)
}
