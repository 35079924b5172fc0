package schemas

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"

	"github.com/uptrace/bun"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore"
	"github.com/habeas-data/habeas/app"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/rectification"
	"github.com/habeas-data/habeas/internal/tests/databases"
	"github.com/habeas-data/habeas/internal/tests/fixture"
	"github.com/habeas-data/habeas/ports"
)

// system is an external system that records its calls.
type system struct {
	mu    sync.Mutex
	calls []string
}

func (s *system) note(call string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls = append(s.calls, call)
}

func (s *system) Name() string                          { return "crm" }
func (s *system) CoveredSurface() domain.CoveredSurface { return domain.CoveredSurface{} }

func (s *system) ExportSubject(context.Context, domain.SubjectRef) ([]domain.ExportRecord, error) {
	return nil, nil
}

func (s *system) EraseSubject(context.Context, domain.SubjectRef, domain.ErasureCall) (bool, error) {
	s.note("erase")
	return false, nil
}

func (s *system) RectifySubject(context.Context, domain.SubjectRef, domain.RectificationCall,
	domain.Corrections,
) error {
	s.note("rectify")
	return nil
}

var crm = domain.SubjectRef{Kind: "crm", Value: "c-1"}

func accounts() []string {
	return []string{
		"CREATE TABLE accounts (id bigint PRIMARY KEY, email text, address text, number text, issued_at timestamp)",
		"INSERT INTO accounts VALUES (1, 'a@example.org', 'Street', 'N', '2024-03-01 00:00:00')",
	}
}

// corrections has three cases: a correction of a column that an erasure overwrites, of a column that an erasure
// retains, and of a category that only the external system has.
var corrections = map[string]domain.Corrections{
	"an anonymized column": {domain.CategoryContact: "new@example.org"},
	"a retained column":    {domain.CategoryIdentity: "new number"},
	"external only":        {domain.CategoryLocation: "new place"},
}

func TestNoCorrectionReachesASystemAfterAnErasure(t *testing.T) {
	t.Parallel()
	for name, corrected := range corrections {
		t.Run(name, func(t *testing.T) {
			databases.Each(t, func(t *testing.T, db *bun.DB) {
				crmSystem := &system{}
				a := open(t, db, app.Config{Models: []any{(*account)(nil)}, Resolvers: []ports.Resolver{crmSystem}}, accounts()...)
				_, err := a.erase(t.Context(), "1", crm)
				must(t, err)
				if _, err := a.rectify(t.Context(), "1", corrected, crm); !errors.Is(err, domain.ErrConflict) {
					t.Errorf("got %v", err)
				}
				a.drain(t)
				if !slices.Equal(crmSystem.calls, []string{"erase"}) {
					t.Errorf("%v", crmSystem.calls)
				}
				if a.text(t, "SELECT email FROM accounts") == "new@example.org" {
					t.Error("an erased address has come back")
				}
				if retained := a.text(t, "SELECT number FROM accounts"); retained != "N" {
					t.Errorf("the retained number is %s", retained)
				}
			})
		})
	}
}

// An erasure and a correction of the same subject run concurrently. Regardless of which operation begins first, the
// external system must receive no correction after the erasure.
func TestACorrectionThatIsUnderWayIsOrderedWithTheErasure(t *testing.T) {
	t.Parallel()
	for name, corrected := range corrections {
		for _, erasureFirst := range []bool{true, false} {
			t.Run(name, func(t *testing.T) {
				crmSystem := &system{}
				a := open(t, onPostgres(t), app.Config{Models: []any{(*account)(nil)}, Resolvers: []ports.Resolver{crmSystem}},
					accounts()...)
				subject := fixture.MustSubject(t, "1", crm)
				erase := func(ctx context.Context, s ports.Session) error {
					_, err := a.Stack().Eraser.Erase(ctx, s, subject)
					return err
				}
				rectify := func(ctx context.Context, s ports.Session) error {
					_, err := a.Stack().Rectifier.RectifySubject(ctx, s, subject, corrected, rectification.AllColumns())
					return err
				}
				first, second := rectify, erase
				if erasureFirst {
					first, second = erase, rectify
				}
				elsewhere, err := bunstore.New(a.db, a.Stack().DataMap, bunstore.Options{}) // as in another process
				must(t, err)
				done := make(chan error, 1)
				must(t, a.Stack().Sessions.Do(t.Context(), func(ctx context.Context, s ports.Session) error {
					if err := first(ctx, s); err != nil {
						return err
					}
					go func() { done <- elsewhere.Do(t.Context(), second) }()
					a.awaitLock(t)
					return nil
				}))
				if err := <-done; erasureFirst && !errors.Is(err, domain.ErrConflict) || !erasureFirst && err != nil {
					t.Errorf("erasure first %v: %v", erasureFirst, err)
				}
				a.drain(t)
				if !slices.Equal(crmSystem.calls, []string{"erase"}) {
					t.Errorf("erasure first %v: %v", erasureFirst, crmSystem.calls)
				}
			})
		}
	}
}

// An erasure deletes the row of a subject. The application then creates the row again. A correction must change the row
// and the external system.
func TestASubjectThatWasCreatedAgainIsRectified(t *testing.T) {
	t.Parallel()
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		crmSystem := &system{}
		a := open(t, db, app.Config{Models: shop, Resolvers: []ports.Resolver{crmSystem}}, shopTables()...)
		_, err := a.erase(t.Context(), "1", crm)
		must(t, err)
		a.drain(t)
		execute(t, db, "INSERT INTO people VALUES (1, 'again@example.org')")
		result, err := a.rectify(t.Context(), "1", domain.Corrections{domain.CategoryContact: "new@example.org"}, crm)
		must(t, err)
		a.drain(t)
		if !slices.Equal(crmSystem.calls, []string{"erase", "rectify"}) || result.Rectified["people"] != 1 {
			t.Errorf("%v, %+v", crmSystem.calls, result)
		}
	})
}

// drain processes the outbox until no entry is due.
func (a *application) drain(t testing.TB) {
	t.Helper()
	for {
		n, err := a.Stack().Runner.RunOnce(t.Context())
		must(t, err)
		if n == 0 {
			return
		}
	}
}
