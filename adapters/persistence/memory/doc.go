// Package memory implements the storage ports of habeas without a database. It is meant for examples and fast tests. It
// is also the simplest implementation of the rules that package ports requires of a store. The store holds the tables
// of the application, too: Store.Insert adds rows to these tables, and Store.Rows returns them. Store.Erased and
// Store.Entries return data that no port returns.
//
// To read the code, begin with the type state, which holds all data of a store. Continue with the type session, which
// is a transaction. Then read the implementations of the ports, each in a separate file.
//
// # How it works
//
// A committed state never changes (copy on write). A session reads the newest committed state. Its first write takes
// the store's only write lock and copies the newest state. The copy shares all data that the session does not change. A
// commit makes the copy the newest state, and a rollback drops the copy. Writers are therefore serialized, and readers
// never wait. A session never conflicts with another session, so the function that is passed to Store.Do is called only
// once.
//
// # Limits
//
// The store is not durable: its data is lost when the process ends. A real application must not use this store for its
// proof of consent and erasure. The audit trail offers no operation that changes its events, but other code in the same
// process could change the memory. There are no indexes, so each call scans all data.
//
// A session that writes waits until the write lock is free or the context of the session ends. Suppose that one
// goroutine opens a session inside another session, and both sessions write. If the inner session uses an unrelated
// context, it waits until that context ends. If the inner session uses the context of the outer session, Store.Do
// immediately returns domain.ErrSession.
package memory
