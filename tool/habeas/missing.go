package main

import (
	"context"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports"
)

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
