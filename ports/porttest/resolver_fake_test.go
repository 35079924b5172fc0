package porttest

import (
	"context"
	"maps"
	"sync"
	"testing"
	"time"

	"github.com/habeas-data/habeas/domain"
)

// fakeResolver is a correct resolver whose external system is in memory. A test replaces one of its functions to make
// the resolver defective.
type fakeResolver struct {
	surface func() domain.CoveredSurface
	export  func(ctx context.Context, ref domain.SubjectRef) ([]domain.ExportRecord, error)
	erase   func(ctx context.Context, ref domain.SubjectRef, entryID string) (bool, error)

	byKeys  func(ctx context.Context, keys []string) ([]domain.ExportRecord, error)
	eraseBy func(ctx context.Context, keys []string, entryID string) (int, error)

	mu      sync.Mutex
	people  map[string]string // emails by the value of the ref
	failing error
	hanging bool

	system ResolverSystem
}

func (f *fakeResolver) Name() string                          { return "fake" }
func (f *fakeResolver) CoveredSurface() domain.CoveredSurface { return f.surface() }

func (f *fakeResolver) ExportSubject(ctx context.Context, ref domain.SubjectRef) ([]domain.ExportRecord, error) {
	return f.export(ctx, ref)
}

func (f *fakeResolver) EraseSubject(ctx context.Context, ref domain.SubjectRef, call domain.ErasureCall) (bool, error) {
	return f.erase(ctx, ref, call.EntryID)
}

func (f *fakeResolver) ExportKeys(ctx context.Context, keys []string) ([]domain.ExportRecord, error) {
	return f.byKeys(ctx, keys)
}

func (f *fakeResolver) EraseKeys(ctx context.Context, keys []string, call domain.ErasureCall) (int, error) {
	return f.eraseBy(ctx, keys, call.EntryID)
}

func (f *fakeResolver) doByKeys(ctx context.Context, keys []string) (records []domain.ExportRecord, err error) {
	for _, key := range keys {
		found, err := f.doExport(ctx, domain.SubjectRef{Value: key})
		if err != nil {
			return nil, err
		}
		records = append(records, found...)
	}
	return records, nil
}

func (f *fakeResolver) doEraseBy(ctx context.Context, keys []string, entryID string) (absent int, err error) {
	for _, key := range keys {
		already, err := f.doErase(ctx, domain.SubjectRef{Value: key}, entryID)
		if err != nil {
			return 0, err
		}
		if already {
			absent++
		}
	}
	return absent, nil
}

const (
	secretToken = "token-of-the-fake"
	secretNote  = "a note that is excluded"
)

func newFake() *fakeResolver {
	f := &fakeResolver{people: map[string]string{"zoe-ref": "zoe@example.org", "yan-ref": "yan@example.org"}}
	f.surface = func() domain.CoveredSurface {
		return domain.CoveredSurface{
			Fields: []domain.CoveredField{
				{Field: "email", Category: domain.CategoryContact},
				{Field: "visit.{id}.at", Category: domain.CategoryBehavioral},
			},
			Exclusions: []string{"notes"},
		}
	}
	f.export, f.erase, f.byKeys, f.eraseBy = f.doExport, f.doErase, f.doByKeys, f.doEraseBy
	f.people["photo-1"], f.people["photo-2"] = "1", "2"
	f.system = ResolverSystem{
		Resolver:  f,
		Populated: domain.SubjectRef{Kind: "fake", Value: "zoe-ref"},
		Bystander: domain.SubjectRef{Kind: "fake", Value: "yan-ref"},
		Absent:    domain.SubjectRef{Kind: "fake", Value: "nobody-ref"},
		Keys: ResolverKeys{
			Populated: []string{"photo-1", "photo-2"}, Bystander: "yan-ref", Absent: "photo-3",
		},
		Excluded: []string{secretNote},
		Secrets:  []string{secretToken},
		Transient: []ResolverFault{
			{Name: "down", Inject: f.inject(&domain.RetryLaterError{Resolver: "fake", Message: "no answer"})},
		},
		Permanent: []ResolverFault{
			{Name: "forbidden", Inject: f.inject(&domain.ResolverError{Resolver: "fake", Message: "refused"})},
		},
		Heal: func() { f.inject(nil)() },
		Hang: func() { f.mu.Lock(); defer f.mu.Unlock(); f.hanging = true },
	}
	return f
}

func (f *fakeResolver) inject(err error) func() {
	return func() { f.mu.Lock(); defer f.mu.Unlock(); f.failing = err }
}

// call returns the error of the injected fault, if there is one. Every method of the resolver first calls this
// function.
func (f *fakeResolver) call(ctx context.Context) error {
	f.mu.Lock()
	failing, hanging := f.failing, f.hanging
	f.mu.Unlock()
	if hanging {
		<-ctx.Done()
	}
	if err := ctx.Err(); err != nil {
		return &domain.RetryLaterError{Resolver: "fake", Message: "ended", Err: err}
	}
	return failing
}

func (f *fakeResolver) doExport(ctx context.Context, ref domain.SubjectRef) ([]domain.ExportRecord, error) {
	if err := f.call(ctx); err != nil {
		return nil, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	email, known := f.people[ref.Value]
	if !known {
		return nil, nil
	}
	at := time.Date(2024, 3, 1, 12, 0, 0, 0, time.UTC)
	return []domain.ExportRecord{
		{Field: "email", Row: "person", Category: domain.CategoryContact, Value: email},
		{Field: "visit.1.at", Row: "visit/1", Category: domain.CategoryBehavioral, Value: at},
		{Field: "visit.2.at", Row: "visit/2", Category: domain.CategoryBehavioral, Value: at},
	}, nil
}

func (f *fakeResolver) doErase(ctx context.Context, ref domain.SubjectRef, _ string) (bool, error) {
	if err := f.call(ctx); err != nil {
		return false, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	_, known := f.people[ref.Value]
	delete(f.people, ref.Value)
	return !known, nil
}

func (f *fakeResolver) everybody() map[string]string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return maps.Clone(f.people)
}

// harness returns a harness whose resolvers have the defect.
func harness(defect func(*fakeResolver)) ResolverHarness {
	return ResolverHarness{
		Patience: testPatience,
		Open: func(testing.TB) ResolverSystem {
			f := newFake()
			defect(f)
			return f.system
		},
	}
}
