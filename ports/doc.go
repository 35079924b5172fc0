// Package ports declares what the core of habeas needs from the outside: one transaction with its stores, external
// systems, a clock and a source of ids. Adapters implement these interfaces; the services in domain/... call them.
//
// The comments here are the specification: an adapter is right when it keeps every promise in them.
//
// Errors: an adapter returns errors that satisfy errors.Is for the codes of package domain (domain.ErrUnavailable when
// the store cannot be reached, domain.ErrSession when a session is misused) and for context.Canceled and
// context.DeadlineExceeded. The text of an error never holds an identifier, a value, SQL or a driver's message.
package ports

//go:generate -command mockgen go tool -modfile=../tools/go.mod mockgen -write_package_comment=false -package=mocks
//go:generate mockgen -source=session.go -destination=mocks/session.go
//go:generate mockgen -source=stores.go -destination=mocks/stores.go
//go:generate mockgen -source=catalog.go -destination=mocks/catalog.go
//go:generate mockgen -source=journal.go -destination=mocks/journal.go
//go:generate mockgen -source=marks.go -destination=mocks/marks.go
//go:generate mockgen -source=operations.go -destination=mocks/operations.go
//go:generate mockgen -source=retention.go -destination=mocks/retention.go
//go:generate mockgen -source=resolver.go -destination=mocks/resolver.go
//go:generate mockgen -source=system.go -destination=mocks/system.go
//go:generate mockgen -source=health.go -destination=mocks/health.go
//go:generate mockgen -source=observer.go -destination=mocks/observer.go
