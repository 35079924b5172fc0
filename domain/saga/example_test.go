package saga_test

import (
	"context"
	"fmt"

	inmemory "github.com/habeas-data/habeas/adapters/persistence/memory"
	"github.com/habeas-data/habeas/adapters/system"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/erasure"
	"github.com/habeas-data/habeas/domain/resolvers"
	"github.com/habeas-data/habeas/domain/saga"
	"github.com/habeas-data/habeas/ports"
)

// Zoe was erased a moment ago, and the newsletter service is still to be told. A worker calls RunOnce again and again.
func ExampleRunner_RunOnce() {
	service := &newsletter{}
	set, err := resolvers.NewSet(service)
	check(err)
	runner, err := saga.NewRunner(saga.Config{ // as package stack makes it
		Sessions: eraseZoe(set), Clock: system.Clock{}, IDs: &system.IDs{}, Resolvers: set,
	})
	check(err)
	for range 2 {
		settled, err := runner.RunOnce(context.Background())
		fmt.Println("settled:", settled, err)
	}
	// Output:
	// newsletter: subscriber s-7 is removed
	// settled: 1 <nil>
	// settled: 0 <nil>
}

// The service refuses, for the token has expired: a person is told, renews it, and has the erasure tried again.
func ExampleRunner_Requeue() {
	ctx, service := context.Background(), &newsletter{expired: true}
	set, err := resolvers.NewSet(service)
	check(err)
	store := eraseZoe(set)
	runner, err := saga.NewRunner(saga.Config{
		Sessions: store, Clock: system.Clock{}, IDs: &system.IDs{}, Resolvers: set,
		OnAbandoned: func(_ context.Context, entry domain.OutboxEntry) {
			fmt.Println("abandoned:", entry.Resolver, *entry.LastError)
		},
	})
	check(err)
	_, err = runner.RunOnce(ctx)
	check(err)

	service.expired = false
	err = store.Do(ctx, func(ctx context.Context, s ports.Session) error {
		abandoned, err := s.Outbox().Abandoned(ctx, nil, 100)
		if err != nil {
			return err
		}
		for _, entry := range abandoned {
			if _, err := runner.Requeue(ctx, s, entry.EntryID); err != nil {
				return err
			}
		}
		return nil
	})
	check(err)
	_, err = runner.RunOnce(ctx)
	check(err)
	// Output:
	// abandoned: newsletter refused
	// newsletter: subscriber s-7 is removed
}

// newsletter is a service that sends newsletters to subscribers.
type newsletter struct{ expired bool }

func (*newsletter) Name() string { return "newsletter" }

func (*newsletter) CoveredSurface() domain.CoveredSurface { return domain.CoveredSurface{} }

func (*newsletter) ExportSubject(context.Context, domain.SubjectRef) ([]domain.ExportRecord, error) {
	return nil, nil
}

func (n *newsletter) EraseSubject(_ context.Context, ref domain.SubjectRef, _ string) (alreadyAbsent bool, err error) {
	if n.expired {
		return false, &domain.ResolverError{Resolver: "newsletter", Message: "DELETE was answered 401"}
	}
	fmt.Println("newsletter: subscriber", ref.Value, "is removed")
	return false, nil
}

// eraseZoe erases a user, and returns the store, in whose outbox the newsletter service is now waited for.
func eraseZoe(set *resolvers.Set) *inmemory.Store {
	dataMap, err := domain.NewDataMap(domain.Table{
		Name: "users", PrimaryKey: []string{"id"}, SubjectKey: []string{"id"},
		Columns: []domain.Column{{Name: "id", Type: domain.TypeBigInt}},
	})
	check(err)
	store, err := inmemory.New(dataMap, inmemory.Options{})
	check(err)
	eraser, err := erasure.NewEraser(erasure.Config{
		Clock: system.Clock{}, IDs: &system.IDs{}, DataMap: dataMap, Resolvers: set,
	})
	check(err)
	zoe, err := domain.NewSubject("42", domain.SubjectRef{Kind: "newsletter", Value: "s-7"})
	check(err)
	check(store.Do(context.Background(), func(ctx context.Context, s ports.Session) error {
		_, err := eraser.Erase(ctx, s, zoe)
		return err
	}))
	return store
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
