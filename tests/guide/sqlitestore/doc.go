// Package sqlitestore implements the storage ports of habeas on SQLite and plain database/sql. It is the worked example
// of docs/writing-an-adapter.md: a store that was written along that guide and passes porttest.TestStore.
//
// A reader begins at schema.sql, which is what the store keeps, goes on to do and session, which are a transaction, and
// then takes the stores one by one.
//
// # How it works
//
// A session takes a connection with its first statement. If that one reads, the transaction begins without a lock and has
// a snapshot; if it writes, with the one write lock of the database, so that writers come one after the other and nobody
// waits in order to read. A session that reads first and writes later loses when somebody has written in between: it is
// rolled back, and fn is called again, this time with the write lock from the beginning.
//
// # What it was tested with
//
// The driver modernc.org/sqlite 1.59, in one process and with one that is killed. What is waived: claims at the same time
// do wait for each other, because an SQLite database takes one writer at a time.
//
// # What the application's tables look like
//
// Booleans are 0 and 1, instants texts like 2024-02-29T12:00:00.000000Z, JSON is text, numbers are REAL. An export takes
// other forms, too; what a rectification and an erasure write is in these. The database is a file of its own: what is
// deleted is overwritten there, but may be in its write-ahead log until the next checkpoint.
package sqlitestore
