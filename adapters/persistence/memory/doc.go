// Package memory implements the storage ports of habeas without a database: for examples, for fast tests, and as the
// plainest text of what package ports asks of a store. It keeps every promise of the ports, and the application's own
// tables as well, which Store.Insert fills and Store.Rows shows. Store.Erased and Store.Entries show what no port does.
//
// A reader begins at state, which is everything that a store holds, goes on to session, which is a transaction, and
// then takes the stores one by one, a file each.
//
// # How it works
//
// What is committed is a state that never changes any more. A session reads the newest one. Its first write takes the
// store's only write lock and a copy of the newest state, which shares everything with it that is not written; the
// commit puts that copy in its place, and a rollback forgets it. So writers come one after the other, nobody waits in
// order to read, and there is nothing to retry: fn runs once.
//
// # What it is not
//
// It is not durable: what it holds ends with the process, so a real application's proof of consent and erasure does not
// belong here. The audit trail has no way to be changed, but cannot be protected from code of the same process. Nothing
// is indexed: each call looks at all there is.
//
// A session that writes waits for the one that holds the write lock, for as long as its context allows. Two sessions
// that one goroutine opens inside each other, each with a context of its own, would therefore wait for that long; with
// the context that fn was given, the inner one is domain.ErrSession at once.
package memory
