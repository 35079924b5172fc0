// Package resolvers assigns the refs of a subject to external systems. A ref is the id of the subject in such a system.
package resolvers

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports"
)

// Set holds the resolvers of an application, one for each external system, in the order of registration. It is
// immutable and safe for concurrent use.
type Set struct {
	ordered []ports.Resolver
	byName  map[string]ports.Resolver
}

// Call is a resolver with the ref (the id of the subject in the external system) that is passed to it.
type Call struct {
	Resolver ports.Resolver
	Ref      domain.SubjectRef
}

// NewSet returns a set of the resolvers. Their names must be unique and have 1 to domain.MaxTextLength characters
// without a comma. Otherwise NewSet returns domain.ErrConfiguration.
func NewSet(registered ...ports.Resolver) (*Set, error) {
	set := &Set{byName: map[string]ports.Resolver{}}
	for _, resolver := range registered {
		if resolver == nil {
			return nil, domain.Misconfigured("resolvers", "a resolver is nil")
		}
		name := resolver.Name()
		if len(domain.CheckText("name", name, 1)) > 0 || strings.Contains(name, ",") {
			return nil, domain.Misconfigured("resolvers", "a resolver's name must have 1 to 255 characters and no comma")
		}
		if set.byName[name] != nil {
			return nil, domain.Misconfigured("resolvers", "two resolvers have the name "+name)
		}
		set.ordered = append(set.ordered, resolver)
		set.byName[name] = resolver
	}
	return set, nil
}

// Names returns the names of the resolvers in the order of registration.
func (s *Set) Names() []string {
	names := make([]string, len(s.ordered))
	for i, resolver := range s.ordered {
		names[i] = resolver.Name()
	}
	return names
}

// Get returns the resolver with the name.
func (s *Set) Get(name string) (ports.Resolver, bool) {
	resolver, ok := s.byName[name]
	return resolver, ok
}

// OperationsOf returns the operations that the resolver with the name can carry out. Every resolver can erase, and some
// can also rectify.
func (s *Set) OperationsOf(name string) []domain.Operation {
	if _, ok := s.byName[name].(ports.RectifyingResolver); ok {
		return []domain.Operation{domain.OperationErase, domain.OperationRectify}
	}
	return []domain.Operation{domain.OperationErase}
}

// Route returns a Call for each ref, in the order of registration, and the names of the resolvers without a ref. It
// returns domain.ErrSubject if the kind of a ref is not the name of a resolver.
func (s *Set) Route(refs []domain.SubjectRef) (calls []Call, skipped []string, err error) {
	for _, ref := range refs {
		if s.byName[ref.Kind] == nil {
			return nil, nil, &domain.Error{
				Code: domain.ErrSubject, Op: "subject", Message: fmt.Sprintf(
					"the subject has a ref of the kind %.100q, but no resolver has that name; registered: %s",
					ref.Kind, cmp.Or(strings.Join(s.Names(), ", "), "none"),
				),
			}
		}
	}
	for _, resolver := range s.ordered {
		called := false
		for _, ref := range refs {
			if ref.Kind == resolver.Name() {
				calls = append(calls, Call{Resolver: resolver, Ref: ref})
				called = true
			}
		}
		if !called {
			skipped = append(skipped, resolver.Name())
		}
	}
	return calls, skipped, nil
}
