package saga_test

import (
	"context"
	"fmt"

	inmemory "github.com/habeas-data/habeas/adapters/persistence/memory"
	"github.com/habeas-data/habeas/app/stack"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/ports"
)

// Zoe was erased. The newsletter service still has to erase her. A worker calls RunOnce repeatedly.
func ExampleRunner_RunOnce() {
	engines := shop(stack.Config{Resolvers: []ports.Resolver{&newsletter{}}})
	eraseZoe(engines)
	for range 2 {
		settled, err := engines.Runner.RunOnce(context.Background())
		fmt.Println("settled:", settled, err)
	}
	// Output:
	// newsletter: subscriber s-7 is removed
	// settled: 1 <nil>
	// settled: 0 <nil>
}

// The service refuses the erasure, because the token has expired. A person is notified, renews the token and requeues
// the entry.
func ExampleRunner_Requeue() {
	ctx, service := context.Background(), &newsletter{expired: true}
	engines := shop(stack.Config{
		Resolvers: []ports.Resolver{service},
		OnAbandoned: func(_ context.Context, entry domain.OutboxEntry) {
			fmt.Println("abandoned:", entry.Resolver, *entry.LastError)
		},
	})
	eraseZoe(engines)
	_, err := engines.Runner.RunOnce(ctx)
	check(err)

	service.expired = false
	err = engines.Sessions.Do(ctx, func(ctx context.Context, s ports.Session) error {
		abandoned, err := s.OutboxAdmin().Abandoned(ctx, nil, 100)
		if err != nil {
			return err
		}
		for _, entry := range abandoned {
			if _, err := engines.Runner.Requeue(ctx, s, entry.EntryID); err != nil {
				return err
			}
		}
		return nil
	})
	check(err)
	_, err = engines.Runner.RunOnce(ctx)
	check(err)
	// Output:
	// abandoned: newsletter refused
	// newsletter: subscriber s-7 is removed
}

// newsletter is an external system that sends newsletters to subscribers.
type newsletter struct{ expired bool }

func (*newsletter) Name() string { return "newsletter" }

func (*newsletter) CoveredSurface() domain.CoveredSurface { return domain.CoveredSurface{} }

func (*newsletter) ExportSubject(context.Context, domain.SubjectRef) ([]domain.ExportRecord, error) {
	return nil, nil
}

func (n *newsletter) EraseSubject(_ context.Context, ref domain.SubjectRef, _ domain.ErasureCall) (alreadyAbsent bool,
	err error,
) {
	if n.expired {
		return false, &domain.ResolverError{Resolver: "newsletter", Message: "DELETE returned 401"}
	}
	fmt.Println("newsletter: subscriber", ref.Value, "is removed")
	return false, nil
}

// shop returns the engines on a store in memory. An application uses a database and package app instead.
func shop(config stack.Config) stack.Stack {
	var err error
	config.DataMap, err = datamap.NewDataMap(datamap.Table{
		Name: "users", PrimaryKey: []string{"id"}, SubjectKey: []string{"id"},
		Columns: []datamap.Column{{Name: "id", Type: datamap.TypeBigInt}},
	})
	check(err)
	config.Sessions, err = inmemory.New(config.DataMap, inmemory.Options{})
	check(err)
	engines, err := stack.New(config)
	check(err)
	return engines
}

// eraseZoe erases a user that the newsletter service also knows.
func eraseZoe(engines stack.Stack) {
	zoe, err := domain.NewSubject("42", domain.SubjectRef{Kind: "newsletter", Value: "s-7"})
	check(err)
	check(engines.Sessions.Do(context.Background(), func(ctx context.Context, s ports.Session) error {
		_, err := engines.Eraser.Erase(ctx, s, zoe)
		return err
	}))
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
