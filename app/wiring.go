package app

import (
	"cmp"
	"context"
	"log/slog"

	"github.com/habeas-data/habeas/adapters/persistence/bunmodels"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore"
	"github.com/habeas-data/habeas/app/stack"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/internal/system"
	"github.com/habeas-data/habeas/ports"
)

// Stack has all services of habeas. The routers of an Integration call them for requests, and an application can call
// them outside of a request. stack.New creates a Stack for any session factory. An application that fills a Stack
// itself must set every field except Clock, IDs, Verifier, Register, Person, Catalog, Finder and Observer.
type Stack = stack.Stack

// services returns the services of c.Stack. Without them, it creates services on c.DB, whose store calls the function
// wake after each commit that adds entries to the outbox.
func services(c Config, wake func()) (Stack, *bunstore.Store, error) {
	if c.Stack != nil {
		given := *c.Stack
		given.Clock = cmp.Or(given.Clock, ports.Clock(system.Clock{}))
		given.IDs = cmp.Or(given.IDs, ports.IDSource(&system.IDs{}))
		return given, nil, nil
	}
	dataMap, err := c.readDataMap()
	if err != nil {
		return Stack{}, nil, err
	}
	store, err := bunstore.New(c.DB, dataMap, bunstore.Options{
		Schema: c.Schema, Name: c.Name, Enqueued: wake, TrustRowFilters: c.TrustRowFilters, TrustEncoding: c.TrustEncoding,
		SynchronousCommit: c.SynchronousCommit, ReadDB: c.ReadDB, Logger: c.Logger, Observer: c.Observer,
		Register: c.Requests != nil,
	})
	if err != nil {
		return Stack{}, nil, err
	}
	c.Hooks.Logger = cmp.Or(c.Hooks.Logger, c.Logger)
	created, err := stack.New(stack.Config{
		Sessions: store, DataMap: dataMap, Purposes: c.Purposes,
		Resolvers: c.Resolvers, OnAbandoned: c.OnAbandoned, Clock: c.Clock, Options: c.Options,
		Catalog: store, Finder: store,
	})
	if err != nil {
		return Stack{}, nil, err
	}
	logNotices(c.Logger, dataMap)
	return created, store, nil
}

// readDataMap returns DataMap or the data map of Models, with the settings of this Config.
func (c Config) readDataMap() (dataMap datamap.DataMap, err error) {
	dataMap = c.DataMap
	if dataMap.IsZero() {
		if dataMap, err = bunmodels.Read(c.DB, c.Models, c.CustomTypes); err != nil {
			return dataMap, err
		}
	}
	decisions, problems := datamap.Decisions(c.LeftOut)
	if len(problems) > 0 {
		return dataMap, domain.Misconfigured("app", problems[0].String())
	}
	dataMap = dataMap.WithAccepted(c.Accepted...).WithDecisions(decisions...)
	if c.Zone == "" {
		return dataMap, nil
	}
	return dataMap.WithZone(c.Zone)
}

// logNotices logs a warning for each notice of the data map.
func logNotices(logger *slog.Logger, dataMap datamap.DataMap) {
	logger = cmp.Or(logger, slog.Default())
	for _, notice := range dataMap.Notices() {
		logger.LogAttrs(context.Background(), slog.LevelWarn, "habeas: notice about the data map: "+notice.Message,
			slog.String("table", notice.Table), slog.String("column", notice.Column))
	}
}
