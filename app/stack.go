package app

import (
	"github.com/habeas-data/habeas/adapters/persistence/bunstore"
	"github.com/habeas-data/habeas/app/stack"
	"github.com/habeas-data/habeas/domain"
)

// Stack is every engine of the module, wired: what an Integration answers requests with, and what an application
// calls directly, outside of a request. All fields are required when an application wires it itself, best by package
// stack, which takes any session factory.
type Stack = stack.Stack

// newStack wires the engines on a database. wake is called when the outbox has new work.
func newStack(c Config, wake func()) (Stack, *bunstore.Store, error) {
	dataMap := c.DataMap
	if dataMap.IsZero() {
		var err error
		if dataMap, err = bunstore.ReadModels(c.DB, c.Models, c.CustomTypes); err != nil {
			return Stack{}, nil, err
		}
	}
	store, err := bunstore.New(c.DB, dataMap, bunstore.Options{
		Schema: c.Schema, Enqueued: wake, ShareStatements: c.ShareStatements,
		TrustRowFilters: c.TrustRowFilters, SynchronousCommit: c.SynchronousCommit, ReadDB: c.ReadDB, Logger: c.Logger,
	})
	if err != nil {
		return Stack{}, nil, err
	}
	engines, err := stack.New(stack.Config{
		Sessions: store, DataMap: dataMap, Purposes: c.Purposes,
		Resolvers: c.Resolvers, ResolverTimeout: c.ResolverTimeout, OnAbandoned: c.OnAbandoned, Saga: c.Saga,
		Clock: c.Clock, IDs: c.IDs,
	})
	return engines, store, err
}

func configurationError(message string) error {
	return &domain.Error{Code: domain.ErrConfiguration, Op: "app", Message: message}
}
