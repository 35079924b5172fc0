package httptestsuite

import (
	"log/slog"

	"github.com/habeas-data/habeas/adapters/http/httpapi"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/consent"
	"github.com/habeas-data/habeas/domain/erasure"
	"github.com/habeas-data/habeas/domain/export"
	"github.com/habeas-data/habeas/domain/resolvers"
	"github.com/habeas-data/habeas/domain/restriction"
)

// newAPI wires the engines as package app/stack does, which an adapter must not import.
func newAPI(
	s *sessions, dataMap domain.DataMap, purposes domain.Purposes, config httpapi.Config,
) (*httpapi.API, error) {
	clock, ids := &s.clock, &ids{}
	set, err := resolvers.NewSet(externalSystems()...)
	if err != nil {
		return nil, err
	}
	config.Export, err = export.NewExporter(export.Config{Clock: clock, IDs: ids, DataMap: dataMap, Resolvers: set})
	if err != nil {
		return nil, err
	}
	config.Erasure, err = erasure.NewEraser(erasure.Config{Clock: clock, IDs: ids, DataMap: dataMap, Resolvers: set})
	if err != nil {
		return nil, err
	}
	config.Consent = consent.NewLedger(clock, ids).WithPurposes(purposes)
	config.Restriction = restriction.NewLedger(clock, ids).WithPurposes(purposes)
	config.Sessions, config.DataMap = s, dataMap
	config.Logger = slog.New(slog.DiscardHandler)
	return httpapi.New(config)
}
