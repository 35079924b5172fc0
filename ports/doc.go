// Package ports declares the interfaces through which the core of habeas reaches its environment: the transactions and
// stores of a database, external systems, a clock and a source of ids. Adapters implement the interfaces. The services
// in the packages below the directory domain call them. The file docs/glossary.md explains the terms.
//
// A service gets its stores from a [Session], which a [SessionFactory] opens:
//
//	err := sessions.Do(ctx, func(ctx context.Context, s ports.Session) error {
//		return s.Consents().Append(ctx, record) // commits if the function returns nil
//	})
//
// The main interfaces are:
//
//   - [SessionFactory] and [Session]: a transaction and its stores
//   - [ConsentStore] and [RestrictionStore]: the append-only ledgers
//   - [SubjectStore]: the subject's rows in the tables of the application
//   - [ErasedStore]: the results of erasures, such as their marks and the retained cells
//   - [Outbox] and [OutboxAdmin]: the calls to external systems
//   - [AuditLog]: the append-only audit trail
//   - [Resolver]: one external system that holds personal data
//
// The doc comments in this package are the specification. An adapter is correct if it fulfils all of them. Package
// ports/porttest has the conformance suites of the interfaces.
//
// # Errors
//
// If an error code of package domain applies, errors.Is matches the error of an adapter with this code. For example,
// the code is domain.ErrUnavailable if the store cannot be reached, and domain.ErrSession if a session is misused. If a
// call fails because its context has ended, errors.Is matches the error with context.Canceled or
// context.DeadlineExceeded. The text of an error never contains an identifier, a value, SQL or a message of a driver.
package ports

//go:generate -command mockgen go tool -modfile=../.ci/tools/go.mod mockgen -write_package_comment=false -package=mocks
//go:generate mockgen -source=session.go -destination=mocks/session.go
//go:generate mockgen -source=stores.go -destination=mocks/stores.go
//go:generate mockgen -source=catalog.go -destination=mocks/catalog.go
//go:generate mockgen -source=journal.go -destination=mocks/journal.go
//go:generate mockgen -source=erased.go -destination=mocks/erased.go
//go:generate mockgen -source=duty.go -destination=mocks/duty.go
//go:generate mockgen -source=installation.go -destination=mocks/installation.go
//go:generate mockgen -source=find.go -destination=mocks/find.go
//go:generate mockgen -source=request.go -destination=mocks/request.go
//go:generate mockgen -source=outbox.go -destination=mocks/outbox.go
//go:generate mockgen -source=resolver.go -destination=mocks/resolver.go
//go:generate mockgen -source=system.go -destination=mocks/system.go
//go:generate mockgen -source=health.go -destination=mocks/health.go
//go:generate mockgen -source=observer.go -destination=mocks/observer.go
