package tenancy_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"testing"

	"github.com/habeas-data/habeas/adapters/persistence/memory"
	"github.com/habeas-data/habeas/app"
	"github.com/habeas-data/habeas/app/stack"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/ports"
	"github.com/habeas-data/habeas/ports/porttest"
	"github.com/habeas-data/habeas/tests/guide/internal/tenancy"
	"github.com/habeas-data/habeas/tests/internal/conformance"
)

// called is a session factory that notes the calls of its methods.
type called struct {
	session ports.Session
	calls   map[string]context.Context
}

func (c called) Do(ctx context.Context, fn func(context.Context, ports.Session) error) error {
	c.calls["Do"] = ctx
	return fn(ctx, c.session)
}

func (c called) Rehearse(ctx context.Context, fn func(context.Context, ports.Session) error) error {
	c.calls["Rehearse"] = ctx
	return fn(ctx, c.session)
}

func (c called) Probe(ctx context.Context) error {
	c.calls["Probe"] = ctx
	return domain.ErrUnavailable
}

// The test calls each method of ports.SessionFactory by reflection, so that it fails if the decorator does not pass on
// a method that the interface has got since.
func TestEveryMethodIsForwarded(t *testing.T) {
	inner := called{&passed{}, map[string]context.Context{}}
	decorated := reflect.ValueOf(tenancy.Factory{Sessions: inner, Tenant: acme})
	for i := range reflect.TypeFor[ports.SessionFactory]().NumMethod() {
		method := reflect.TypeFor[ports.SessionFactory]().Method(i)
		run := func(_ context.Context, s ports.Session) error {
			if s != inner.session {
				t.Errorf("%s hands on another session", method.Name)
			}
			return domain.ErrConflict
		}
		args, want, tenant := []reflect.Value{reflect.ValueOf(t.Context())}, domain.ErrUnavailable, ""
		if method.Type.NumIn() == 2 {
			args, want, tenant = append(args, reflect.ValueOf(run)), domain.ErrConflict, "acme"
		}
		err, _ := decorated.MethodByName(method.Name).Call(args)[0].Interface().(error)
		ctx := inner.calls[method.Name]
		if !errors.Is(err, want) || ctx == nil || tenancy.Of(ctx) != tenant {
			t.Errorf("%s returned %v, and its context is %v", method.Name, err, ctx)
		}
	}
}

type passed struct{ ports.Session }

func acme(context.Context) (string, error) { return "acme", nil }

func TestASessionWithoutATenantIsNotOpened(t *testing.T) {
	inner := called{&passed{}, map[string]context.Context{}}
	factory := tenancy.Factory{Sessions: inner, Tenant: func(context.Context) (string, error) { return "", errNobody }}
	run := func(context.Context, ports.Session) error { return nil }
	if err := errors.Join(factory.Do(t.Context(), run), factory.Rehearse(t.Context(), run)); !errors.Is(err, errNobody) {
		t.Errorf("got %v", err)
	}
	if len(inner.calls) > 0 {
		t.Errorf("called %v", inner.calls)
	}
}

var errNobody = errors.New("nobody is signed in")

// A decorated store keeps every promise of a store.
func TestConformance(t *testing.T) {
	for _, kind := range conformance.Kinds() {
		if kind.Name != "memory" {
			continue
		}
		harness := kind.Harness(t)
		open := harness.Open
		harness.Open = func(t testing.TB) porttest.Store {
			t.Helper()
			store := open(t)
			observed := store.Observed
			store.Sessions = tenancy.Factory{Sessions: store.Sessions, Tenant: acme}
			store.Observed = func(t testing.TB, observer ports.Observer) ports.SessionFactory {
				t.Helper()
				return tenancy.Factory{Sessions: observed(t, observer), Tenant: acme}
			}
			return store
		}
		porttest.TestStore(t, harness)
		return
	}
	t.Error("there is no store in memory")
}

// The routers of the application open their sessions as the tenant of the request.
func Example() {
	dataMap, err := datamap.NewDataMap(datamap.Table{
		Name: "users", PrimaryKey: []string{"id"}, SubjectKey: []string{"id"},
		Columns: []datamap.Column{{Name: "id", Type: datamap.TypeBigInt}},
	})
	check(err)
	store, err := memory.New(dataMap, memory.Options{})
	check(err)
	services, err := stack.New(stack.Config{Sessions: store, DataMap: dataMap})
	check(err)
	gdpr, err := app.New(app.Config{Stack: &services})
	check(err)
	gdpr.Sessions().Override(tenancy.Factory{Sessions: services.Sessions, Tenant: signedIn})

	request := context.WithValue(context.Background(), login{}, "acme") // by the middleware of the application
	check(gdpr.Sessions().Do(request, func(ctx context.Context, s ports.Session) error {
		fmt.Println("a session of", tenancy.Of(ctx))
		return nil
	}))
	err = gdpr.Sessions().Do(context.Background(), func(context.Context, ports.Session) error { return nil })
	fmt.Println(err)
	// Output:
	// a session of acme
	// nobody is signed in
}

type login struct{}

func signedIn(ctx context.Context) (string, error) {
	if name, ok := ctx.Value(login{}).(string); ok {
		return name, nil
	}
	return "", errNobody
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
