// Package ports declares the interfaces between the core of habeas and its environment. They cover a transaction with
// its stores, external systems, a clock and a source of ids. Adapters implement the interfaces. The services in the
// packages below domain call them.
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
//   - [Outbox]: the calls to external systems that are still due
//   - [AuditLog]: the append-only audit trail
//   - [Resolver]: one external system that holds personal data
//
// The doc comments in this package are the specification. An adapter is correct if it fulfils all of them. Package
// ports/porttest has a conformance suite for each interface.
//
// # Errors
//
// An adapter returns errors that errors.Is matches with the codes of package domain. Examples are
// domain.ErrUnavailable if the store cannot be reached, and domain.ErrSession if a session is misused. If a context
// ends a call, errors.Is matches the error with context.Canceled or context.DeadlineExceeded. The text of an error
// never contains an identifier, a value, SQL or a message of a driver.
package ports

//go:generate -command mockgen go tool -modfile=../tools/go.mod mockgen -write_package_comment=false -package=mocks
//go:generate mockgen -source=session.go -destination=mocks/session.go
//go:generate mockgen -source=stores.go -destination=mocks/stores.go
//go:generate mockgen -source=catalog.go -destination=mocks/catalog.go
//go:generate mockgen -source=journal.go -destination=mocks/journal.go
//go:generate mockgen -source=marks.go -destination=mocks/marks.go
//go:generate mockgen -source=find.go -destination=mocks/find.go
//go:generate mockgen -source=operations.go -destination=mocks/operations.go
//go:generate mockgen -source=retention.go -destination=mocks/retention.go
//go:generate mockgen -source=resolver.go -destination=mocks/resolver.go
//go:generate mockgen -source=system.go -destination=mocks/system.go
//go:generate mockgen -source=health.go -destination=mocks/health.go
//go:generate mockgen -source=observer.go -destination=mocks/observer.go
//go:generate mockgen -source=verification.go -destination=mocks/verification.go
