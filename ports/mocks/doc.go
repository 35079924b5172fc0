// Package mocks has a GoMock mock of every interface of package ports, for unit tests of code that uses a session, such
// as the services of habeas. The mocks are generated; see package ports.
//
// A mock does not follow the rules of its port. To test against a store that follows the rules, without a database, use
// package memory.
package mocks
