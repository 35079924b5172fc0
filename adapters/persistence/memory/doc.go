// Package memory implements the storage ports of habeas without a database. It serves examples and fast tests, and it
// is the simplest implementation of the requirements of package ports. It keeps every promise of the ports, and also
// holds the tables of the application. Store.Insert adds rows to these tables, and Store.Rows returns them.
// Store.Erased and Store.Entries return data that no port shows.
//
// To read the code, begin with state, which holds all data of a store. Continue with session, which is a transaction.
// Then read the ports one by one, each in a separate file.
//
// # How it works
//
// A committed state never changes (copy on write). A session reads the newest committed state. Its first write takes
// the store's only write lock and copies the newest state. The copy shares all data that the session does not change. A
// commit makes the copy the newest state, and a rollback drops it. Writers are therefore serialized, readers never
// wait, and there is nothing to retry: fn runs once.
//
// # Limits
//
// The store is not durable: its data ends with the process. A real application must not keep its proof of consent and
// erasure here. The audit trail offers no operation that changes it, but is not protected from code of the same
// process. There are no indexes: each call scans all data.
//
// A session that writes waits until the write lock is free or its context ends. If one goroutine opens a session inside
// another session with an unrelated context, and both write, the inner session waits until its context ends. With the
// context that fn received, opening the inner session returns domain.ErrSession immediately.
package memory
