package export_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/golang/mock/gomock"
	"go.uber.org/goleak"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/export"
	"github.com/habeas-data/habeas/internal/tests/fixture"
	"github.com/habeas-data/habeas/internal/tests/mocked"
	"github.com/habeas-data/habeas/ports"
	"github.com/habeas-data/habeas/ports/mocks"
)

// TestMain checks that no goroutine remains, even if a resolver responds long after its deadline.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var (
	errBoom = errors.New("boom: zoe@example.org")
	noon    = time.Date(2024, 3, 1, 12, 0, 0, 0, time.UTC)
)

// world is an exporter with mocks of its dependencies. An unexpected call fails the test.
type world struct {
	*export.Exporter
	mocked.Bundle
}

// newWorld makes an exporter with the resolvers, and a subject. The subject has a ref for each resolver except the
// resolver named "skipped".
func newWorld(t *testing.T, timeout time.Duration, registered ...ports.Resolver) world {
	t.Helper()
	return newLimited(t, timeout, nil, registered...)
}

// newLimited does the same as newWorld, with a limit of the calls.
func newLimited(
	t *testing.T, timeout time.Duration, admit func(context.Context, string) (func(), bool), registered ...ports.Resolver,
) world {
	t.Helper()
	var refs []domain.SubjectRef
	for _, resolver := range registered {
		if name := resolver.Name(); name != "skipped" {
			refs = append(refs, refTo(name))
		}
	}
	b := mocked.New(t, noon, refs...)
	exporter, err := export.NewExporter(export.Config{
		Clock: b.Clock, IDs: b.IDs, DataMap: fixture.MustMap(t, fixture.Users()), Resolvers: registered,
		ResolverTimeout: timeout, Admit: admit,
	})
	if err != nil {
		t.Fatal(err)
	}
	return world{exporter, b}
}

func refTo(name string) domain.SubjectRef { return domain.SubjectRef{Kind: name, Value: name + "-ref"} }

// expectExport expects an export that reads the given records from the application's tables. It accepts any audit
// events.
func (w world) expectExport(local ...domain.ExportRecord) {
	w.Audit.EXPECT().AppendEvidence(gomock.Any(), gomock.Any())
	w.Subjects.EXPECT().Export(gomock.Any(), w.ID, gomock.Any()).DoAndReturn(yields(local...))
	w.Audit.EXPECT().Append(gomock.Any(), gomock.Any())
}

// yields implements SubjectStore.Export with these records.
func yields(
	records ...domain.ExportRecord,
) func(context.Context, domain.SubjectID, func(domain.ExportRecord) error) error {
	return func(_ context.Context, _ domain.SubjectID, yield func(domain.ExportRecord) error) error {
		for _, record := range records {
			if err := yield(record); err != nil {
				return err
			}
		}
		return nil
	}
}

// exportFunc has the type of Resolver.ExportSubject.
type exportFunc = func(context.Context, domain.SubjectRef) ([]domain.ExportRecord, error)

// resolver makes an external system that expects one call with the ref (id in this system) of the subject.
func resolver(t *testing.T, name string, export exportFunc) ports.Resolver {
	t.Helper()
	made := mocks.NewMockResolver(gomock.NewController(t))
	made.EXPECT().Name().Return(name).AnyTimes()
	made.EXPECT().ExportSubject(gomock.Any(), refTo(name)).DoAndReturn(export)
	return made
}

// uncalled makes an external system that must not be called.
func uncalled(t *testing.T, name string) ports.Resolver {
	t.Helper()
	return mocked.Resolvers(t, name)[0]
}

func has(fields ...string) exportFunc {
	return func(context.Context, domain.SubjectRef) ([]domain.ExportRecord, error) {
		return records(fields...), nil
	}
}

func fails(context.Context, domain.SubjectRef) ([]domain.ExportRecord, error) {
	return records("partial"), errBoom // the exporter ignores records that come with an error
}

// records returns records without a source, because the exporter sets the source.
func records(fields ...string) []domain.ExportRecord {
	var made []domain.ExportRecord
	for _, field := range fields {
		made = append(made, domain.ExportRecord{Source: "to be replaced", Field: field})
	}
	return made
}

// printed lists records as "source.field".
func printed(records []domain.ExportRecord) []string {
	list := []string{}
	for _, record := range records {
		list = append(list, record.Source+"."+record.Field)
	}
	return list
}
