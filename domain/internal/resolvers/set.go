// Package resolvers brings a subject's refs together with the external systems that they belong to.
package resolvers

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports"
)

// Set is the external systems of an application, in the order they were registered. It is immutable and safe for
// concurrent use.
type Set struct {
	ordered []ports.Resolver
	byName  map[string]ports.Resolver
}

// Call is one external system together with the ref under which it knows the subject.
type Call struct {
	Resolver ports.Resolver
	Ref      domain.SubjectRef
}

// NewSet registers the systems. Their names must be 1 to domain.MaxTextLength characters without a comma, and
// differ; else the error is domain.ErrConfiguration.
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

// Names returns the names in the order of registration.
func (s *Set) Names() []string {
	names := make([]string, len(s.ordered))
	for i, resolver := range s.ordered {
		names[i] = resolver.Name()
	}
	return names
}

// Get returns the system of that name.
func (s *Set) Get(name string) (ports.Resolver, bool) {
	resolver, ok := s.byName[name]
	return resolver, ok
}

// CanRectify reports whether any of the systems can correct what it holds.
func (s *Set) CanRectify() bool {
	return slices.ContainsFunc(s.ordered, func(resolver ports.Resolver) bool {
		_, ok := resolver.(ports.RectifyingResolver)
		return ok
	})
}

// Targets are the operations that the systems can carry out: all of them erase, and some rectify.
func (s *Set) Targets() []domain.OutboxTarget {
	var targets []domain.OutboxTarget
	for _, resolver := range s.ordered {
		targets = append(targets, domain.OutboxTarget{Resolver: resolver.Name(), Operation: domain.OperationErase})
		if _, ok := resolver.(ports.RectifyingResolver); ok {
			targets = append(targets, domain.OutboxTarget{Resolver: resolver.Name(), Operation: domain.OperationRectify})
		}
	}
	return targets
}

// Route says which systems to call for the refs, in the order of registration, and which have no ref and are skipped.
// A ref of a kind that no system has is domain.ErrSubject: the caller does nothing at all then.
func (s *Set) Route(refs []domain.SubjectRef) (calls []Call, skipped []string, err error) {
	for _, ref := range refs {
		if s.byName[ref.Kind] == nil {
			return nil, nil, &domain.Error{
				Code: domain.ErrSubject, Op: "subject", Message: fmt.Sprintf(
					"the subject has a ref of the kind %.100q, which no resolver has; there are: %s",
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
