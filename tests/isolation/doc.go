// Package isolation tests that an operation on one subject affects no other subject. The tests are property-based: they
// generate an application with tables, foreign keys, a data map, and rows of several subjects. They erase or export one
// subject on a real database. They then compare every cell with the expectation of the generator. The package contains
// only tests.
package isolation
