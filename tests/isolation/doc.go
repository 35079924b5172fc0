// Package isolation tests as properties that an operation on one subject affects no other subject. The tests generate
// an application with tables, foreign keys, a data map, and rows of several subjects. They erase or export one subject
// on a real database, and compare every cell with the records of the generator. The package contains only tests.
package isolation
