// Package engine has the engines and the routes without package app, which brings Fiber and the worker.
package engine

import (
	"context"
	"net/http"
	"strings"

	"github.com/uptrace/bun"

	"github.com/habeas-data/habeas/adapters/http/httpapi"
	"github.com/habeas-data/habeas/adapters/http/nethttp"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore"
	"github.com/habeas-data/habeas/adapters/persistence/manifest"
	"github.com/habeas-data/habeas/app/stack"
)

// Rights returns a handler for the routes below prefix. It first creates the tables of habeas.
func Rights(
	ctx context.Context, db *bun.DB, dataMap, prefix string, signedIn nethttp.SubjectProvider,
) (http.Handler, error) {
	tables, err := manifest.Read(strings.NewReader(dataMap))
	if err != nil {
		return nil, err
	}
	store, err := bunstore.New(db, tables, bunstore.Options{})
	if err != nil {
		return nil, err
	}
	engines, err := stack.New(stack.Config{Sessions: store, DataMap: tables}) // external systems are its Resolvers
	if err != nil {
		return nil, err
	}
	api, err := engines.API(httpapi.Config{})
	if err != nil {
		return nil, err
	}
	return nethttp.Handler(prefix, api, signedIn), bunstore.Migrate(ctx, db, bunstore.Options{})
}
