package porttest

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"sync"
	"testing"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/ports"
)

// openKeys opens a system for a case about keys. If the resolver does not implement ports.KeyResolver, openKeys returns
// false, and the case must check nothing.
func (h ResolverHarness) openKeys(t testing.TB) (resolver ports.KeyResolver, s ResolverSystem, takesKeys bool) {
	t.Helper()
	s = h.open(t)
	resolver, takesKeys = s.Resolver.(ports.KeyResolver)
	return resolver, s, takesKeys
}

// exportKeys returns the records under the keys in a fixed order. The resolver must implement ports.KeyResolver.
func (s ResolverSystem) exportKeys(t testing.TB, keys ...string) []domain.ExportRecord {
	t.Helper()
	resolver, ok := s.Resolver.(ports.KeyResolver)
	must(t, ok, "the resolver does not implement ports.KeyResolver")
	records, err := resolver.ExportKeys(t.Context(), slices.Clone(keys))
	must(t, err == nil, "ExportKeys failed: %v", err)
	return sorted(records)
}

func resolverKeysAreExportedAndErased(t testing.TB, h ResolverHarness) {
	resolver, s, takesKeys := h.openKeys(t)
	if !takesKeys {
		return
	}
	export := func(keys ...string) []domain.ExportRecord {
		t.Helper()
		return s.exportKeys(t, keys...)
	}
	erase := func(want int, entryID string, keys ...string) {
		absent, err := resolver.EraseKeys(t.Context(), keys, callOf(entryID))
		must(t, err == nil, "EraseKeys failed: %v", err)
		assert(t, absent == want, "%d of %d keys were absent, want %d", absent, len(keys), want)
	}
	populated, before := s.Keys.Populated, export(s.Keys.Bystander)
	must(t, len(before) > 0, "the key of the bystander has no records")
	for _, key := range populated {
		assert(t, len(export(key)) > 0, "a populated key has no records")
	}
	must(t, len(export(s.Keys.Absent)) == 0, "the absent key has records")
	erase(1, "entry-1", populated[0], s.Keys.Absent)
	assert(t, len(export(populated[0])) == 0, "an erased key still has records")
	assert(t, len(export(populated[1:]...)) > 0, "the other keys have no records left")
	erase(1, "entry-2", populated...)
	for _, entryID := range []string{"entry-2", "entry-3"} {
		erase(len(populated), entryID, populated...)
	}
	assert(t, len(export(populated...)) == 0, "erased keys still have records")
	assert(t, reflect.DeepEqual(export(s.Keys.Bystander), before), "the records of the bystander's key have changed")

	many := make([]string, datamap.MaxKeys)
	for i := range many {
		many[i] = s.Keys.Absent + string(rune('a'+i/26)) + string(rune('a'+i%26))
	}
	must(t, len(export(many...)) == 0 && !slices.Contains(many, s.Keys.Bystander), "absent keys have records")
	erase(len(many), "entry-4", many...)
}

// A user of the application may be able to choose a text that is stored as a key. If this key matched longer keys, an
// erasure of the user would erase the data of other subjects.
func resolverKeyIsNotMatchedAsAPrefix(t testing.TB, h ResolverHarness) {
	resolver, s, takesKeys := h.openKeys(t)
	if !takesKeys {
		return
	}
	all := append([]string{s.Keys.Bystander}, s.Keys.Populated...)
	before := s.exportKeys(t, all...)
	for length := range s.Keys.Populated[0] {
		beginning := s.Keys.Populated[0][:length]
		if length == 0 || slices.Contains(all, beginning) {
			continue
		}
		var refused *domain.ResolverError
		records, err := resolver.ExportKeys(t.Context(), []string{beginning})
		must(t, err == nil || errors.As(err, &refused), "the export of an unknown key failed: %v", err)
		assert(t, len(records) == 0, "the prefix of a key has %d records", len(records))
		_, err = resolver.EraseKeys(t.Context(), []string{beginning}, callOf("entry-1"))
		must(t, err == nil || errors.As(err, &refused), "the erasure of an unknown key failed: %v", err)
	}
	assert(t, reflect.DeepEqual(s.exportKeys(t, all...), before),
		"the erasure of a prefix has changed the records of other keys")
}

// forKeys runs a check for the methods of ports.KeyResolver, if the resolver implements this interface.
func (h ResolverHarness) forKeys(t testing.TB, check func(testing.TB, ResolverHarness, resolverMethods)) {
	t.Helper()
	if _, _, takesKeys := h.openKeys(t); takesKeys {
		check(t, h, keyMethods)
	}
}

func resolverTransientFaultIsTriedAgainForKeys(t testing.TB, h ResolverHarness) {
	h.forKeys(t, checkTransientFaults)
}

func resolverErasureSucceedsOnceTheFaultHasPassedForKeys(t testing.TB, h ResolverHarness) {
	h.forKeys(t, checkRetryOfErasure)
}

func resolverPermanentFaultIsAResolverErrorForKeys(t testing.TB, h ResolverHarness) {
	h.forKeys(t, checkPermanentFaults)
}

func resolverErrorsContainNoSecretsForKeys(t testing.TB, h ResolverHarness) {
	h.forKeys(t, checkTextsOfErrors)
}

func resolverEndedContextEndsTheCallForKeys(t testing.TB, h ResolverHarness) {
	h.forKeys(t, checkEndedContext)
}

func resolverDeadlineIsHonouredForKeys(t testing.TB, h ResolverHarness) {
	h.forKeys(t, checkDeadline)
}

func resolverCallsCanBeMadeConcurrentlyForKeys(t testing.TB, h ResolverHarness) {
	resolver, s, takesKeys := h.openKeys(t)
	if !takesKeys {
		return
	}
	want := s.exportKeys(t, s.Keys.Bystander)
	var calls sync.WaitGroup
	for i := range callers {
		calls.Go(func() {
			records, err := resolver.ExportKeys(context.Background(), []string{s.Keys.Bystander})
			if err != nil {
				t.Errorf("a concurrent export of keys failed: %v", err)
			} else if !reflect.DeepEqual(sorted(records), want) {
				t.Errorf("a concurrent export of keys returned other records")
			}
			keys, entryID := slices.Clone(s.Keys.Populated), fmt.Sprintf("entry-%d", i%2)
			if _, err := resolver.EraseKeys(context.Background(), keys, callOf(entryID)); err != nil {
				t.Errorf("a concurrent erasure of keys failed: %v", err)
			}
		})
	}
	calls.Wait()
	assert(t, reflect.DeepEqual(s.exportKeys(t, s.Keys.Bystander), want),
		"the records of the bystander's key have changed")
	assert(t, len(s.exportKeys(t, s.Keys.Populated...)) == 0, "erased keys still have records")
}
