// Package mocks has a GoMock mock of every interface of package ports, for unit tests of what takes a session: the
// services of habeas, and an application's own. They are generated; see package ports.
//
// A mock knows nothing of what its port promises. To test against a store that keeps those promises, and without a
// database, take package memory.
package mocks
