package main

import (
	"context"
	"io"
	"strings"

	"github.com/habeas-data/habeas/app"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports"
)

// standalone is an application without its own code: without resolvers and hooks. It refuses erasures that would leave
// out the external systems and the hooks of the application. The worker of the application has recorded them.
type standalone struct {
	*app.Operator
	withoutHooks bool     // the operator accepts that they are left out
	missing      []string // the systems whose keys are in columns of the data map
}

// Erase implements cli.Application.
func (s standalone) Erase(ctx context.Context, subject domain.Subject) (domain.ErasureResult, error) {
	if err := s.mayErase(ctx); err != nil {
		return domain.ErasureResult{}, err
	}
	return s.Operator.Erase(ctx, subject)
}

// EraseAsRehearsed implements cli.Application.
func (s standalone) EraseAsRehearsed(
	ctx context.Context, subject domain.Subject, fingerprint string,
) (domain.ErasureResult, error) {
	if err := s.mayErase(ctx); err != nil {
		return domain.ErasureResult{}, err
	}
	return s.Operator.EraseAsRehearsed(ctx, subject, fingerprint)
}

// Replay implements cli.Application.
func (s standalone) Replay(ctx context.Context, lines io.Reader, o app.ReplayOptions) (domain.ReplayReport, error) {
	if err := s.mayErase(ctx); err != nil {
		return domain.ReplayReport{}, err
	}
	return s.Operator.Replay(ctx, lines, o)
}

// Sweep implements cli.Application.
func (s standalone) Sweep(ctx context.Context, progress func(domain.SweepReport)) (domain.SweepReport, error) {
	if err := s.hasAll(); err != nil {
		return domain.SweepReport{}, err
	}
	return s.Operator.Sweep(ctx, progress)
}

// hasAll returns domain.ErrConfiguration if the data map needs resolvers, which only the application has.
func (s standalone) hasAll() error {
	if len(s.missing) == 0 {
		return nil
	}
	return domain.Misconfigured("habeas", "nothing was changed: the data map has keys of external systems ("+
		strings.Join(s.missing, ", ")+"), whose resolvers only the application's own program has. Use the command there")
}

// mayErase returns domain.ErrConfiguration if the application does more in an erasure than this program.
func (s standalone) mayErase(ctx context.Context) error {
	if err := s.hasAll(); err != nil || s.withoutHooks {
		return err
	}
	installation, err := s.Installation(ctx)
	if err != nil || installation.Started == nil {
		return err
	}
	var more []string
	if systems := installation.Started.Resolvers; len(systems) > 0 {
		more = append(more, "calls external systems ("+strings.Join(systems, ", ")+")")
	}
	if installation.Started.Hooks {
		more = append(more, "runs hooks")
	}
	if len(more) == 0 {
		return nil
	}
	return domain.Misconfigured("habeas", "nothing was changed: in an erasure, the application "+
		strings.Join(more, " and ")+", and this program does not. Use the commands in the application's own program, or"+
		" give --without-hooks")
}

// missing stands for a resolver of the application, whose keys are in columns of the data map. The program can then
// read and rehearse with the data map of the application. It calls no system: the commands that would are refused.
type missing struct{ name string }

var _ ports.KeyResolver = missing{}

// Name implements ports.Resolver.
func (m missing) Name() string { return m.name }

// CoveredSurface implements ports.Resolver.
func (missing) CoveredSurface() domain.CoveredSurface { return domain.CoveredSurface{} }

// ExportSubject implements ports.Resolver.
func (m missing) ExportSubject(context.Context, domain.SubjectRef) ([]domain.ExportRecord, error) {
	return nil, m.refuse()
}

// EraseSubject implements ports.Resolver.
func (m missing) EraseSubject(context.Context, domain.SubjectRef, domain.ErasureCall) (bool, error) {
	return false, m.refuse()
}

// ExportKeys implements ports.KeyResolver.
func (m missing) ExportKeys(context.Context, []string) ([]domain.ExportRecord, error) {
	return nil, m.refuse()
}

// EraseKeys implements ports.KeyResolver.
func (m missing) EraseKeys(context.Context, []string, domain.ErasureCall) (int, error) {
	return 0, m.refuse()
}

func (m missing) refuse() error {
	return domain.Misconfigured("habeas", "this program has no resolver for "+m.name)
}
