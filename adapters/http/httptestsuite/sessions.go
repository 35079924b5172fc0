package httptestsuite

import (
	"context"
	"strings"
	"sync"
	"time"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports"
)

// sessions wraps the session factory of the store of a test case. It records queries. A test can make it return errors.
type sessions struct {
	ports.SessionFactory
	clock clock

	mu      sync.Mutex
	fault   func(ctx context.Context) error
	cut     int          // the number of the record at which an export fails; 0 means never
	held    int          // the number of the record at which an export waits; 0 means never
	ended   chan<- error // receives the error of each session; may be nil
	opened  int
	queries []query
}

// query records a query for the consent of a subject. If purpose and purposeCopy differ later, the server has reused
// the memory of the purpose.
type query struct {
	subject              domain.SubjectID
	purpose, purposeCopy string
}

// failWith makes later sessions call the given function first. If this function returns an error, the session fails
// with that error.
func (s *sessions) failWith(fault func(ctx context.Context) error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fault = fault
}

// count returns the number of opened sessions.
func (s *sessions) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.opened
}

// Do implements ports.SessionFactory.
func (s *sessions) Do(ctx context.Context, fn func(context.Context, ports.Session) error) error {
	s.mu.Lock()
	s.opened++
	s.clock.seconds.Add(1)
	fault, ended := s.fault, s.ended
	s.mu.Unlock()
	if fault != nil {
		if err := fault(ctx); err != nil {
			return err
		}
	}
	err := s.SessionFactory.Do(ctx, func(ctx context.Context, opened ports.Session) error {
		return fn(ctx, session{opened, s})
	})
	if ended != nil {
		ended <- err
	}
	return err
}

type session struct {
	ports.Session
	sessions *sessions
}

// Consents implements ports.Session.
func (s session) Consents() ports.ConsentStore { return consents{s.Session.Consents(), s.sessions} }

type consents struct {
	ports.ConsentStore
	sessions *sessions
}

// Latest implements ports.ConsentStore.
func (c consents) Latest(
	ctx context.Context, id domain.SubjectID, purpose string, asOf *time.Time,
) (*domain.ConsentRecord, error) {
	c.sessions.mu.Lock()
	c.sessions.queries = append(c.sessions.queries, query{id, purpose, strings.Clone(purpose)})
	c.sessions.mu.Unlock()
	return c.ConsentStore.Latest(ctx, id, purpose, asOf)
}
