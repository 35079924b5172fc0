package porttest

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/habeas-data/habeas/domain"
)

func resolverAbsentSubjectIsErasedAlready(t testing.TB, h ResolverHarness) {
	s := h.open(t)
	assert(t, s.erase(t, s.Absent, "entry-1"), "alreadyAbsent is false for an absent subject")
}

func resolverErasureLeavesNothingToExport(t testing.TB, h ResolverHarness) {
	s := h.open(t)
	must(t, len(s.export(t, s.Populated)) != 0, "Populated has no records to begin with")
	assert(t, !s.erase(t, s.Populated, "entry-1"), "alreadyAbsent is true for a subject who was there")
	records := s.export(t, s.Populated)
	assert(t, len(records) == 0, "%d records are left", len(records))
}

func resolverErasureLeavesOthersAlone(t testing.TB, h ResolverHarness) {
	s := h.open(t)
	before := sorted(s.export(t, s.Bystander))
	must(t, len(before) != 0, "Bystander has no records to begin with")
	s.erase(t, s.Populated, "entry-1")
	s.erase(t, s.Absent, "entry-2")
	if after := sorted(s.export(t, s.Bystander)); !reflect.DeepEqual(after, before) {
		t.Errorf("the records of another subject changed: %d before, %d after", len(before), len(after))
	}
}

func resolverErasureCanBeRepeated(t testing.TB, h ResolverHarness) {
	s := h.open(t)
	for _, entryID := range []string{"entry-1", "entry-1", "entry-2"} {
		if _, err := s.Resolver.EraseSubject(context.Background(), s.Populated, callOf(entryID)); err != nil {
			t.Fatalf("erasing again as %s failed: %v", entryID, err)
		}
	}
	records := s.export(t, s.Populated)
	assert(t, len(records) == 0, "%d records are left", len(records))
}

// callers is the number of concurrent calls.
const callers = 8

func resolverCallsCanBeMadeConcurrently(t testing.TB, h ResolverHarness) {
	s := h.open(t)
	want := sorted(s.export(t, s.Bystander))
	var calls sync.WaitGroup
	for i := range callers {
		calls.Go(func() {
			records, err := s.Resolver.ExportSubject(context.Background(), s.Bystander)
			if err != nil {
				t.Errorf("a concurrent export failed: %v", err)
			} else if !reflect.DeepEqual(sorted(records), want) {
				t.Errorf("a concurrent export returned other records")
			}
			s.Resolver.CoveredSurface()
			// The calls use two ids of outbox entries. Two entries may exist for one subject, and two workers may process the
			// same entry after its lease has expired.
			call := callOf(fmt.Sprintf("entry-%d", i%2))
			if _, err := s.Resolver.EraseSubject(context.Background(), s.Populated, call); err != nil {
				t.Errorf("a concurrent erasure failed: %v", err)
			}
		})
	}
	calls.Wait()
	assert(t, reflect.DeepEqual(sorted(s.export(t, s.Bystander)), want),
		"another subject has other records than before the calls")
	if records := s.export(t, s.Populated); len(records) > 0 {
		t.Errorf("%d records are left", len(records))
	}
}

// sorted returns the records in a fixed order, because a resolver may return them in any order.
func sorted(records []domain.ExportRecord) []domain.ExportRecord {
	return slices.SortedFunc(slices.Values(records), func(a, b domain.ExportRecord) int {
		return strings.Compare(a.Row+"\x00"+a.Field, b.Row+"\x00"+b.Field)
	})
}
