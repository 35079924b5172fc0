package resolvers

import (
	"context"
	"slices"
	"unicode/utf8"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/domain/plan"
	"github.com/habeas-data/habeas/ports"
)

// pageOfKeys is the number of keys that one query reads. It limits the memory for keys.
const pageOfKeys = 100 * datamap.MaxKeys

// CheckRefs returns a problem for each column whose Annotation.Ref is not the name of a ports.KeyResolver of the set.
// The problems are in the order of the tables.
func CheckRefs(m datamap.DataMap, set *Set) []domain.Problem {
	var able []string
	for _, resolver := range set.ordered {
		if _, ok := resolver.(ports.KeyResolver); ok {
			able = append(able, resolver.Name())
		}
	}
	var problems []domain.Problem
	for _, table := range m.Declared() {
		for _, column := range table.Personal() {
			name := column.Personal.Ref
			if name == "" || slices.Contains(able, name) {
				continue
			}
			problem := domain.Problem{
				Code: domain.ErrManifest, Table: table.Name, Column: column.Name,
				Message: "holds keys of an external system that has no resolver", Found: name, Possible: able,
				Remedy: "register a resolver of that name that implements ports.KeyResolver",
			}
			if set.byName[name] != nil {
				problem.Message = "holds keys of an external system whose resolver does not take keys"
				problem.Remedy = "make the resolver implement ports.KeyResolver"
			}
			problems = append(problems, problem)
		}
	}
	return problems
}

// KeyCalls calls visit with the keys that the query selects, up to datamap.MaxKeys keys in each Call. The resolver of
// the query must implement ports.KeyResolver. See KeyRefs.
func KeyCalls(
	ctx context.Context, s ports.Session, m datamap.DataMap, set *Set, id domain.SubjectID, query plan.KeyQuery,
	visit func(Call) error,
) error {
	return KeyRefs(ctx, s.Subjects().Keys, m, id, query, func(ref domain.SubjectRef) error {
		return visit(Call{set.byName[query.Resolver], ref})
	})
}

// KeyRefs calls visit with the keys that the query selects, up to datamap.MaxKeys keys in each domain.SubjectRef. It
// calls readPage for each page of keys, and holds only one page in memory. KeyRefs leaves out the values that an
// erasure has written over keys.
func KeyRefs(
	ctx context.Context, readPage func(context.Context, domain.SubjectID, plan.KeyQuery) ([]string, error),
	m datamap.DataMap, id domain.SubjectID, query plan.KeyQuery, visit func(domain.SubjectRef) error,
) error {
	query.After, query.Limit = "", pageOfKeys
	for {
		page, err := readPage(ctx, id, query)
		if err != nil {
			return err
		}
		size := len(page)
		if size > 0 {
			query.After = page[size-1]
		}
		if slices.ContainsFunc(page, func(key string) bool { return !utf8.ValidString(key) }) {
			return &domain.Error{Op: "keys", Message: "a key for " + query.Resolver + " is not valid UTF-8"}
		}
		page = slices.DeleteFunc(page, func(key string) bool { return plan.IsErasedKey(m, query.Resolver, key) })
		for keys := range slices.Chunk(page, datamap.MaxKeys) {
			if err := visit(domain.SubjectRef{Kind: query.Resolver, Keys: slices.Clip(keys)}); err != nil {
				return err
			}
		}
		if size < pageOfKeys {
			return nil
		}
	}
}

// Without returns the elements of the first list that the second list does not contain.
func Without(names, others []string) []string {
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool { return slices.Contains(others, name) })
}
