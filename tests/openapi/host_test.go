package openapi_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/gofiber/fiber/v2"

	"github.com/habeas-data/habeas/adapters/http/httpapi"
	"github.com/habeas-data/habeas/adapters/persistence/memory"
	"github.com/habeas-data/habeas/app/stack"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/internal/tests/fixture"
	"github.com/habeas-data/habeas/ports"
)

const decision = `{"granted":true,"policy_version":"v1","purpose":"newsletter"}`

var errBroken = errors.New("secret")

// sessions is a session factory. Its method Do first calls onDo. If onDo returns an error, Do returns the error.
type sessions struct {
	ports.SessionFactory
	onDo func(ctx context.Context) error
}

func (s *sessions) Do(ctx context.Context, fn func(context.Context, ports.Session) error) error {
	if s.onDo != nil {
		if err := s.onDo(ctx); err != nil {
			return err
		}
	}
	return s.SessionFactory.Do(ctx, fn)
}

// newAPI returns an API on a store in memory. The store has one row, whose columns have different types.
func newAPI(t *testing.T, s *sessions) *httpapi.API {
	t.Helper()
	personal := func(name string, columnType datamap.ColumnType) datamap.Column {
		return datamap.Column{Name: name, Type: columnType, Personal: &datamap.Annotation{
			Category: domain.CategoryContact, Strategy: domain.StrategyAnonymize, Basis: domain.BasisContract,
		}}
	}
	dataMap, err := datamap.NewDataMap(datamap.Table{
		Name: "users", PrimaryKey: []string{"id"}, SubjectKey: []string{"id"},
		Columns: []datamap.Column{
			{Name: "id", Type: datamap.TypeText},
			personal("email", datamap.TypeText), personal("price", datamap.TypeNumber),
			personal("prefs", datamap.TypeJSON), personal("flag", datamap.TypeBoolean), personal("raw", datamap.TypeBytes),
			personal("nothing", datamap.TypeText),
		},
	})
	require(t, err)
	store, err := memory.New(dataMap, memory.Options{})
	require(t, err)
	require(t, store.Insert("users", memory.Row{
		"id": "42", "email": "ada@example.com", "price": 19.9, "prefs": domain.JSON(`{"a":[1]}`),
		"flag": true, "raw": []byte{1}, "nothing": nil,
	}))
	s.SessionFactory = store
	engines, err := stack.New(stack.Config{Sessions: s, DataMap: dataMap})
	require(t, err)
	api, err := engines.API(httpapi.Config{Logger: slog.New(slog.DiscardHandler)})
	require(t, err)
	return api
}

type received struct {
	*http.Response
	body string
}

func send(t *testing.T, host *fiber.App, request *http.Request) received {
	t.Helper()
	response, err := host.Test(request, -1)
	require(t, err)
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	require(t, err)
	return received{response, string(body)}
}

func newRequest(method, target, body string) *http.Request {
	return httptest.NewRequest(method, target, strings.NewReader(body))
}

var require = fixture.Must
