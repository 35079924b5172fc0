package httptestsuite

import (
	"context"
	"strings"
	"sync"
	"time"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports"
)

// sessions are those of a case's store. They see what the store is asked, and fail when they are told to.
type sessions struct {
	store ports.SessionFactory
	clock clock

	mu     sync.Mutex
	fault  func(ctx context.Context) error
	cut    int          // after how many records an export fails; 0 means never
	ended  chan<- error // told what came of each session; nil for nobody
	opened int
	asked  []question
}

// question names the subject whose consent the store was asked for. It holds the purpose twice: the string that the
// store was given, and a copy of it from that time.
type question struct {
	subject       domain.SubjectID
	given, copied string
}

// failWith makes Do call the fault before anything else, and return its error.
func (s *sessions) failWith(fault func(ctx context.Context) error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fault = fault
}

// count returns how many sessions were opened.
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
	err := s.store.Do(ctx, func(ctx context.Context, opened ports.Session) error { return fn(ctx, session{opened, s}) })
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
	c.sessions.asked = append(c.sessions.asked, question{id, purpose, strings.Clone(purpose)})
	c.sessions.mu.Unlock()
	return c.ConsentStore.Latest(ctx, id, purpose, asOf)
}
