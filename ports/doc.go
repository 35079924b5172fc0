// Package ports declares what the core of habeas needs from the outside: one transaction with its stores, external
// systems, a clock and a source of ids. Adapters implement these interfaces; the services in domain/... call them.
//
// The comments here are the specification: an adapter is right when it keeps every promise in them.
//
// Errors: an adapter returns errors that satisfy errors.Is for the codes of package domain (domain.ErrUnavailable when
// the store cannot be reached, domain.ErrSession when a session is misused) and for context.Canceled and
// context.DeadlineExceeded. The text of an error never holds an identifier, a value, SQL or a driver's message.
package ports

//go:generate go tool -modfile=../tools/go.mod mockgen -write_package_comment=false -source=session.go -destination=mocks/session.go -package=mocks
//go:generate go tool -modfile=../tools/go.mod mockgen -write_package_comment=false -source=stores.go -destination=mocks/stores.go -package=mocks
//go:generate go tool -modfile=../tools/go.mod mockgen -write_package_comment=false -source=operations.go -destination=mocks/operations.go -package=mocks
//go:generate go tool -modfile=../tools/go.mod mockgen -write_package_comment=false -source=resolver.go -destination=mocks/resolver.go -package=mocks
//go:generate go tool -modfile=../tools/go.mod mockgen -write_package_comment=false -source=system.go -destination=mocks/system.go -package=mocks
