package porttest

import (
	"context"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/habeas-data/habeas/domain"
)

func resolverNameIsValid(t testing.TB, h ResolverHarness) {
	name := h.open(t).Resolver.Name()
	if name == "" || utf8.RuneCountInString(name) > domain.MaxTextLength || !utf8.ValidString(name) ||
		strings.Contains(name, ",") {
		t.Errorf("the name %q is not 1 to %d characters without a comma", name, domain.MaxTextLength)
	}
}

func resolverNameAndSurfaceNeverChange(t testing.TB, h ResolverHarness) {
	s, other := h.open(t), h.open(t)
	name, surface := s.Resolver.Name(), s.Resolver.CoveredSurface()
	check := func(when, gotName string, got domain.CoveredSurface) {
		t.Helper()
		assert(t, gotName == name, "%s the name is %q, was %q", when, gotName, name)
		assert(t, reflect.DeepEqual(got, surface), "%s the surface is %+v, was %+v", when, got, surface)
	}
	check("in another resolver for such a system,", other.Resolver.Name(), other.Resolver.CoveredSurface())
	s.export(t, s.Populated)
	s.erase(t, s.Populated, "entry-1")
	check("after calls", s.Resolver.Name(), s.Resolver.CoveredSurface())
}

func resolverSurfaceIsWellFormed(t testing.TB, h ResolverHarness) {
	surface := h.open(t).Resolver.CoveredSurface()
	assert(t, len(surface.Fields) != 0, "the surface has no field")
	listed := map[string]bool{}
	for _, field := range surface.Fields {
		assert(t, field.Field != "" && strings.Count(field.Field, "{id}") <= 1,
			"%q must be a field, or a family with one {id}", field.Field)
		assert(t, field.Category.Valid(), "%s has the unknown category %q", field.Field, field.Category)
		assert(t, !listed[field.Field], "%s is listed twice", field.Field)
		listed[field.Field] = true
	}
}

func resolverExportStaysWithinTheSurface(t testing.TB, h ResolverHarness) {
	s := h.open(t)
	surface := s.Resolver.CoveredSurface()
	for _, record := range s.export(t, s.Populated) {
		assert(t, surface.Covers(record), "the surface does not cover %s (%s)", record.Field, record.Category)
	}
}

// A field name with {id} stands for a family of fields, such as one field for each order. The export must contain
// records of two ids of each family. Records of only one id could come from a single field with a fixed name.
func resolverSurfaceIsExportedInFull(t testing.TB, h ResolverHarness) {
	s := h.open(t)
	records := s.export(t, s.Populated)
	for _, field := range s.Resolver.CoveredSurface().Fields {
		only := domain.CoveredSurface{Fields: []domain.CoveredField{field}}
		found := map[string]bool{}
		for _, record := range records {
			if only.Covers(record) {
				found[record.Field] = true
			}
		}
		want := 1
		if strings.Contains(field.Field, "{id}") {
			want = 2
		}
		if len(found) < want {
			t.Errorf("%s (%s) is exported %d times, want %d: the resolver leaves it out, or Populated lacks it",
				field.Field, field.Category, len(found), want)
		}
	}
}

func resolverExclusionsAreNotExported(t testing.TB, h ResolverHarness) {
	s := h.open(t)
	if len(s.Excluded) == 0 {
		assert(t, len(s.Resolver.CoveredSurface().Exclusions) == 0,
			"the surface has exclusions: Populated must have data in them, and Excluded must list it")
	}
	for _, record := range s.export(t, s.Populated) {
		text := fmt.Sprintf("%s %s %v %s", record.Field, record.Row, record.Value, record.Value)
		for i, excluded := range s.Excluded {
			assert(t, !strings.Contains(text, excluded), "%s holds Excluded[%d]", record.Field, i)
		}
	}
}

func resolverRecordsAreWellFormed(t testing.TB, h ResolverHarness) {
	s := h.open(t)
	rows := map[string]bool{}
	for _, record := range s.export(t, s.Populated) {
		assert(t, record.Field != "" && record.Row != "", "a record lacks its field or its row: field %q", record.Field)
		assert(t, record.Source == "" || record.Source == s.Resolver.Name(),
			"%s has the source %q, want an empty one or the name of the resolver", record.Field, record.Source)
		if cell := record.Row + "\x00" + record.Field; rows[cell] {
			t.Errorf("%s is exported twice for one row", record.Field)
		} else {
			rows[cell] = true
		}
		assert(t, record.Valid(),
			"%s has a value of type %T, which an export bundle cannot hold", record.Field, record.Value)
	}
}

func resolverAbsentSubjectHasNoRecords(t testing.TB, h ResolverHarness) {
	s := h.open(t)
	records := s.export(t, s.Absent)
	assert(t, len(records) == 0, "an absent subject has %d records", len(records))
}

func (s ResolverSystem) export(t testing.TB, ref domain.SubjectRef) []domain.ExportRecord {
	t.Helper()
	records, err := s.Resolver.ExportSubject(context.Background(), ref)
	must(t, err == nil, "ExportSubject failed: %v", err)
	return records
}

// callOf returns a call whose erasure was requested after the system made its records.
func callOf(entryID string) domain.ErasureCall {
	return domain.ErasureCall{
		EntryID: entryID, RequestedAt: time.Date(3000, 1, 1, 0, 0, 0, 0, time.UTC), Attempt: 1,
	}
}

func (s ResolverSystem) erase(t testing.TB, ref domain.SubjectRef, entryID string) (alreadyAbsent bool) {
	t.Helper()
	alreadyAbsent, err := s.Resolver.EraseSubject(context.Background(), ref, callOf(entryID))
	must(t, err == nil, "EraseSubject failed: %v", err)
	return alreadyAbsent
}
